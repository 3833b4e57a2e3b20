package e2e

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/armature-io/armature/dev/internal/harness"
	"github.com/armature-io/armature/dev/internal/testworker/gate"
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

// TestFreezeFailsClosed checks that a freeze is in force while no worker runs, and after its
// workflow was terminated, until unfreeze.
//
//guard:freeze
func TestFreezeFailsClosed(t *testing.T) {
	t.Parallel()
	w := harness.New(t, binaries, harness.Options{})
	s := scenarios{w}
	s.putGroup("closed")
	r := thing{group: "closed", name: "closed", interval: "1h"}
	if frozen := s.MustCLI("freeze", "--reason", "INC-43").Out; !strings.Contains(frozen, "frozen") {
		t.Fatalf("freeze without a worker printed %q", frozen)
	}
	// No worker starts the workflow again: the freeze is in force without it.
	w.StartWorker(harness.WorkerOptions{Binary: buildTestWorker(t), Env: []string{gate.FreezeVariable + "=1h"}})
	s.apply(r, "small")
	isFrozen := func(status workflows.Status) bool { return status.Condition.Reason == resource.ReasonFrozen }
	s.UntilStatus(30*time.Second, r.id(), "a freeze that was set without a worker holds it", isFrozen)
	if err := s.Client.TerminateWorkflow(t.Context(), workflows.FreezeWorkflowID, "", "e2e"); err != nil {
		t.Fatal(err)
	}
	<-time.After(3 * time.Second) // longer than a worker uses its last reading
	before, err := s.Status(r.id())
	if err != nil {
		t.Fatal(err)
	}
	s.MustCLI("reconcile", r.id())
	s.UntilStatus(30*time.Second, r.id(), "the terminated freeze holds it", func(status workflows.Status) bool {
		return status.Pass > before.Pass && isFrozen(status)
	})
	if shown := s.CLI("doctor"); !strings.Contains(shown.Out+shown.Err, "was terminated or failed") {
		t.Errorf("doctor does not name the terminated freeze:\n%s", shown)
	}
	s.MustCLI("freeze", "-l", "stack=other")
	if shown := s.MustCLI("get"); !strings.Contains(shown.Err, "INC-43") || !strings.Contains(shown.Err, "stack=other") {
		t.Errorf("a second freeze replaced the first one:\n%s", shown.Err)
	}
	if puts := s.Sim.Count(http.MethodPut, r.id()); puts != 0 {
		t.Errorf("%d PUTs while everything is frozen", puts)
	}
	s.MustCLI("unfreeze")
	s.Until(20*time.Second, "the PUT is sent after unfreeze", func() (bool, string) {
		s.MustCLI("reconcile", r.id())
		return s.Sim.Count(http.MethodPut, r.id()) == 1, "no PUT yet"
	})
}
