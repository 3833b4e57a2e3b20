package e2e

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/armature-io/armature/armsim"
	"github.com/armature-io/armature/dev/internal/harness"
	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/workflows"
)

// TestDrift checks the handling of differences: values that Azure overrides, drift
// that a policy only reports, and changes after a plan.
func TestDrift(t *testing.T) {
	t.Parallel()
	override, stubborn := thing{group: "override", name: "override"}, thing{group: "not-taken", name: "not-taken"}
	w := harness.New(t, binaries, harness.Options{Simulator: armsim.Options{TimeScale: 600, Recordings: []armsim.Recording{
		override.recording("small", "S1"),
		stubborn.recording("small", "small"), stubborn.recording("large", "small"),
	}}})
	worker := w.StartWorker(harness.WorkerOptions{})
	s := scenarios{w}
	for name, play := range map[string]func(*testing.T, scenarios, thing){
		"override": playOverride, "not-taken": playNotTaken, "misspelt": playMisspelt, "plan-file": playPlanFile, "protect": playProtect,
		"observe": func(t *testing.T, s scenarios, r thing) { playObserve(t, s, r, worker) },
	} {
		s.putGroup(name)
		t.Run(name, func(t *testing.T) {
			play(t, scenarios{s.On(t)}, thing{group: name, name: name, interval: "1h"})
		})
	}
}

// recording returns a PUT of one size to which Azure returns another.
func (r thing) recording(sent, shown string) armsim.Recording {
	body := func(size string) map[string]any {
		return map[string]any{"location": "westus2", "tags": map[string]any{"purpose": "e2e"}, "properties": map[string]any{"size": size}}
	}
	return armsim.Recording{ID: r.id(), PutBody: body(sent), PutResponse: body(shown), GetBody: body(shown)}
}

// wantPuts reconciles, and compares the number of all PUTs.
func (s scenarios) wantPuts(r thing, want int, when string) {
	s.T.Helper()
	s.MustCLI("reconcile", r.id(), "--wait", "--timeout", "30s")
	if puts := s.Sim.Count(http.MethodPut, r.id()); puts != want {
		s.T.Errorf("%d PUTs, want %d: %s", puts, want, when)
	}
}

// playOverride lets Azure store another value than the one sent. Armature writes it
// once and keeps it in the baseline until the manifest or Azure changes.
func playOverride(t *testing.T, s scenarios, r thing) {
	s.applyMore(r, "small", "timeout: 1h", "--wait", "--timeout", "30s")
	for range 3 {
		s.wantPuts(r, 1, "a value that Azure overrides is not written again")
	}
	file := r.name + ".yaml"
	for _, c := range plan(s.World, 0, "-f", file) {
		if c.Action != "none" {
			t.Errorf("the plan writes the overridden value: %+v", c)
		}
	}
	s.Sim.Patch(r.id(), map[string]any{"properties": map[string]any{"size": "XL"}})
	if c := plan(s.World, 2, "-f", file); len(c[0].Differences) != 1 || c[0].Differences[0].Observed != `"XL"` {
		t.Errorf("the plan of a foreign change: %+v", c)
	}
	s.wantPuts(r, 2, "another tool changed the resource")
	s.wantPuts(r, 2, "the baseline has the value again")
	s.applyMore(r, "medium", "timeout: 1h", "--wait", "--timeout", "30s")
	s.wantPuts(r, 3, "the manifest changed")
}

// playNotTaken lets Azure accept a change and keep its own value. The condition
// reports it, and Armature does not write it again.
func playNotTaken(t *testing.T, s scenarios, r thing) {
	s.applyMore(r, "small", "timeout: 1h", "--wait", "--timeout", "30s")
	s.applyMore(r, "large", "timeout: 1h", "--wait", "--timeout", "60s")
	for range 2 {
		s.wantPuts(r, 2, "one per generation, none to repeat the change that Azure ignored")
	}
	status, err := s.Status(r.id())
	c := status.Condition
	if err != nil || !c.Ready || c.Reason != resource.ReasonChangeNotTaken || c.Severity != resource.SeverityWarning || !strings.Contains(c.Message, "properties.size") {
		t.Errorf("status %+v (%v), want Ready with the warning %s that names the path", status, err, resource.ReasonChangeNotTaken)
	}
	plan := s.MustCLI("plan", "-f", r.name+".yaml").Out
	if !strings.Contains(plan, "kept its own value of properties.size") {
		t.Errorf("the plan does not show the value that Azure kept:\n%s", plan)
	}
}

// playMisspelt creates an account with a property that its type does not have: Azure
// accepts it and does not show it, and the condition names the right one.
func playMisspelt(t *testing.T, s scenarios, r thing) {
	manifest := fmt.Sprintf(`type: Microsoft.Storage/storageAccounts@2023-05-01
name: e2emisspelt
owner: %s/resourceGroups/%s
body: {location: westus2, kind: StorageV2, sku: {name: Standard_LRS}, properties: {minimumTlsVerison: TLS1_2}}
reconcile: {validation: off, interval: 1h}
`, subscription, r.group)
	s.MustCLI("apply", "-f", s.Write(r.name+".yaml", manifest), "--wait", "--timeout", "60s")
	id := fmt.Sprintf("%s/resourceGroups/%s/providers/Microsoft.Storage/storageAccounts/e2emisspelt", subscription, r.group)
	status, err := s.Status(id)
	c := status.Condition
	if err != nil || !c.Ready || c.Reason != resource.ReasonChangeNotTaken || c.Severity != resource.SeverityWarning ||
		!strings.Contains(c.Message, "does not show properties.minimumTlsVerison (did you mean properties.minimumTlsVersion?)") {
		t.Errorf("status %+v (%v), want Ready with the warning %s that names both properties", c, err, resource.ReasonChangeNotTaken)
	}
}

