package e2e

import (
	"encoding/json"
	"fmt"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/armature-io/armature/armsim"
	"github.com/armature-io/armature/dev/internal/harness"
	"github.com/armature-io/armature/workflows"
)

// TestReasonsInFull lets Azure refuse with five details, fail an operation with three, and repeat
// the error of another service as JSON in a text. Every text and target reaches every place that
// people read, and none of them has the secret that Azure repeats.
func TestReasonsInFull(t *testing.T) {
	t.Parallel()
	const secret = "Zq7reason96<&>"
	w := harness.New(t, binaries, harness.Options{})
	worker := w.StartWorker(harness.WorkerOptions{Env: []string{"ARMATURE_AUDIT_FILE=" + filepath.Join(w.Folder, "audit-reasons.jsonl"), "ARMATURE_SECRET_REASON=" + secret, "ARMATURE_LOG_LEVEL=debug"}})
	scenarios{w}.putGroup("reasons")
	id := func(name string) string { return thing{group: "reasons", name: name}.id() }
	detail := func(target, message string) map[string]any {
		return map[string]any{"code": "InvalidRequestContent", "target": target, "message": message}
	}
	five := []any{
		detail("properties.network.hostPrefix", "Invalid value: 99: must be less than or equal to 26"), detail("properties.autoScaling.max", "Invalid value: 1: must be greater than or equal to 5"),
		detail("properties.password", "the value "+secret+" is weak"), detail("properties.dns", "field is required"), detail("properties.version", "unknown version 9"),
	}
	refuse := func(name string, failure map[string]any) {
		body, err := json.Marshal(map[string]any{"error": failure})
		if err != nil {
			t.Fatal(err)
		}
		w.Sim.Call(http.MethodPost, "/faults", armsim.Fault{Method: http.MethodPut, Path: id(name), Status: http.StatusBadRequest, Body: body}, nil)
	}
	refuse("five", map[string]any{"code": "MultipleErrorsOccurred", "message": "5 errors occurred", "details": five})
	inner, err := json.Marshal(map[string]any{"error": map[string]any{"code": "QuotaOfCores", "message": "10 cores are the \"limit\", not " + secret, "target": "cores.standardDSv5Family"}})
	if err != nil {
		t.Fatal(err)
	}
	refuse("nested", map[string]any{"code": "DeploymentRefused", "message": "the backend answered: " + string(inner)})
	w.Sim.Call(http.MethodPost, "/operations", armsim.OperationRule{ID: id("three"), Spec: armsim.OperationSpec{
		Shape: armsim.ShapeAsync, Polls: 1, RetryAfter: []float64{60}, Outcome: "Failed", ErrorCode: "InflightChecksFailed", ErrorMessage: "3 checks failed",
		ErrorDetails: []any{detail("properties.subnet", "the subnet is used by another cluster"), detail("properties.group", "the group exists"), detail("properties.password", "not "+secret)},
	}}, nil)
	for name, want := range map[string][]string{
		"five": {
			"5 errors occurred", "properties.network.hostPrefix", "Invalid value: 99: must be less than or equal to 26", "properties.autoScaling.max", "must be greater than or equal to 5",
			"properties.password", "the value (masked) is weak", "properties.dns", "field is required", "properties.version", "unknown version 9",
		},
		"three":  {"3 checks failed", "properties.subnet", "the subnet is used by another cluster", "properties.group", "the group exists", "properties.password", "not (masked)"},
		"nested": {"the backend answered", "10 cores are the", "not (masked)", "cores.standardDSv5Family"},
	} {
		text := strings.Replace(thing{group: "reasons", name: name, interval: "1h"}.manifest("small"), "properties: {", "properties: {password: {$secret: 'env:ARMATURE_SECRET_REASON'}, ", 1)
		w.CLI("apply", "-f", w.Write(name+".yaml", text))
		status := w.UntilStatus(60*time.Second, id(name), "is refused", func(status workflows.Status) bool {
			return strings.Contains(status.Condition.Message, want[0])
		})
		command := func(args ...string) func() string {
			return func() string { return w.CLI(append(args, id(name))...).Out }
		}
		for place, read := range map[string]func() string{
			"condition": func() string { return status.Condition.Message }, "why": command("why"), "describe": command("describe", "-o", "json"), "history": command("history"),
			"log": worker.Log, "audit trail": func() string { _, trail := auditTrail(t, w.Folder); return trail },
		} {
			shown := ""
			w.Until(20*time.Second, place+" of "+name+" has every text", func() (bool, string) {
				shown = read()
				lacks := slices.DeleteFunc(slices.Clone(want), func(text string) bool { return strings.Contains(shown, text) })
				return len(lacks) == 0, fmt.Sprintf("it lacks %q:\n%s", lacks, shown[max(0, len(shown)-2000):])
			})
			if strings.Contains(shown, "Zq7reason96") {
				t.Errorf("%s: the secret is in %s", name, place)
			}
		}
	}
	if strings.Contains(strings.Join(w.Texts(), "\n"), "Zq7reason96") {
		t.Error("the secret is in Temporal")
	}
}
