package postgres

import (
	"context"
	"encoding/json"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/armature-io/armature/dev/internal/stack"
)

// TestAzureOverlay runs Temporal and its Web UI as deploy/compose.azure.yml configures
// them, with certificates made by the commands of docs/deployment.md.
func TestAzureOverlay(t *testing.T) {
	if built.missing != "" || built.programs.Server == "" {
		t.Skip(built.missing)
	}
	// A folder of t.TempDir is below one that the other users may not open.
	folder, err := os.MkdirTemp("", "armature-overlay-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(folder) })
	tls := makeCertificates(t, folder)
	s, err := stack.Load(t.Context(), filepath.Join(built.root, "docker-compose.yml"), stack.Options{
		Folder: folder, Programs: built.programs, Overlays: []string{filepath.Join(built.root, "deploy", "compose.azure.yml")},
		Env: []string{
			"AZURE_TENANT_ID=t", "AZURE_CLIENT_ID=c", "CLIENT_SECRET_FILE=/c", "MASK_KEY_FILE=/m", "POSTGRES_PASSWORD=p-4711", "TEMPORAL_TLS_DIR=" + tls,
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Down)
	ctx, cancel := context.WithTimeout(t.Context(), setUp)
	defer cancel()
	if err := s.Up(ctx, "web-ui", "temporal-namespace"); err != nil {
		t.Fatalf("%v\n%s", err, s.Logs())
	}
	certificates := []string{
		"TEMPORAL_TLS_CLIENT_CERT_PATH=" + filepath.Join(tls, "client.pem"), "TEMPORAL_TLS_CLIENT_KEY_PATH=" + filepath.Join(tls, "client.key"),
		"TEMPORAL_TLS_SERVER_CA_CERT_PATH=" + filepath.Join(tls, "ca.pem"), "TEMPORAL_TLS_SERVER_NAME=temporal",
	}
	for name, c := range map[string]struct {
		reason string
		env    []string
		ok     bool
	}{
		"certificate":         {"worker and CLI", certificates, true},
		"no TLS":              {"a process on the same machine", nil, false},
		"no certificate":      {"it trusts the server, and is not known", certificates[2:], false},
		"another certificate": {"that of the server's name is not trusted by itself", append([]string{"TEMPORAL_TLS_CLIENT_CERT_PATH=" + filepath.Join(tls, "stranger.pem"), "TEMPORAL_TLS_CLIENT_KEY_PATH=" + filepath.Join(tls, "stranger.key")}, certificates[2:]...), false},
	} {
		command := exec.CommandContext(ctx, built.binaries.CLI, "setup")
		command.Env = append([]string{"TEMPORAL_ADDRESS=" + s.Address("temporal", "7233"), "TEMPORAL_CONFIG_FILE=" + filepath.Join(folder, "none.toml"), "HOME=" + folder}, c.env...)
		out, err := command.CombinedOutput()
		if (err == nil) != c.ok {
			t.Errorf("%s (%s): %v\n%s", name, c.reason, err, out)
		}
	}
	var settings struct{ DisableWriteActions bool }
	if body := get(t, "http://"+s.Address("web-ui", "8080")+"/api/v1/settings"); json.Unmarshal(body, &settings) != nil || !settings.DisableWriteActions {
		t.Errorf("the Web UI allows writes: %s", body)
	}
	if body := get(t, "http://"+s.Address("web-ui", "8080")+"/api/v1/namespaces"); !strings.Contains(string(body), "default") {
		t.Errorf("the Web UI does not reach Temporal: %s", body)
	}
}

// makeCertificates runs the commands of docs/deployment.md, and makes the certificate of a
// stranger.
func makeCertificates(t *testing.T, folder string) string {
	t.Helper()
	page, err := os.ReadFile(filepath.Join(built.root, "docs", "deployment.md"))
	if err != nil {
		t.Fatal(err)
	}
	block := regexp.MustCompile("(?s)```sh\n(mkdir tls\n.*?)```").FindSubmatch(page)
	if block == nil {
		t.Fatal("docs/deployment.md has no commands for certificates")
	}
	script := "set -e\n" + string(block[1]) + `
openssl req -x509 -newkey rsa:2048 -nodes -days 1 -subj /CN=stranger -keyout tls/stranger.key -out tls/stranger.pem
chmod -R a+rX tls
`
	command := exec.CommandContext(t.Context(), "/bin/sh", "-c", script)
	command.Dir = folder
	if out, err := command.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return filepath.Join(folder, "tls")
}

// get returns the body of a page, which has 10 s.
func get(t *testing.T, url string) []byte {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	var body strings.Builder
	if err := response.Write(&body); err != nil {
		t.Fatal(err)
	}
	_, content, _ := strings.Cut(body.String(), "\r\n\r\n")
	return []byte(content)
}
