package service_test

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"io"
	"math/big"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/armature-io/armature/internal/testonly/issuer"
	"github.com/armature-io/armature/service"
)

// TestCodecTLS checks the codec server with a certificate, and that it uses a renewed one.
func TestCodecTLS(t *testing.T) {
	honest := issuer.Start(t)
	folder := t.TempDir()
	certificate, key := folder+"/tls.pem", folder+"/key.pem"
	writeCertificate(t, certificate, key, "first")
	address, _ := startCodec(t, "--oidc-issuer", honest.URL, "--oidc-audience", codecAudience, "--tls-cert", certificate, "--tls-key", key)
	name := ""
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true, TLSClientConfig: &tls.Config{
		MinVersion: tls.VersionTLS12, InsecureSkipVerify: true, //nolint:gosec // the certificate of this test
		VerifyConnection: func(state tls.ConnectionState) error { name = state.PeerCertificates[0].Subject.CommonName; return nil },
	}}}
	for _, want := range []string{"first", "renewed"} {
		writeCertificate(t, certificate, key, want)
		response, text := post(t, client, http.MethodPost, "https://"+address+"/decode", webUI(honest.Token(codecAudience, "ann", nil), ""))
		if response.StatusCode != http.StatusOK || !strings.Contains(text, codecSecret) || name != want {
			t.Errorf("got %s from %q, want the certificate %s", response.Status, name, want)
		}
		var stderr bytes.Buffer
		if code := service.Main(t.Context(), []string{"codec", "--probe", "--listen", address, "--tls-cert", certificate, "--tls-key", key}, service.Options{Stderr: &stderr}); code != service.ExitStopped {
			t.Errorf("probe: %d %s", code, &stderr)
		}
	}
	writeCertificate(t, folder+"/other.pem", folder+"/other.key", "other")
	if code := service.Main(t.Context(), []string{"codec", "--probe", "--listen", address, "--tls-cert", folder + "/other.pem"}, service.Options{Stderr: io.Discard}); code != service.ExitFailed {
		t.Errorf("a probe that expects another certificate returned %d", code)
	}
}

// writeCertificate writes a self-signed certificate and its key.
func writeCertificate(t *testing.T, certificate, key, name string) {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(time.Now().UnixNano()), Subject: pkix.Name{CommonName: name}, DNSNames: []string{"codec.example.com"},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour), ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &private.PublicKey, private)
	if err != nil {
		t.Fatal(err)
	}
	privateDER, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	writeFile(t, certificate, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}))
	writeFile(t, key, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: privateDER}))
}

func writeFile(t *testing.T, path string, data []byte) {
	t.Helper()
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
}
