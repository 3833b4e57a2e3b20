package e2e

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/armature-io/armature/armsim"
	"github.com/armature-io/armature/dev/internal/harness"
	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/workflows"
)

// TestDrift holds what becomes of differences: those that Azure keeps by its own
// will, those that a policy only reports, and those that moved after a plan.
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
		"override": playOverride, "not-taken": playNotTaken, "plan-file": playPlanFile, "protect": playProtect,
		"observe": func(t *testing.T, s scenarios, r thing) { playObserve(t, s, r, worker) },
	} {
		s.putGroup(name)
		t.Run(name, func(t *testing.T) {
			play(t, scenarios{s.On(t)}, thing{group: name, name: name, interval: "1h"})
		})
	}
}

// recording is a PUT of one size that Azure answers with another.
func (r thing) recording(sent, shown string) armsim.Recording {
	body := func(size string) map[string]any {
		return map[string]any{"location": "westus2", "tags": map[string]any{"purpose": "e2e"}, "properties": map[string]any{"size": size}}
	}
	return armsim.Recording{ID: r.id(), PutBody: body(sent), PutResponse: body(shown), GetBody: body(shown)}
}

// wantPuts reconciles and counts the PUTs since the beginning.
func (s scenarios) wantPuts(r thing, want int, when string) {
	s.T.Helper()
	s.MustCLI("reconcile", r.id(), "--wait", "--timeout", "30s")
	if puts := s.Sim.Count(http.MethodPut, r.id()); puts != want {
		s.T.Errorf("%d PUTs, want %d: %s", puts, want, when)
	}
}

// playOverride: Azure stores another value than it was sent. That is written
// once and remembered, until somebody changes either side.
func playOverride(t *testing.T, s scenarios, r thing) {
	s.applyMore(r, "small", "timeout: 1h", "--wait", "--timeout", "30s")
	for range 3 {
		s.wantPuts(r, 1, "what Azure keeps is not fought")
	}
	file := r.name + ".yaml"
	for _, c := range plan(s.World, 0, "-f", file) {
		if c.Action != "none" {
			t.Errorf("the plan fights it: %+v", c)
		}
	}
	s.Sim.Patch(r.id(), map[string]any{"properties": map[string]any{"size": "XL"}})
	if c := plan(s.World, 2, "-f", file); len(c[0].Differences) != 1 || c[0].Differences[0].Observed != `"XL"` {
		t.Errorf("the plan of a foreign change: %+v", c)
	}
	s.wantPuts(r, 2, "somebody changed Azure's side")
	s.wantPuts(r, 2, "and it is remembered again")
	s.applyMore(r, "medium", "timeout: 1h", "--wait", "--timeout", "30s")
	s.wantPuts(r, 3, "somebody changed the manifest")
}

// playNotTaken: Azure accepts a change and keeps its own value. That is said, and
// not written again.
func playNotTaken(t *testing.T, s scenarios, r thing) {
	s.applyMore(r, "small", "timeout: 1h", "--wait", "--timeout", "30s")
	s.applyMore(r, "large", "timeout: 1h", "--wait", "--timeout", "60s")
	for range 2 {
		s.wantPuts(r, 2, "one for each spec, and no third for what Azure did not take")
	}
	status, err := s.Status(r.id())
	c := status.Condition
	if err != nil || !c.Ready || c.Reason != resource.ReasonChangeNotTaken || c.Severity != resource.SeverityWarning || !strings.Contains(c.Message, "properties.size") {
		t.Errorf("status %+v (%v), want Ready with the warning %s that names the path", status, err, resource.ReasonChangeNotTaken)
	}
	said := s.MustCLI("plan", "-f", r.name+".yaml").Out
	if !strings.Contains(said, "kept its own value of properties.size") {
		t.Errorf("the plan does not say what Azure did not take:\n%s", said)
	}
}

// playPlanFile: a plan is applied as it was shown, or not at all.
func playPlanFile(t *testing.T, s scenarios, r thing) {
	s.applyMore(r, "small", "timeout: 1h", "--wait", "--timeout", "30s")
	file := s.Write(r.name+".yaml", r.manifest("medium"))
	if made := s.CLI("plan", "-f", file, "--out", "file.plan"); made.Code != 2 || !strings.Contains(made.Out, `properties.size: "small" -> "medium"`) {
		t.Fatalf("%s", made)
	}
	s.Sim.Patch(r.id(), map[string]any{"properties": map[string]any{"size": "XL"}})
	refused := s.CLI("apply", "--plan-file", "file.plan")
	if refused.Code != 1 || !strings.Contains(refused.Err, "is stale") || !strings.Contains(refused.Out, `"XL" -> "medium"`) {
		t.Errorf("want a refusal that says what moved: %s", refused)
	}
	if puts := s.Sim.Count(http.MethodPut, r.id()); puts != 1 {
		t.Errorf("%d PUTs after a refused plan", puts)
	}
	s.Sim.Patch(r.id(), map[string]any{"properties": map[string]any{"size": "small", "other": "moved too"}})
	s.MustCLI("apply", "--plan-file", "file.plan", "--wait", "--timeout", "30s")
	if now := stored(s.World, r.id()); len(now) != 1 || now[0].Body["properties"].(map[string]any)["size"] != "medium" || s.Sim.Count(http.MethodPut, r.id()) != 2 {
		t.Errorf("after the plan: %+v", now)
	}
	if again := s.CLI("apply", "--plan-file", "file.plan"); again.Code != 1 {
		t.Errorf("a plan is applied once: %s", again)
	}
}

// playObserve: drift and absence are reported, nothing is written, and a delete
// lets go.
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
		t.Errorf("the next look is in %s, want about the interval of an hour", wait)
	}
	if _, metrics := worker.Get("/metrics"); !strings.Contains(metrics, `reason="DriftDetected"`) {
		t.Error("no metric counts the drift")
	}
	if c := plan(s.World, 0, "-f", "observed.yaml"); c[0].Reason != "DriftDetected" || len(c[0].Differences) != 1 {
		t.Errorf("the plan of what is observed: %+v", c)
	}
	s.MustCLI("delete", r.id(), "--yes", "--wait", "--timeout", "30s")
	if requests := s.Sim.Counters().ByID[strings.ToLower(r.id())]; requests[http.MethodPut]+requests[http.MethodDelete] != 0 || len(stored(s.World, r.id())) != 1 {
		t.Errorf("observing wrote: %v", requests)
	}
}

// playProtect: a delete is refused with a sentence, until another policy is
// applied.
func playProtect(t *testing.T, s scenarios, r thing) {
	s.applyMore(r, "small", "policy: protect", "--wait", "--timeout", "30s")
	refused := s.CLI("delete", r.id(), "--yes")
	if refused.Code != 1 || !strings.Contains(refused.Err, "is protected (policy protect)") {
		t.Errorf("want a refusal: %s", refused)
	}
	s.applyMore(r, "small", "policy: manage", "--wait", "--timeout", "30s")
	s.MustCLI("delete", r.id(), "--yes", "--wait", "--timeout", "60s")
	if s.Sim.Count(http.MethodDelete, r.id()) != 1 {
		t.Error("with policy manage it is not deleted")
	}
	s.UntilStatus(10*time.Second, r.id(), "is deleted", func(status workflows.Status) bool { return status.Deleted })
}
