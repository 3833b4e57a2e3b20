package e2e

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/armature-io/armature/dev/internal/harness"
	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/workflows"
)

// TestFreeze freezes a fleet of two workers and restarts both: nothing is written,
// reads continue, and get shows why.
func TestFreeze(t *testing.T) {
	t.Parallel()
	w := harness.New(t, binaries, harness.Options{})
	first, second := w.StartWorker(harness.WorkerOptions{}), w.StartWorker(harness.WorkerOptions{})
	s := scenarios{w}
	s.putGroup("freeze")
	r := thing{group: "freeze", name: "frozen", interval: "1h"}
	s.applyMore(r, "small", "timeout: 1h", "--wait", "--timeout", "30s")
	s.MustCLI("freeze", "--reason", "INC-42")
	s.Sim.Patch(r.id(), map[string]any{"properties": map[string]any{"size": "large"}})
	first.Kill()
	second.Kill()
	w.StartWorker(harness.WorkerOptions{})
	w.StartWorker(harness.WorkerOptions{})
	s.MustCLI("reconcile", r.id())
	status := s.UntilStatus(30*time.Second, r.id(), "is frozen", func(status workflows.Status) bool {
		return status.Condition.Reason == resource.ReasonFrozen
	})
	if len(status.Differences) == 0 || !strings.Contains(status.Condition.Message, "INC-42") || status.NextTry.IsZero() {
		t.Errorf("status %+v, want the drift, the reason of the freeze, and a next try", status)
	}
	if shown := s.MustCLI("get"); !strings.Contains(shown.Err, "frozen: everything") || !strings.Contains(shown.Out, "Frozen") {
		t.Errorf("get prints\n%s%s", shown.Out, shown.Err)
	}
	s.MustCLI("delete", r.id(), "--yes")
	s.UntilStatus(30*time.Second, r.id(), "a deletion is frozen too", func(status workflows.Status) bool {
		return status.Deleting && status.Condition.Reason == resource.ReasonFrozen
	})
	if puts, deletes := s.Sim.Count(http.MethodPut, r.id()), s.Sim.Count(http.MethodDelete, r.id()); puts != 1 || deletes != 0 {
		t.Errorf("%d PUTs and %d DELETEs, want the PUT of the creation alone", puts, deletes)
	}
	s.MustCLI("unfreeze")
	s.Until(10*time.Second, "the workers know the end of the freeze", func() (bool, string) {
		s.MustCLI("reconcile", r.id())
		return s.Sim.Count(http.MethodDelete, r.id()) == 1, "no DELETE yet"
	})
	s.MustCLI("wait", r.id(), "--for", "deleted", "--timeout", "30s")
}
