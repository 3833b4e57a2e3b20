package e2e

import (
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/armature-io/armature/dev/internal/harness"
	"github.com/armature-io/armature/dev/internal/testworker/gate"
	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/workflows"
)

// TestPlanSettings changes what a manifest states beside its body: the plan shows it and
// exits with 2, the apply writes nothing to Azure, and the next plan is in sync.
func TestPlanSettings(t *testing.T) {
	t.Parallel()
	w := harness.New(t, binaries, harness.Options{})
	w.StartWorker(harness.WorkerOptions{})
	s := scenarios{w}
	r := s.start(t, "settings", "1h")
	before := w.Sim.Count(http.MethodPut, r.id())
	changed := w.Write("changed.yaml", strings.Replace(r.manifest("small"), "reconcile: {", "labels: {team: data}\nreconcile: {policy: protect, ", 1))
	planned := w.CLI("plan", "-f", changed)
	for _, line := range []string{
		"* example thing settings  configure: ", "    labels.team: absent -> \"data\"  (setting)\n", "    reconcile.policy: \"manage\" -> \"protect\"  (setting)\n", "Plan: 1 to configure, 0 in sync.",
	} {
		if planned.Code != 2 || !strings.Contains(planned.Out, line) {
			t.Errorf("want %q in %s", line, planned)
		}
	}
	file := filepath.Join(w.Folder, "settings.plan")
	if result := w.CLI("plan", "-f", changed, "--out", file); result.Code != 2 {
		t.Fatalf("want exit code 2 of %s", result)
	}
	w.MustCLI("apply", "--plan-file", file, "--wait", "--timeout", "30s")
	if puts := w.Sim.Count(http.MethodPut, r.id()); puts != before {
		t.Errorf("%d PUTs after %d: an apply of settings writes nothing", puts, before)
	}
	plan(w, 0, "-f", changed)
}

// TestSupersededApply applies a spec while the one of another apply waits to be sent: the
// earlier one ends when the later spec is Ready, and its document names that one.
func TestSupersededApply(t *testing.T) {
	t.Parallel()
	w := harness.New(t, binaries, harness.Options{})
	s := scenarios{w}
	s.putGroup("two")
	r := thing{group: "two", name: "two", interval: "1h"}
	w.StartWorker(harness.WorkerOptions{
		Binary: buildTestWorker(t), Env: []string{gate.StepVariable + "=" + gate.Write, gate.FolderVariable + "=" + filepath.Join(w.Folder, "gate")},
	})
	s.apply(r, "small")
	s.UntilPhase(30*time.Second, r.id(), workflows.PhaseReady)
	hold := w.Write(filepath.Join("gate", gate.HoldFile), "")
	medium := w.Write("medium.yaml", r.manifest("medium"))
	ended := make(chan harness.Result, 1)
	go func() {
		defer close(ended)
		ended <- w.CLI("apply", "-f", medium, "--wait", "--timeout", "90s", "-o", "json")
	}()
	t.Cleanup(func() { <-ended }) // a test that failed may not have waited
	w.Until(30*time.Second, "the worker is about to send the PUT", func() (bool, string) {
		return w.Exists(filepath.Join("gate", gate.ReachedWrite(http.MethodPut))), ""
	})
	s.apply(r, "large")
	if err := os.Remove(filepath.Join(w.Folder, "gate", filepath.Base(hold))); err != nil {
		t.Fatal(err)
	}
	result := <-ended
	var document struct {
		Resources []struct {
			ID, Name, Result string
			Generation       int64
			Condition        *resource.Condition
			SupersededBy     *struct {
				Generation int64
				By         string
			}
		}
	}
	if err := json.Unmarshal([]byte(result.Out), &document); err != nil || result.Code != 0 || len(document.Resources) != 1 {
		t.Fatalf("%v of %s", err, result)
	}
	got := document.Resources[0]
	if !strings.EqualFold(got.ID, r.id()) || got.Result != "configured" || got.Generation != 2 || got.Condition == nil || !got.Condition.Ready || got.Condition.ObservedGeneration != 3 {
		t.Errorf("got %+v", got)
	}
	if by := got.SupersededBy; by == nil || by.Generation != 3 || !strings.Contains(by.By, "@") {
		t.Errorf("superseded by %+v", by)
	}
	if !strings.Contains(result.Err, "generation 2 was superseded: generation 3 by ") {
		t.Errorf("the progress does not name the later apply: %s", result)
	}
}
