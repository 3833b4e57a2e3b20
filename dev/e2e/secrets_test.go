package e2e

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/armature-io/armature/armsim"
	"github.com/armature-io/armature/dev/internal/harness"
	"github.com/armature-io/armature/dev/temporaldev"
	"github.com/armature-io/armature/workflows"
)

// The secrets of the test, each with characters that JSON and URLs escape.
const (
	envSecret      = `Zq7env81<&>"'ö`
	fileSecret     = `Zq7file82+/=%20\`
	postgresSecret = "Zq7postgres83"
	// The planted values are no secrets: the search must find them.
	plantedLabel = "planted-label-91"
	plantedBody  = "planted-body-92"
	plantedName  = "planted-name-93"
	plantedError = "planted-error-94"
	// plantedPlan names a resource that is planned and never applied.
	plantedPlan = "planted-plan-95"
)

// bearer is the form of a token.
var bearer = regexp.MustCompile(`eyJ[\w-]{10,}\.[\w-]{10,}\.`)

// TestSecrets checks that no secret value is published: not the secrets that a
// manifest takes from the worker, not the worker's own, not those that only a GET
// returns, and not those that ARM repeats in an error.
func TestSecrets(t *testing.T) {
	t.Parallel()
	s := newSecretsScene(t)
	for name, size := range map[string]string{
		plantedName: "small", "echo-json": "small", "echo-text": "small", "echo-once": "small", "failing": "small", "drifting": "small",
	} {
		s.run("apply", "-f", s.Write(name+".yaml", secretManifest(name, size)))
	}
	s.run("apply", "-f", s.examples, "--wait", "--timeout", "90s")
	for _, name := range []string{plantedName, "echo-once", "drifting"} {
		s.UntilPhase(30*time.Second, s.id(name), workflows.PhaseReady)
	}
	for name, message := range map[string]string{"echo-json": plantedError, "failing": plantedError, "echo-text": "the response is text/html"} {
		s.UntilStatus(30*time.Second, s.id(name), "has message "+message, func(status workflows.Status) bool {
			return strings.Contains(status.Condition.Message, message)
		})
	}
	s.Sim.Patch(s.id("drifting"), map[string]any{"properties": map[string]any{
		"setting": "changed", "size": "large", "copy": envSecret, "statusMessage": "the value " + fileSecret + " is weak",
	}})
	s.run("reconcile", s.id("drifting"), "--wait", "--timeout", "30s")
	for _, output := range []string{"table", "wide", "json", "yaml"} {
		s.run("get", "-o", output)
	}
	for _, name := range []string{plantedName, "echo-json", "echo-text", "echo-once", "failing", "drifting", "armature-demo-postgres"} {
		s.run("describe", name)
	}
	s.run("wait", "-l", "stack=demo", "--timeout", "10s")
	s.runWith(2, "plan", "-f", s.Write("plan.yaml", secretManifest(plantedPlan, "small")+"---\n"+secretManifest("drifting", "large")))
	s.run("import", s.id("drifting"))
	s.run("import", subscription+"/resourceGroups/armature-demo/providers/Microsoft.DBforPostgreSQL/flexibleServers/armature-demo-postgres")
	s.run("doctor", s.id("drifting"))
	s.run("delete", "--yes", "--wait", "--timeout", "60s", plantedName)
	s.search()
}

// secretsScene is a world full of secrets.
type secretsScene struct {
	scenarios
	worker   *harness.Worker
	examples string
	// output is the output of all CLI calls.
	output []string
}

func newSecretsScene(t *testing.T) *secretsScene {
	t.Helper()
	w := harness.New(t, binaries, harness.Options{TLS: true, Simulator: armsim.Options{
		TimeScale: 600,
		Secrets:   []armsim.SecretRule{{Type: "*", Properties: []string{"primaryKey", "secondaryConnectionString", "adminPassword"}}},
	}})
	root, err := harness.Root(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	s := &secretsScene{scenarios: scenarios{w}, examples: filepath.Join(root, "examples")}
	s.putGroup("secrets")
	s.Write("secrets.d/password", fileSecret+"\n")
	s.worker = w.StartWorker(harness.WorkerOptions{Env: []string{
		"ARMATURE_LOG_LEVEL=debug", "ARMATURE_AUDIT_FILE=" + filepath.Join(w.Folder, "audit-secrets.jsonl"), "ARMATURE_SECRETS_DIR=" + filepath.Join(w.Folder, "secrets.d"),
		"ARMATURE_SECRET_E2E=" + envSecret, "ARMATURE_SECRET_POSTGRES_PASSWORD=" + postgresSecret,
	}})
	echo := fmt.Sprintf("%s: the values %s and %s are not allowed.", plantedError, envSecret, fileSecret)
	detail := map[string]any{"code": "Weak", "message": echo, "target": envSecret}
	body, err := json.Marshal(map[string]any{"error": map[string]any{
		"code": "InvalidPassword", "message": echo, "target": fileSecret, "details": []any{detail},
		"innererror":     map[string]any{"code": "Weak", "message": echo},
		"additionalInfo": []any{map[string]any{"type": "PolicyViolation", "info": detail}},
	}})
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(echo)
	if err != nil {
		t.Fatal(err)
	}
	for _, fault := range []armsim.Fault{
		{Path: s.id("echo-json"), Status: http.StatusBadRequest, Body: body},
		{Path: s.id("echo-text"), Status: http.StatusBadRequest, Body: text},
		{Path: s.id("echo-once"), Status: http.StatusInternalServerError, Body: body, Count: 2},
	} {
		fault.Method = http.MethodPut
		s.Sim.Call(http.MethodPost, "/faults", fault, nil)
	}
	s.Sim.Call(http.MethodPost, "/operations", armsim.OperationRule{ID: s.id("failing"), Spec: armsim.OperationSpec{
		Shape: armsim.ShapeAsync, Polls: 1, RetryAfter: []float64{60}, Outcome: "Failed", ErrorCode: "InvalidPassword", ErrorMessage: echo,
	}}, nil)
	return s
}

func (s *secretsScene) id(name string) string { return thing{group: "secrets", name: name}.id() }

// secretManifest returns a manifest with secrets under revealing and under neutral
// names, and with a body large enough to be compressed in histories.
func secretManifest(name, size string) string {
	return fmt.Sprintf(`type: Microsoft.Example/things@2024-01-01
name: %s
owner: %s/resourceGroups/secrets
body:
  location: westus2
  properties:
    size: %s
    adminPassword: {$secret: env:ARMATURE_SECRET_E2E}
    setting: {$secret: env:ARMATURE_SECRET_E2E}
    list: [{name: first, content: {$secret: file:password}}]
    note: %s
reconcile: {interval: 0}
labels: {planted: %s}
`, name, subscription, size, plantedBody+strings.Repeat(" filler", 1000), plantedLabel)
}

// run calls the CLI and keeps its output for the search.
func (s *secretsScene) run(args ...string) {
	s.T.Helper()
	s.runWith(0, args...)
}

// runWith is run of a call that exits with a code.
func (s *secretsScene) runWith(code int, args ...string) {
	s.T.Helper()
	result := s.CLI(args...)
	if result.Code != code {
		s.T.Fatalf("want exit code %d of %s", code, result)
	}
	s.output = append(s.output, result.Out, result.Err)
}

// search looks for the planted values, to prove that it works, then for secrets.
func (s *secretsScene) search() {
	s.T.Helper()
	_, trail := auditTrail(s.T, s.Folder)
	places := map[string]string{
		"Temporal": strings.Join(s.Texts(), "\n"), "the worker's log": s.worker.Log(), "the CLI's output": strings.Join(s.output, "\n"),
		"the audit trail": trail,
	}
	for place, planted := range map[string][]string{
		"Temporal":         {plantedLabel, plantedBody, plantedName, plantedError, plantedPlan, "properties.size", `"large"`},
		"the worker's log": {plantedName, plantedError, `"level":"DEBUG"`},
		"the CLI's output": {plantedLabel, plantedName, plantedError, "properties.size"},
		"the audit trail":  {plantedName, plantedError, "properties.size"},
	} {
		for _, value := range planted {
			if !strings.Contains(places[place], value) {
				s.T.Errorf("the search does not find the planted %q in %s", value, place)
			}
		}
	}
	for _, file := range []string{temporaldev.LogFile, temporaldev.DatabaseFile, temporaldev.DatabaseFile + "-wal"} {
		data, err := os.ReadFile(filepath.Join(s.Folder, "temporal", file))
		if err != nil {
			s.T.Fatal(err)
		}
		places[file] = string(data)
	}
	secrets := s.secrets()
	for place, text := range places {
		for value, kind := range secrets {
			for _, form := range forms(value) {
				if at := strings.Index(text, form); at >= 0 {
					s.T.Errorf("%s (%q) stands in %s: ... %q", kind, value, place, text[max(0, at-300):min(len(text), at+100)])
					break // other forms of the value add nothing
				}
			}
		}
		if token := bearer.FindString(text); token != "" {
			s.T.Errorf("a token stands in %s: %s", place, token)
		}
	}
}

// secrets returns all values that must not be published, by their kind.
func (s *secretsScene) secrets() map[string]string {
	s.T.Helper()
	var made struct{ Values []string }
	s.Sim.Call(http.MethodGet, "/secrets", nil, &made)
	secrets := map[string]string{}
	for _, value := range made.Values {
		secrets[value] = "a key that the server made or was given"
	}
	if len(secrets) < 10 {
		s.T.Errorf("ARM knows only %d secrets: %q", len(secrets), made.Values)
	}
	for kind, value := range map[string]string{
		"the password of the examples": postgresSecret, "the worker's client secret": harness.ClientSecret,
		"the secret of a variable": "Zq7env81", "the secret of a file": "Zq7file82",
		"the whole secret of a variable": envSecret, "the whole secret of a file": fileSecret,
	} {
		secrets[value] = kind
	}
	return secrets
}

// forms returns the encodings in which a value may appear.
func forms(value string) []string {
	quoted, _ := json.Marshal(value) // a string always encodes
	return []string{
		value, strings.Trim(string(quoted), `"`), url.QueryEscape(value), url.PathEscape(value),
		base64.StdEncoding.EncodeToString([]byte(value)), base64.RawURLEncoding.EncodeToString([]byte(value)),
	}
}
