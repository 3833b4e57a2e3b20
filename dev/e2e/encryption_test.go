package e2e

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.temporal.io/api/workflowservice/v1"

	"github.com/armature-io/armature/armsim"
	"github.com/armature-io/armature/dev/internal/harness"
	"github.com/armature-io/armature/dev/internal/histories"
	"github.com/armature-io/armature/dev/internal/leaks"
	"github.com/armature-io/armature/dev/temporaldev"
	"github.com/armature-io/armature/internal/payload"
	"github.com/armature-io/armature/workflows"
)

// keyText returns the key of a number in hexadecimal digits, as users write it.
func keyText(number byte) string { return strings.Repeat(fmt.Sprintf("%02x", number), payload.KeySize) }

// keyEnv returns the configuration of the keys, a and b: those for reading, and the one for
// writing.
func keyEnv(read, write string) []string {
	var references []string
	for _, id := range read {
		references = append(references, fmt.Sprintf("%c=env:PAYLOAD_KEY_%c", id, id))
	}
	return []string{
		"PAYLOAD_KEY_a=" + keyText(1), "PAYLOAD_KEY_b=" + keyText(2),
		"ARMATURE_ENCRYPTION_KEYS=" + strings.Join(references, ","), "ARMATURE_ENCRYPTION_WRITE_KEY=" + write,
	}
}

