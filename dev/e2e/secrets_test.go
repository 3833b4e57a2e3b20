package e2e

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/armature-io/armature/armsim"
	"github.com/armature-io/armature/dev/internal/collector"
	"github.com/armature-io/armature/dev/internal/harness"
	"github.com/armature-io/armature/dev/internal/testworker/careless"
	"github.com/armature-io/armature/workflows"
)

// The secrets of the test, each with characters that JSON and URLs escape.
const (
	envSecret      = `Zq7env81<&>"'ö`
	fileSecret     = `Zq7file82+/=%20\`
	postgresSecret = "Zq7postgres83"
	// collectorKey is the key of the collector of traces.
	collectorKey = "Zq7collector84"
	// The planted values are no secrets: the search must find them.
	plantedLabel = "planted-label-91"
	plantedBody  = "planted-body-92"
	plantedName  = "planted-name-93"
	plantedError = "planted-error-94"
	// plantedPlan names a resource that is planned and never applied.
	plantedPlan = "planted-plan-95"
)

// TestSecrets checks that no secret value is published: not the secrets that a
// manifest takes from the worker, not the worker's own, not those that only a GET
// returns, not those that ARM repeats in an error, and not those that an extension shows.
func TestSecrets(t *testing.T) {
	t.Parallel()
	s := newSecretsScene(t)
	for _, name := range []string{plantedName, "echo-json", "echo-text", "echo-once", "echo-get", "echo-poll", "echo-delete", "failing", "drifting"} {
		s.run("apply", "-f", s.Write(name+".yaml", secretManifest(name, "small")))
	}
	gadgets := map[string]string{careless.Panics: "panicked", careless.Fails: "careless", careless.Blocks: "careless"}
	for name := range gadgets {
		s.run("apply", "-f", s.Write(name+".yaml", strings.Replace(secretManifest(name, "small"), "Microsoft.Example/things", careless.Type, 1)))
	}
	s.run("apply", "-f", s.examples, "--wait", "--timeout", "90s")
	for _, name := range []string{plantedName, "echo-once", "echo-poll", "echo-delete", "drifting"} {
		s.UntilPhase(60*time.Second, s.id(name), workflows.PhaseReady)
	}
	s.run("delete", "--yes", s.id("echo-delete"))
	for name, message := range map[string]string{
		"echo-json": plantedError, "failing": plantedError, "echo-text": "the response is text/html", "echo-get": plantedError, "echo-delete": plantedError,
	} {
		s.untilMessage(s.id(name), message)
	}
	for name, message := range gadgets {
		s.untilMessage(s.gadget(name), message)
	}
	s.Sim.Patch(s.id("drifting"), map[string]any{"properties": map[string]any{
		"setting": "changed", "size": "large", "copy": envSecret, "statusMessage": "the value " + fileSecret + " is weak",
	}})
	s.run("reconcile", s.id("drifting"), "--wait", "--timeout", "30s")
	for _, output := range []string{"table", "wide", "json", "yaml"} {
		s.run("get", "-o", output)
	}
	for _, name := range []string{plantedName, "echo-json", "echo-text", "echo-once", "echo-get", "echo-poll", "echo-delete", "failing", "drifting", careless.Panics, careless.Fails, "armature-demo-postgres"} {
		s.run("describe", name)
		s.run("history", name)
	}
	s.run("wait", "-l", "stack=demo", "--timeout", "10s")
	s.runWith(2, "plan", "-f", s.Write("plan.yaml", secretManifest(plantedPlan, "small")+"---\n"+secretManifest("drifting", "large")))
	s.run("import", s.id("drifting"))
	s.run("import", subscription+"/resourceGroups/armature-demo/providers/Microsoft.DBforPostgreSQL/flexibleServers/armature-demo-postgres")
	s.run("doctor", s.id("drifting"))
	s.run("delete", "--yes", "--wait", "--timeout", "60s", plantedName)
	s.search()
}

// untilMessage waits until the condition of a resource has a message.
func (s *secretsScene) untilMessage(id, message string) {
	s.T.Helper()
	s.UntilStatus(60*time.Second, id, "has message "+message, func(status workflows.Status) bool {
		return strings.Contains(status.Condition.Message, message)
	})
}

// secretsScene is a world full of secrets.
type secretsScene struct {
	scenarios
	worker   *harness.Worker
	spans    *collector.Collector
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
	s := &secretsScene{scenarios: scenarios{w}, spans: collector.Start(t), examples: filepath.Join(root, "examples")}
	s.putGroup("secrets")
	s.Write("secrets.d/password", fileSecret+"\n")
	traces := "OTEL_EXPORTER_OTLP_HEADERS=api-key=" + collectorKey
	s.worker = w.StartWorker(harness.WorkerOptions{Binary: buildTestWorker(t), Env: append(s.spans.HTTP(), traces, careless.Variable+"=true",
		"ARMATURE_LOG_LEVEL=debug", "ARMATURE_AUDIT_FILE="+filepath.Join(w.Folder, "audit-secrets.jsonl"), "ARMATURE_SECRETS_DIR="+filepath.Join(w.Folder, "secrets.d"),
		"ARMATURE_SECRET_E2E="+envSecret, "ARMATURE_SECRET_POSTGRES_PASSWORD="+postgresSecret,
	)})
	w.Env = append(append(w.Env, s.spans.GRPC()...), traces)
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
		{Method: http.MethodGet, Path: s.id("echo-get"), Status: http.StatusBadRequest, Body: body},
		{Method: http.MethodGet, Path: s.id("echo-poll"), On: "operation", Status: http.StatusInternalServerError, Body: body, Count: 2},
		{Method: http.MethodGet, Path: s.id("echo-poll"), On: "operation", Reset: true, Count: 1},
		{Method: http.MethodDelete, Path: s.id("echo-delete"), Status: http.StatusConflict, Body: body},
	} {
		fault.Method = cmp.Or(fault.Method, http.MethodPut)
		s.Sim.Call(http.MethodPost, "/faults", fault, nil)
	}
	s.Sim.Call(http.MethodPost, "/operations", armsim.OperationRule{ID: s.id("failing"), Spec: armsim.OperationSpec{
		Shape: armsim.ShapeAsync, Polls: 1, RetryAfter: []float64{60}, Outcome: "Failed", ErrorCode: "InvalidPassword", ErrorMessage: echo,
	}}, nil)
	s.Sim.Call(http.MethodPost, "/operations", armsim.OperationRule{ID: s.id("echo-poll"), Spec: armsim.OperationSpec{
		Shape: armsim.ShapeAsync, Polls: 1, RetryAfter: []float64{60},
	}}, nil)
	return s
}

func (s *secretsScene) id(name string) string { return thing{group: "secrets", name: name}.id() }

func (s *secretsScene) gadget(name string) string {
	return strings.Replace(s.id(name), "Microsoft.Example/things", careless.Type, 1)
}

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
	s.runWith(0, harness.Patient(args)...)
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
