package main

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"math/big"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/armature-io/armature/dev/internal/harness"
	"github.com/armature-io/armature/dev/internal/hostile"
	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/workflows"
)

// TestHostileETag checks that an ETag with line breaks writes no header of a request, and
// that the resource ends with a reason.
func TestHostileETag(t *testing.T) {
	t.Parallel()
	s := newScene(t, "etag").serve()
	id := s.id("thing")
	s.put(id, map[string]any{"location": "westus2", "properties": map[string]any{"size": 7}})
	s.arm.Answer(http.MethodGet, id, 0, hostile.JSON(map[string]any{
		"id": id, "name": "thing", "type": "Microsoft.Example/things", "location": "westus2", "etag": "\"1\"\r\nX-Injected: yes",
		"properties": map[string]any{"size": 7, "provisioningState": "Succeeded"},
	}))
	s.apply("thing")
	s.UntilStatus(45*time.Second, id, "ended with a reason", func(status workflows.Status) bool {
		return status.Pass > 0 && status.Condition.Reason != ""
	})
	for _, request := range s.arm.Requests(id) {
		if request.Header.Get("X-Injected") != "" || strings.Contains(request.Header.Get("If-Match"), "\n") {
			t.Errorf("%s carries a header of ARM's choice: %v", request.Method, request.Header)
		}
	}
}

// TestManifestBombs checks that manifests that expand without limit end the command soon,
// with an error, and without much memory.
func TestManifestBombs(t *testing.T) {
	t.Parallel()
	var aliases strings.Builder
	aliases.WriteString("a0: &a0 [x,x,x,x,x,x,x,x,x,x]\n")
	for i := 1; i < 10; i++ {
		previous := strings.TrimSuffix(strings.Repeat(fmt.Sprintf("*a%d,", i-1), 10), ",")
		fmt.Fprintf(&aliases, "a%d: &a%d [%s]\n", i, i, previous)
	}
	lists := "type: a\nbody: {a: [" + strings.Repeat("[],", 300_000) + "[]]}\n"
	for name, text := range map[string]string{
		"aliases.yaml":  aliases.String(),
		"itself.yaml":   "type: a\nbody: &a {x: *a}\n",
		"brackets.json": strings.Repeat("[", 2_000_000),
		"brackets.yaml": strings.Repeat("[", 200_000),
		"levels.yaml":   strings.Repeat("{a: ", 5000) + "1" + strings.Repeat("}", 5000),
		"lists.yaml":    lists,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			folder := t.TempDir()
			write(t, filepath.Join(folder, name), text)
			if name == "lists.yaml" {
				for i := range 19 {
					write(t, filepath.Join(folder, fmt.Sprintf("%d-%s", i, name)), text)
				}
			}
			c := startCLI(t, folder, nil, nil, "validate", "-f", ".")
			if code := c.end(t); code != 2 {
				t.Errorf("exit code %d:\n%.500s", code, c.out.String()+c.err.String())
			}
			if used := c.maxResident(); used > 1<<30 {
				t.Errorf("the command used %d MB", used>>20)
			}
		})
	}
}

// TestWrittenFiles checks that files with properties of resources are readable by their
// user only, and that no link is followed to another file.
func TestWrittenFiles(t *testing.T) {
	t.Parallel()
	s := newScene(t, "files").serve()
	s.put(s.id("thing"), map[string]any{"location": "westus2", "properties": map[string]any{"size": 1}})
	s.MustCLI("import", s.id("thing")+"@2021-01-01", "-o", "fresh")
	files, err := filepath.Glob(filepath.Join(s.Folder, "fresh", "*"))
	if err != nil || len(files) != 1 {
		t.Fatalf("the import wrote %v: %v", files, err)
	}
	victim := s.Write("victim.txt", "precious")
	for _, link := range []string{"linked/" + filepath.Base(files[0]), "linked.plan"} {
		s.Write("linked/other.txt", "")
		if err := os.Symlink(victim, filepath.Join(s.Folder, link)); err != nil {
			t.Fatal(err)
		}
	}
	imported := s.CLI("import", s.id("thing")+"@2021-01-01", "-o", "linked")
	planned := s.CLI("plan", "-f", "fresh", "--out", "linked.plan")
	if text := read(t, victim); text != "precious" {
		t.Errorf("a command wrote through a link: %s\n%s\n%s", text, imported, planned)
	}
	s.Write("open.plan", "")
	if err := os.Chmod(filepath.Join(s.Folder, "open.plan"), 0o644); err != nil {
		t.Fatal(err)
	}
	s.CLI("plan", "-f", "fresh", "--out", "new.plan")
	s.CLI("plan", "-f", "fresh", "--out", "open.plan")
	for _, file := range append(files, filepath.Join(s.Folder, "new.plan"), filepath.Join(s.Folder, "open.plan")) {
		info, err := os.Stat(file)
		if err != nil {
			t.Fatal(err)
		}
		if info.Size() > 0 && info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s has mode %v", file, info.Mode())
		}
	}
}

