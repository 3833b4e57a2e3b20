package payload

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"
)

// KeySize is the size of a key in bytes (AES-256).
const KeySize = 32

// keyIDPattern bounds the IDs of keys: each payload has one.
var keyIDPattern = regexp.MustCompile(`^[A-Za-z0-9._-]{1,64}$`)

// Key is a key with the ID that payloads name it by.
type Key struct {
	// ID never changes its meaning: another key needs another ID.
	ID string
	// Secret has KeySize random bytes.
	Secret []byte
}

// String returns the ID, so that no log shows the secret.
func (k Key) String() string { return k.ID }

// GoString returns the form for %#v, which hides the secret too.
func (k Key) GoString() string { return "payload.Key(" + k.ID + ")" }

// CheckKeyID returns an error for an ID that no key may have.
func CheckKeyID(id string) error {
	if !keyIDPattern.MatchString(id) {
		return fmt.Errorf("invalid key ID %q: use 1 to 64 letters, digits and the characters . _ -", id)
	}
	return nil
}

// sealer encrypts and decrypts with one key.
type sealer struct {
	id   string
	aead cipher.AEAD
	// check identifies the key without disclosing it.
	check string
}

// keyring has the keys for reading by ID, and the one for writing, nil for none.
type keyring struct {
	read  map[string]*sealer
	write *sealer
}

func newKeyring(keys []Key, writeKey string) (keyring, error) {
	ring := keyring{read: map[string]*sealer{}}
	var problems []error
	for _, key := range keys {
		s, err := newSealer(key)
		switch {
		case err != nil:
			problems = append(problems, err)
		case ring.read[key.ID] != nil:
			problems = append(problems, fmt.Errorf("two keys have the ID %s; give each an ID of its own", key.ID))
		default:
			ring.read[key.ID] = s
		}
	}
	if err := errors.Join(problems...); err != nil {
		return keyring{}, err
	}
	if ring.write = ring.read[writeKey]; writeKey != "" && ring.write == nil {
		return keyring{}, fmt.Errorf("the key for writing, %s, is not one of the keys (%s); add it, or choose one of them", writeKey, ring.ids())
	}
	return ring, nil
}

// newSealer derives the key of the cipher and the check value from the secret, so that
// neither shows anything about the other.
func newSealer(key Key) (*sealer, error) {
	if err := CheckKeyID(key.ID); err != nil {
		return nil, err
	}
	if len(key.Secret) != KeySize {
		return nil, fmt.Errorf("the key %s has %d bytes, and AES-256 needs %d; generate one with openssl rand -hex 32", key.ID, len(key.Secret), KeySize)
	}
	derived, err := hkdf.Key(sha256.New, key.Secret, nil, "armature payload encryption", KeySize)
	if err != nil {
		return nil, fmt.Errorf("derive the key %s: %w", key.ID, err)
	}
	block, err := aes.NewCipher(derived)
	if err != nil {
		return nil, fmt.Errorf("prepare the key %s: %w", key.ID, err)
	}
	aead, err := cipher.NewGCMWithRandomNonce(block)
	if err != nil {
		return nil, fmt.Errorf("prepare the key %s: %w", key.ID, err)
	}
	mac := hmac.New(sha256.New, key.Secret)
	mac.Write([]byte("armature key check\x00" + key.ID))
	return &sealer{id: key.ID, aead: aead, check: hex.EncodeToString(mac.Sum(nil)[:checkSize])}, nil
}

// checkSize is the size of a check value in bytes: enough that two keys differ, and far
// too little to find a random key of 32 bytes.
const checkSize = 8

// ids returns the IDs of all keys, sorted, "none" without any.
func (r keyring) ids() string {
	if len(r.read) == 0 {
		return "none"
	}
	return strings.Join(slices.Sorted(maps.Keys(r.read)), ", ")
}

// Status describes keys without disclosing them.
type Status struct {
	// Keys are the check values of the keys for reading, by ID.
	Keys map[string]string `json:"keys,omitempty"`
	// WriteKey is the ID of the key for writing, "" where nothing is encrypted.
	WriteKey string `json:"writeKey,omitempty"`
	// Require is the time from which on runs have no clear payloads, the zero time for never.
	Require time.Time `json:"require,omitzero"`
}

// Status returns the keys of the converters.
func (c *Converters) Status() Status {
	status := Status{Keys: map[string]string{}, Require: c.require}
	for id, s := range c.keys.read {
		status.Keys[id] = s.check
	}
	if c.keys.write != nil {
		status.WriteKey = c.keys.write.id
	}
	return status
}

// Encrypts reports whether what is written is encrypted.
func (c *Converters) Encrypts() bool { return c.keys.write != nil }
