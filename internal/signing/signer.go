package signing

import (
	"crypto/ed25519"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/hex"
	"encoding/pem"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/armature-io/armature/resource"
)

// Signer signs specs, deletions and unfreezes for one namespace. A nil Signer signs nothing.
type Signer struct {
	key       ed25519.PrivateKey
	namespace string
	now       func() time.Time
}

// ParsePrivateKey reads an Ed25519 key in PEM, as `openssl genpkey -algorithm ed25519`
// writes it.
func ParsePrivateKey(text []byte) (ed25519.PrivateKey, error) {
	block, _ := pem.Decode(text)
	if block == nil {
		return nil, errors.New("it is not in PEM; create a key with: openssl genpkey -algorithm ed25519")
	}
	parsed, err := x509.ParsePKCS8PrivateKey(block.Bytes)
	if err != nil {
		return nil, errors.New("it is no private key in PKCS#8; create one with: openssl genpkey -algorithm ed25519")
	}
	key, ok := parsed.(ed25519.PrivateKey)
	if !ok {
		return nil, errors.New("it is no Ed25519 key; create one with: openssl genpkey -algorithm ed25519")
	}
	return key, nil
}

// ParsePublicKey reads an Ed25519 key in base64: the line between BEGIN and END of
// `openssl pkey -pubout`, or its last 32 bytes alone.
func ParsePublicKey(text string) (ed25519.PublicKey, error) {
	content, err := base64.StdEncoding.DecodeString(strings.TrimSpace(text))
	if err != nil {
		return nil, fmt.Errorf("%q is no base64", text)
	}
	if len(content) == ed25519.PublicKeySize {
		return content, nil
	}
	parsed, err := x509.ParsePKIXPublicKey(content)
	key, ok := parsed.(ed25519.PublicKey)
	if err != nil || !ok {
		return nil, fmt.Errorf("%q is no Ed25519 public key; write the line that `openssl pkey -in KEY -pubout` prints between BEGIN and END", text)
	}
	return key, nil
}

// KeyID returns the name of a key in signatures and messages: the first 8 bytes of its
// SHA-256, in hex.
func KeyID(key ed25519.PublicKey) string {
	sum := sha256.Sum256(key)
	return hex.EncodeToString(sum[:8])
}

// NewSigner returns a signer for the resources of a Temporal namespace.
func NewSigner(key ed25519.PrivateKey, namespace string, now func() time.Time) *Signer {
	return &Signer{key: key, namespace: namespace, now: now}
}

// KeyID returns the ID of the signer's public key.
func (s *Signer) KeyID() string { return KeyID(s.key.Public().(ed25519.PublicKey)) } //nolint:forcetypeassert // the type of crypto/ed25519

// Spec returns a signed copy of a spec.
func (s *Signer) Spec(desired resource.Desired) (resource.Desired, error) {
	if s == nil {
		return desired, nil
	}
	at := s.now().UTC()
	text, err := specMessage(s.namespace, at, desired)
	if err != nil {
		return desired, err
	}
	desired.Signature = s.sign(at, text)
	return desired, nil
}

// Order returns a signed copy of a deletion, nil of a nil Signer.
func (s *Signer) Order(order resource.DeletionOrder) (*resource.DeletionOrder, error) {
	if s == nil {
		return nil, nil //nolint:nilnil // a request that is not signed has no order
	}
	at := s.now().UTC()
	text, err := orderMessage(s.namespace, at, order)
	if err != nil {
		return nil, err
	}
	order.Signature = s.sign(at, text)
	return &order, nil
}

// Unfreeze returns the signature of the request to lift the freeze with a selector that was
// set at a time, nil of a nil Signer.
func (s *Signer) Unfreeze(selector string, since time.Time) (*resource.Signature, error) {
	if s == nil {
		return nil, nil //nolint:nilnil // a request that is not signed has no signature
	}
	at := s.now().UTC()
	text, err := liftMessage(s.namespace, at, selector, since)
	if err != nil {
		return nil, err
	}
	return s.sign(at, text), nil
}

func (s *Signer) sign(at time.Time, text []byte) *resource.Signature {
	return &resource.Signature{Key: s.KeyID(), At: at, Value: ed25519.Sign(s.key, text)}
}
