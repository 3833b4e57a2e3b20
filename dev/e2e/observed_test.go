package e2e

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/armature-io/armature/armsim"
	"github.com/armature-io/armature/dev/internal/harness"
	"github.com/armature-io/armature/internal/audit"
	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/workflows"
)

// labeled returns the manifest of a thing with a label.
func labeled(r thing, stack string) string {
	return r.manifest("small") + "labels: {stack: " + stack + "}\n"
}

// TestObserved observes a stack by the setting of the worker while other tools change it, and then
// runs a worker without the setting: the corrections that this one sends are those of the report.
// A stack beside it is corrected all the time, and a deletion of an observed resource is refused.
func TestObserved(t *testing.T) {
	t.Parallel()
	w := harness.New(t, binaries, harness.Options{})
	s := scenarios{w}
	s.putGroup("observed")
	things := map[string]thing{}
	for name, stack := range map[string]string{"one": "crowd", "two": "crowd", "gone": "crowd", "same": "crowd", "quiet": "quiet"} {
		things[name] = thing{group: "observed", name: name, interval: "1h"}
		w.Write("stack/"+name+".yaml", labeled(things[name], stack))
	}
	worker := w.StartWorker(harness.WorkerOptions{})
	w.MustCLI("apply", "-f", "stack", "--wait", "--timeout", "60s")
	worker.Stop()
	worker = w.StartWorker(harness.WorkerOptions{Env: []string{"ARMATURE_OBSERVE=stack=crowd;stack=other"}})
	if log := worker.Log(); !strings.Contains(log, "only observed") || !strings.Contains(log, "stack=crowd;stack=other") {
		t.Errorf("the log does not name the setting:\n%s", log)
	}
	bob := armsim.Author{Name: "bob@contoso.com", Type: "User", Client: "Azure CLI"}
	patchAs(w, bob, things["one"].id(), map[string]any{"tags": map[string]any{"purpose": "mine"}, "properties": map[string]any{"size": "large"}})
	patchAs(w, bob, things["two"].id(), map[string]any{"properties": map[string]any{"size": "huge"}})
	patchAs(w, bob, things["quiet"].id(), map[string]any{"properties": map[string]any{"size": "large"}})
	w.Sim.Call(http.MethodDelete, "/resources?id="+things["gone"].id(), nil, nil)
	w.Sim.Reset()
	w.MustCLI("reconcile", "-l", "stack=quiet", "--wait", "--timeout", "60s")
	w.MustCLI("reconcile", "-l", "stack=crowd")
	for _, name := range []string{"one", "two", "gone"} {
		status := w.UntilStatus(time.Minute, things[name].id(), "reports drift", func(status workflows.Status) bool {
			return status.Condition.Reason == resource.ReasonDriftDetected
		})
		if want := "observed by the worker's setting observe: stack=crowd; nothing is changed"; !strings.Contains(status.Condition.Message, want) {
			t.Errorf("%s: condition %q, want %q", name, status.Condition.Message, want)
		}
	}
	for _, command := range [][]string{{"why", things["one"].id()}, {"describe", things["one"].id()}, {"drift", things["one"].id()}, {"doctor"}} {
		if text := w.CLI(command...).Out; !strings.Contains(text, "stack=crowd") {
			t.Errorf("%s does not name the setting:\n%s", command[0], text)
		}
	}
	refused := w.CLI("delete", things["two"].id(), "--yes")
	if refused.Code == 0 || !strings.Contains(refused.Out+refused.Err, "the worker's setting observe: stack=crowd") {
		t.Errorf("a deletion of an observed resource: %s", refused)
	}
	for name, r := range things {
		writes := w.Sim.Count(http.MethodPut, r.id()) + w.Sim.Count(http.MethodPatch, r.id()) + w.Sim.Count(http.MethodDelete, r.id())
		if want := map[string]int{"quiet": 1}[name]; writes != want {
			t.Errorf("%d writes of %s, want %d", writes, name, want)
		}
	}
	reported := reportedCorrections(t, w)
	t.Log(w.MustCLI("observed", "--since", "1h").Out)
	worker.Stop()

	promoted := time.Now().UTC().Format(time.RFC3339Nano)
	w.StartWorker(harness.WorkerOptions{})
	w.MustCLI("reconcile", "-l", "stack=crowd", "--wait", "--timeout", "60s")
	if diff := cmp.Diff(reported, sentCorrections(t, w, promoted)); diff != "" {
		t.Errorf("the corrections that were sent are not those of the report (-reported +sent):\n%s", diff)
	}
	if len(reported) != 4 {
		t.Errorf("%d corrections, want 4: %v", len(reported), reported)
	}
}

// reportedCorrections returns the resources and paths of the report about the observed stack, and
// checks its counts.
func reportedCorrections(t *testing.T, w *harness.World) []string {
	t.Helper()
	var report struct {
		Summary   map[string]int
		Resources []struct {
			ID          resource.ID
			Corrections []struct{ Path, Observed, Desired string }
		}
	}
	if err := json.Unmarshal([]byte(w.MustCLI("observed", "-l", "stack=crowd", "--since", "1h", "-o", "json").Out), &report); err != nil {
		t.Fatal(err)
	}
	want := map[string]int{"observed": 4, "unchanged": 1, "corrected": 3, "undecided": 0, "notCompared": 0, "enforced": 0}
	if diff := cmp.Diff(want, report.Summary); diff != "" {
		t.Errorf("the counts of the report (-want +got):\n%s", diff)
	}
	var found []string
	for _, r := range report.Resources {
		for _, c := range r.Corrections {
			found = append(found, fmt.Sprintf("%s %s %s -> %s", r.ID.Short(), c.Path, c.Observed, c.Desired))
		}
	}
	slices.Sort(found)
	return found
}

// sentCorrections returns the resources and paths of the writes that Azure accepted since a time;
// a creation has no path.
func sentCorrections(t *testing.T, w *harness.World, since string) []string {
	t.Helper()
	var records []audit.Record
	if err := json.Unmarshal([]byte(w.MustCLI("history", "-l", "stack=crowd", "--since", since, "-o", "json").Out), &records); err != nil {
		t.Fatal(err)
	}
	var found []string
	for _, record := range records {
		if record.Event != audit.EventWrite || record.Result != audit.ResultAccepted {
			continue
		}
		id, err := resource.ParseID(record.ID)
		if err != nil {
			t.Fatal(err)
		}
		if len(record.Differences) == 0 {
			found = append(found, id.Short()+"   -> ")
		}
		for _, d := range record.Differences {
			found = append(found, fmt.Sprintf("%s %s %s -> %s", id.Short(), d.Path, d.Observed, d.Desired))
		}
	}
	slices.Sort(found)
	return found
}
