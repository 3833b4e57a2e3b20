package arm

import (
	"bufio"
	"context"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
)

// listening is the line in which Azurite prints its address.
var listening = regexp.MustCompile(`successfully listens on (https://\S+)`)

// unsignedToken issues a token for storage, of which Azurite checks everything but the
// signature.
type unsignedToken struct{}

func (unsignedToken) GetToken(context.Context, policy.TokenRequestOptions) (azcore.AccessToken, error) {
	now := time.Now()
	encode := base64.RawURLEncoding.EncodeToString
	claims := fmt.Sprintf(`{"aud":"https://storage.azure.com","iss":"https://sts.windows.net/11111111-1111-1111-1111-111111111111/","iat":%d,"nbf":%[1]d,"exp":%d,"ver":"1.0"}`,
		now.Add(-time.Minute).Unix(), now.Add(time.Hour).Unix())
	return azcore.AccessToken{
		Token:     encode([]byte(`{"alg":"RS256","typ":"JWT"}`)) + "." + encode([]byte(claims)) + "." + encode([]byte("none")),
		ExpiresOn: now.Add(time.Hour),
	}, nil
}

// TestAzurite checks tokens and conditions against Azure's storage emulator.
func TestAzurite(t *testing.T) {
	t.Parallel()
	program := os.Getenv("AZURITE")
	if program == "" {
		t.Skip("AZURITE names no azurite-blob: make test-azurite installs and runs it")
	}
	endpoint, client := startAzurite(t, program)
	container := endpoint + "/devstoreaccount1/fence"
	token, err := unsignedToken{}.GetToken(t.Context(), policy.TokenRequestOptions{})
	if err != nil {
		t.Fatal(err)
	}
	create, err := http.NewRequestWithContext(t.Context(), http.MethodPut, container+"?restype=container", http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	create.Header.Set("Authorization", "Bearer "+token.Token)
	create.Header.Set("X-Ms-Version", storageVersion)
	response, err := client.Do(create)
	if err != nil {
		t.Fatal(err)
	}
	if _ = response.Body.Close(); response.StatusCode != http.StatusCreated {
		t.Fatalf("the container is not created: %s", response.Status)
	}
	blobs, err := NewBlobs(BlobOptions{Container: container, Credential: unsignedToken{}, Transport: client})
	if err != nil {
		t.Fatal(err)
	}
	checkConditions(t, blobs)
	missing, err := NewBlobs(BlobOptions{Container: endpoint + "/devstoreaccount1/missing", Credential: unsignedToken{}, Transport: client})
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := missing.Read(t.Context(), "s/a.json"); err == nil || !strings.Contains(err.Error(), "ContainerNotFound") {
		t.Errorf("a missing container looks like a missing document: %v", err)
	}
}

// startAzurite runs the emulator until the end of the test, and returns its address and a
// client that trusts its certificate.
func startAzurite(t *testing.T, program string) (string, *http.Client) {
	t.Helper()
	server := httptest.NewTLSServer(http.NotFoundHandler()) // for its certificate and client
	t.Cleanup(server.Close)
	folder := t.TempDir()
	certificate, key := filepath.Join(folder, "certificate.pem"), filepath.Join(folder, "key.pem")
	writePEM(t, certificate, "CERTIFICATE", server.TLS.Certificates[0].Certificate[0])
	encoded, err := x509.MarshalPKCS8PrivateKey(server.TLS.Certificates[0].PrivateKey)
	if err != nil {
		t.Fatal(err)
	}
	writePEM(t, key, "PRIVATE KEY", encoded)
	command := exec.CommandContext(t.Context(), program, "--inMemoryPersistence", "--disableTelemetry", "--blobHost", "127.0.0.1", "--blobPort", "0",
		"--oauth", "basic", "--cert", certificate, "--key", key)
	command.Dir = folder
	output, err := command.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = command.Wait() }) // it is killed at the end of the test's context
	lines := bufio.NewScanner(output)
	for lines.Scan() {
		if found := listening.FindStringSubmatch(lines.Text()); found != nil {
			go func() { _, _ = io.Copy(io.Discard, output) }()
			return found[1], server.Client()
		}
	}
	t.Fatalf("Azurite ends before it listens: %v", lines.Err())
	return "", nil
}

func writePEM(t *testing.T, path, kind string, der []byte) {
	t.Helper()
	if err := os.WriteFile(path, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}), 0o600); err != nil {
		t.Fatal(err)
	}
}