// TestOwnSecrets checks that a worker whose secrets of manifests contain its own token,
// certificate, key or settings does not start, whatever variable names them.
func TestOwnSecrets(t *testing.T) {
	t.Parallel()
	s := newScene(t, "own")
	pair := s.Write("secrets.d/own", keyPair(t))
	settings := s.Write("secrets.d/temporal.toml", "# settings without a profile\n")
	for name, env := range map[string][]string{
		"federated token":      {"ARMATURE_AZURE_CREDENTIAL=workload-identity", "AZURE_FEDERATED_TOKEN_FILE=" + pair},
		"certificate":          {"ARMATURE_AZURE_CREDENTIAL=client-certificate", "AZURE_CLIENT_CERTIFICATE_PATH=" + pair, "AZURE_CLIENT_SECRET="},
		"key of Temporal":      {"TEMPORAL_TLS_CLIENT_KEY_PATH=" + pair, "TEMPORAL_TLS_CLIENT_CERT_PATH=" + pair},
		"settings of Temporal": {"TEMPORAL_CONFIG_FILE=" + settings},
		"variable":             {"ARMATURE_SECRETS_ENV_PREFIX=AZURE_"},
	} {
		t.Run(name, func(t *testing.T) {
			s := s.on(t)
			env = append([]string{"ARMATURE_SECRETS_DIR=" + filepath.Dir(pair)}, env...)
			worker := s.StartWorker(harness.WorkerOptions{NotReady: true, Env: append(s.environment(), env...)})
			if code := worker.WaitExit(20 * time.Second); code == 0 {
				t.Error("the worker ended without an error")
			}
			if log := worker.Log(); !strings.Contains(log, "secrets.") {
				t.Errorf("the log does not name the setting:\n%s", log)
			}
		})
	}
}

// keyPair returns a certificate and its key in PEM.
func keyPair(t *testing.T) string {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour)}
	certificate, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	encoded, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	return string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: certificate})) +
		string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: encoded}))
}

// TestMasksWithoutKey checks that masks without a key have no digits from which a value
// could be guessed, and that a worker of a cloud starts without a key only if its
// configuration states it.
func TestMasksWithoutKey(t *testing.T) {
	t.Parallel()
	s := newScene(t, "masks")
	cloud := append(s.environment(), "ARMATURE_MASK_KEY=", "ARMATURE_AZURE_CLOUD=public", "ARMATURE_AZURE_ENDPOINT=", "ARMATURE_AZURE_AUTHORITY_HOST=")
	refused := s.StartWorker(harness.WorkerOptions{NotReady: true, Env: cloud})
	if code := refused.WaitExit(30 * time.Second); code == 0 || !strings.Contains(refused.Log(), "mask-key: required") {
		t.Errorf("a worker of a public cloud without mask-key: exit code %d\n%s", code, refused.Log())
	}
	s.serve("ARMATURE_MASK_KEY=none", "ARMATURE_SECRET_ATTACK=winter2024")
	s.MustCLI("apply", "-f", s.manifest("thing", "note: {$secret: env:ARMATURE_SECRET_ATTACK}"), "--wait", "--timeout", "60s")
	s.sync(s.id("thing"))
	history := s.AllHistoryLines(s.id("thing"))
	if !strings.Contains(history, resource.MaskPrefix) {
		t.Error("nothing was masked, so the test proves nothing")
	}
	if digits := maskDigits.FindString(history); digits != "" {
		t.Errorf("a mask without a key has digits: %s", digits)
	}
	s.hidden(s.id("thing"), "winter2024")
}

// maskDigits matches a mask from which a value can be guessed.
var maskDigits = regexp.MustCompile(regexp.QuoteMeta(resource.MaskPrefix) + "[0-9a-f]{8,}")

// TestPlainTemporal checks that a worker names a connection that carries specs in clear to
// another machine, and no other one.
func TestPlainTemporal(t *testing.T) {
	t.Parallel()
	s := newScene(t, "plain")
	const warning = "connection to Temporal is not encrypted"
	env := append(s.environment(), "TEMPORAL_ADDRESS=192.0.2.1:7233") // a documentation address: nothing listens
	remote := s.StartWorker(harness.WorkerOptions{NotReady: true, Env: env})
	s.Until(30*time.Second, "the worker starts", func() (bool, string) {
		return strings.Contains(remote.Log(), `"worker starts"`), remote.Log()
	})
	if !strings.Contains(remote.Log(), warning) {
		t.Errorf("a plain connection to another machine is not named:\n%s", remote.Log())
	}
	if own := s.serve().worker.Log(); strings.Contains(own, warning) {
		t.Errorf("a connection to this machine is called plain:\n%s", own)
	}
}
