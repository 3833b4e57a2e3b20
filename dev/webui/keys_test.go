package webui

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"math/big"
	"net"
	"testing"
	"time"

	"github.com/armature-io/armature/dev/internal/harness"
	"github.com/armature-io/armature/internal/payload"
)

// converters returns those of a client that has the key of the company.
func converters(t *testing.T) *payload.Converters {
	t.Helper()
	c, err := payload.New(payload.Options{WriteKey: "one", Keys: []payload.Key{{ID: "one", Secret: bytes.Repeat([]byte{1}, payload.KeySize)}}})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// certificate is one of a server on loopback.
type certificate struct {
	// file and key are paths.
	file, key string
	// pin is the SHA-256 of the public key in base64, by which a browser trusts it.
	pin string
}

func newCertificate(t *testing.T, w *harness.World) certificate {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(24 * time.Hour), ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, private.Public(), private)
	if err != nil {
		t.Fatal(err)
	}
	key, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	public, err := x509.MarshalPKIXPublicKey(private.Public())
	if err != nil {
		t.Fatal(err)
	}
	digest := sha256.Sum256(public)
	return certificate{
		file: w.Write("codec.pem", string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}))),
		key:  w.Write("codec.key", string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: key}))),
		pin:  base64.StdEncoding.EncodeToString(digest[:]),
	}
}