// bothKeys returns converters that read everything and write with key a.
func bothKeys(t *testing.T) *payload.Converters {
	t.Helper()
	c, err := payload.New(payload.Options{WriteKey: "a", Keys: []payload.Key{
		{ID: "a", Secret: bytes.Repeat([]byte{1}, payload.KeySize)}, {ID: "b", Secret: bytes.Repeat([]byte{2}, payload.KeySize)},
	}})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// Planted values of the test. The label and the name are search attributes and IDs, which
// stay clear: they prove that the search finds what is there.
const (
	sealedBody   = "sealed-body-81"
	sealedDrift  = "sealed-drift-82"
	sealedError  = "sealed-error-83"
	sealedPlan   = "sealed-plan-84"
	sealedFreeze = "sealed-freeze-85"
	sealedFailed = "sealed-failed-86"
	clearLabel   = "clear-label-87"
	clearName    = "clear-name-88"
)

func sealedManifest(name, size, note string) string {
	return fmt.Sprintf(`type: Microsoft.Example/things@2024-01-01
name: %s
owner: %s/resourceGroups/sealed
body:
  location: westus2
  properties: {size: %s, note: %s}
reconcile: {interval: 0}
labels: {planted: %s}
`, name, subscription, size, note, clearLabel)
}

// TestEncryption plants texts in every way in which Temporal gets one, and searches its
// database for them: raw, and in all payloads that are not encrypted.
func TestEncryption(t *testing.T) {
	t.Parallel()
	w := harness.New(t, binaries, harness.Options{Converters: bothKeys(t)})
	w.Env = append(w.Env, keyEnv("a", "a")...)
	s := scenarios{w}
	s.putGroup("sealed")
	id := func(name string) string { return thing{group: "sealed", name: name}.id() }
	body, err := json.Marshal(map[string]any{"error": map[string]any{"code": "Weak", "message": sealedError}})
	if err != nil {
		t.Fatal(err)
	}
	s.Sim.Call(http.MethodPost, "/faults", armsim.Fault{Path: id("refused"), Method: http.MethodPut, Status: http.StatusBadRequest, Body: body}, nil)
	s.Sim.Call(http.MethodPost, "/operations", armsim.OperationRule{ID: id("failing"), Spec: armsim.OperationSpec{
		Shape: armsim.ShapeAsync, Polls: 3, RetryAfter: []float64{60}, Outcome: "Failed", ErrorCode: "Weak", ErrorMessage: sealedFailed,
	}}, nil)
	s.Sim.Call(http.MethodPost, "/faults", armsim.Fault{Path: id("shaky"), Method: http.MethodPut, Status: http.StatusServiceUnavailable, Body: body, Count: 2}, nil)
	s.Sim.Call(http.MethodPost, "/faults", armsim.Fault{Path: id("slow"), Method: http.MethodPut, DelayMs: 13_000, Count: 1}, nil)
	worker := w.StartWorker(harness.WorkerOptions{})
	large := sealedBody + strings.Repeat("-filler", 1000)
	for name, note := range map[string]string{clearName: sealedBody, "large": large, "refused": "x", "failing": "x", "shaky": sealedBody, "slow": sealedBody} {
		s.MustCLI("apply", "-f", s.Write(name+".yaml", sealedManifest(name, "small", note)))
	}
	var running *workflowservice.DescribeWorkflowExecutionResponse
	w.Until(60*time.Second, "a heartbeat is in the database, encrypted", func() (bool, string) {
		description, err := w.Client.DescribeWorkflowExecution(t.Context(), w.WorkflowID(id("slow")), "")
		if err != nil {
			return false, err.Error()
		}
		running = description
		for _, pending := range description.GetPendingActivities() {
			for _, details := range pending.GetHeartbeatDetails().GetPayloads() {
				return payload.KeyID(details) == "a", details.String()
			}
		}
		return false, fmt.Sprint(description.GetPendingActivities())
	})
	searchSealed(t, w)
	for _, name := range []string{clearName, "large", "shaky", "slow"} {
		s.UntilPhase(60*time.Second, id(name), workflows.PhaseReady)
	}
	var shown []string
	show := func(code int, args ...string) {
		t.Helper()
		result := s.CLI(args...)
		if result.Code != code {
			t.Fatalf("want exit code %d of %s", code, result)
		}
		shown = append(shown, result.Out, result.Err)
	}
	for name, message := range map[string]string{"refused": sealedError, "failing": sealedFailed} {
		s.UntilStatus(60*time.Second, id(name), "has message "+message, func(status workflows.Status) bool {
			return strings.Contains(status.Condition.Message, message)
		})
		show(0, "describe", name)
	}
	s.Sim.Patch(id(clearName), map[string]any{"properties": map[string]any{"note": sealedDrift}})
	show(2, "drift", clearName)
	show(0, "reconcile", clearName, "--wait", "--timeout", "60s")
	show(2, "plan", "-f", s.Write("plan.yaml", sealedManifest("planned", "small", sealedPlan)))
	show(0, "import", id(clearName))
	show(0, "freeze", "--reason", sealedFreeze)
	show(0, "get", "-o", "json")
	show(0, "unfreeze")
	show(0, "doctor")
	s.MustReplay()
	for _, planted := range []string{sealedBody, sealedDrift, sealedError, sealedFailed, sealedFreeze} {
		if !strings.Contains(strings.Join(shown, "\n"), planted) {
			t.Errorf("the CLI with the key never showed %q", planted)
		}
	}
	searchSealed(t, w)
	clear, sealed, elsewhere := w.ClearTexts()
	maps.Copy(clear, histories.Read(running).Fields) // Temporal shows some fields only of a step that runs
	t.Logf("encrypted payloads: %v", sealed)
	for _, kind := range []string{
		"input", "result", "args", "success", "details", "details data", "encoded_attributes", "summary", "memo summary", "upserted_memo summary",
	} {
		if sealed[kind] == 0 {
			t.Errorf("no payload of %s is encrypted", kind)
		}
	}
	if len(elsewhere) > 0 {
		t.Errorf("payloads that are not bound to their workflow: %v", elsewhere)
	}
	compareWithPage(t, clear)
	for place, text := range map[string]string{"the worker's log": worker.Log(), "the CLI's output": strings.Join(shown, "\n")} {
		if strings.Contains(text, keyText(1)) {
			t.Errorf("%s contains the key", place)
		}
	}
}

// searchSealed searches the database, its log and everything that the API returns.
func searchSealed(t *testing.T, w *harness.World) {
	t.Helper()
	places := map[string]string{"the API": strings.Join(w.Texts(), "\n")}
	for _, file := range []string{temporaldev.LogFile, temporaldev.DatabaseFile, temporaldev.DatabaseFile + "-wal"} {
		data, err := os.ReadFile(filepath.Join(w.Folder, "temporal", file))
		if err != nil {
			t.Fatal(err)
		}
		places[file] = string(data)
	}
	for _, planted := range []string{clearLabel, clearName} {
		if !strings.Contains(places["the API"], planted) || !strings.Contains(places[temporaldev.DatabaseFile]+places[temporaldev.DatabaseFile+"-wal"], planted) {
			t.Errorf("the search does not find %q, which is clear", planted)
		}
	}
	sealed := map[string]string{}
	for _, planted := range []string{"sealed-body", "sealed-drift", "sealed-error", "sealed-plan", "sealed-freeze", "sealed-failed", "properties.note", "-filler-filler", keyText(1)} {
		sealed[planted] = planted
	}
	for _, leak := range leaks.Find(places, sealed) {
		t.Error(leak)
	}
}