// playPlanFile checks that a plan is applied exactly as shown, or refused.
func playPlanFile(t *testing.T, s scenarios, r thing) {
	s.applyMore(r, "small", "timeout: 1h", "--wait", "--timeout", "30s")
	file := s.Write(r.name+".yaml", r.manifest("medium"))
	if made := s.CLI("plan", "-f", file, "--out", "file.plan"); made.Code != 2 || !strings.Contains(made.Out, `properties.size: "small" -> "medium"`) {
		t.Fatalf("%s", made)
	}
	s.Sim.Patch(r.id(), map[string]any{"properties": map[string]any{"size": "XL"}})
	refused := s.CLI("apply", "--plan-file", "file.plan")
	if refused.Code != 1 || !strings.Contains(refused.Err, "is stale") || !strings.Contains(refused.Out, `"XL" -> "medium"`) {
		t.Errorf("want a refusal that shows the change: %s", refused)
	}
	if puts := s.Sim.Count(http.MethodPut, r.id()); puts != 1 {
		t.Errorf("%d PUTs after a refused plan", puts)
	}
	s.Sim.Patch(r.id(), map[string]any{"properties": map[string]any{"size": "small", "other": "changed too"}})
	s.MustCLI("apply", "--plan-file", "file.plan", "--wait", "--timeout", "30s")
	if now := stored(s.World, r.id()); len(now) != 1 || now[0].Body["properties"].(map[string]any)["size"] != "medium" || s.Sim.Count(http.MethodPut, r.id()) != 2 {
		t.Errorf("after the plan: %+v", now)
	}
	if second := s.CLI("apply", "--plan-file", "file.plan"); second.Code != 1 {
		t.Errorf("want the second apply of one plan refused: %s", second)
	}
}

// playObserve checks that policy observe reports drift and absence, writes nothing,
// and that a delete only stops managing.
func playObserve(t *testing.T, s scenarios, r thing, worker *harness.Worker) {
	refused := s.CLI("apply", "-f", s.Write("observed.yaml", strings.Replace(r.manifest("small"), "{interval", "{policy: observe, interval", 1)), "--wait", "--timeout", "30s")
	if refused.Code != 1 || !strings.Contains(refused.Out+refused.Err, "does not exist in Azure") {
		t.Errorf("an absent resource is reported: %s", refused)
	}
	body := map[string]any{"location": "westus2", "tags": map[string]any{"purpose": "e2e"}, "properties": map[string]any{"size": "small"}}
	s.Sim.Call(http.MethodPut, "/resources", map[string]any{"id": r.id(), "body": body}, nil)
	s.MustCLI("reconcile", r.id(), "--wait", "--timeout", "30s")
	s.Sim.Patch(r.id(), map[string]any{"properties": map[string]any{"size": "XL"}})
	s.CLI("reconcile", r.id(), "--wait", "--timeout", "30s")
	status, err := s.Status(r.id())
	if err != nil || status.Condition.Reason != resource.ReasonDriftDetected || status.Condition.Severity != resource.SeverityWarning ||
		len(status.Differences) != 1 || status.Differences[0].Path != "properties.size" {
		t.Errorf("status %+v (%v), want %s with the path", status, err, resource.ReasonDriftDetected)
	}
	if wait := time.Until(status.NextTry); wait < 40*time.Minute || wait > 80*time.Minute {
		t.Errorf("the next try is in %s, want about the interval of an hour", wait)
	}
	if _, metrics := worker.Get("/metrics"); !strings.Contains(metrics, `reason="DriftDetected"`) {
		t.Error("no metric counts the drift")
	}
	if c := plan(s.World, 0, "-f", "observed.yaml"); c[0].Reason != "DriftDetected" || len(c[0].Differences) != 1 {
		t.Errorf("the plan of an observed resource: %+v", c)
	}
	s.MustCLI("delete", r.id(), "--yes", "--wait", "--timeout", "30s")
	if requests := s.Sim.Counters().ByID[strings.ToLower(r.id())]; requests[http.MethodPut]+requests[http.MethodDelete] != 0 || len(stored(s.World, r.id())) != 1 {
		t.Errorf("policy observe wrote: %v", requests)
	}
}

// playProtect checks that a delete is refused with an explanation until another
// policy is applied.
func playProtect(t *testing.T, s scenarios, r thing) {
	s.applyMore(r, "small", "policy: protect", "--wait", "--timeout", "30s")
	refused := s.CLI("delete", r.id(), "--yes")
	if refused.Code != 1 || !strings.Contains(refused.Err, "1 resource is refused") {
		t.Errorf("want a refusal: %s", refused)
	}
	s.applyMore(r, "small", "policy: manage", "--wait", "--timeout", "30s")
	s.MustCLI("delete", r.id(), "--yes", "--wait", "--timeout", "60s")
	if s.Sim.Count(http.MethodDelete, r.id()) != 1 {
		t.Error("not deleted with policy manage")
	}
	s.UntilStatus(10*time.Second, r.id(), "is deleted", func(status workflows.Status) bool { return status.Deleted })
}
