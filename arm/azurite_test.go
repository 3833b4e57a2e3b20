package arm

import (
	"bufio"
	"context"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"errors"
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
	endpoint, client := startAzurite(t, program, "blob")
	container := endpoint + "/devstoreaccount1/fence"
	send(t, client, http.MethodPut, container+"?restype=container", "")
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

// TestAzuriteQueue receives and deletes messages of Azure's storage emulator, and meets its errors.
func TestAzuriteQueue(t *testing.T) {
	t.Parallel()
	program := os.Getenv("AZURITE")
	if program == "" {
		t.Skip("AZURITE names no azurite-blob: make test-azurite installs and runs it")
	}
	endpoint, client := startAzurite(t, strings.TrimSuffix(program, "blob")+"queue", "queue")
	address := endpoint + "/devstoreaccount1/changes"
	open := func(address string) *Queue {
		queue, err := NewQueue(QueueOptions{URL: address, Credential: unsignedToken{}, Transport: client})
		if err != nil {
			t.Fatal(err)
		}
		return queue
	}
	queue := open(address)
	_, err := queue.Receive(t.Context())
	if failure, ok := errors.AsType[*Error](err); !ok || failure.Status != http.StatusNotFound || failure.Code != "QueueNotFound" {
		t.Errorf("a missing queue: %v, want QueueNotFound", err)
	}
	send(t, client, http.MethodPut, address, "")
	for i := range MaxMessages + 1 {
		send(t, client, http.MethodPost, address+"/messages", fmt.Sprintf("<QueueMessage><MessageText>text %d</MessageText></QueueMessage>", i))
	}
	first, err := queue.Receive(t.Context())
	if err != nil || len(first) != MaxMessages || first[0].Text != "text 0" {
		t.Fatalf("%d messages, error %v, want %d", len(first), err, MaxMessages)
	}
	second, err := queue.Receive(t.Context())
	if err != nil || len(second) != 1 || second[0].Text != fmt.Sprintf("text %d", MaxMessages) {
		t.Errorf("messages %+v, error %v, want the one that is not hidden", second, err)
	}
	for range 2 { // the second time it is gone
		if err := queue.Delete(t.Context(), first[0]); err != nil {
			t.Errorf("delete a message: %v", err)
		}
	}
	stolen := first[1]
	stolen.Receipt = first[2].Receipt
	if err := queue.Delete(t.Context(), stolen); err != nil {
		t.Errorf("delete a message that another reader has: %v", err)
	}
	if rest, err := queue.Receive(t.Context()); err != nil || len(rest) != 0 {
		t.Errorf("messages %+v, error %v, want none: all are hidden or deleted", rest, err)
	}
}

// send sends a request as the owner of the account, and expects 201.
func send(t *testing.T, client *http.Client, method, address, body string) {
	t.Helper()
	token, err := unsignedToken{}.GetToken(t.Context(), policy.TokenRequestOptions{})
	if err != nil {
		t.Fatal(err)
	}
	request, err := http.NewRequestWithContext(t.Context(), method, address, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Authorization", "Bearer "+token.Token)
	request.Header.Set("X-Ms-Version", storageVersion)
	response, err := client.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	if _ = response.Body.Close(); response.StatusCode != http.StatusCreated {
		t.Fatalf("%s %s: %s", method, address, response.Status)
	}
}

// startAzurite runs a service of the emulator until the end of the test, and returns its address
// and a client that trusts its certificate.
func startAzurite(t *testing.T, program, service string) (string, *http.Client) {
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
	command := exec.CommandContext(t.Context(), program, "--inMemoryPersistence", "--disableTelemetry", "--"+service+"Host", "127.0.0.1", "--"+service+"Port", "0",
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
