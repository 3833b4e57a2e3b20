package e2e

import (
	"testing"
	"time"

	"github.com/armature-io/armature/dev/internal/harness"
	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/workflows"
)

// TestRecordListed records a run that writes what lists show of it: blocked at first, then
// created, then paused.
func TestRecordListed(t *testing.T) {
	t.Parallel()
	w := harness.New(t, binaries, harness.Options{})
	w.StartWorker(harness.WorkerOptions{})
	s := scenarios{w}
	r := thing{group: "listed", name: "listed", interval: "1h"}
	s.apply(r, "small")
	s.UntilStatus(30*time.Second, r.id(), "waits for its group", func(status workflows.Status) bool {
		return status.Phase == workflows.PhaseBlocked && status.Condition.Reason != resource.ReasonReconciling
	})
	s.putGroup("listed")
	s.MustCLI("reconcile", r.id(), "--wait", "--timeout", "60s")
	s.MustCLI("pause", r.id())
	s.UntilPhase(30*time.Second, r.id(), workflows.PhasePaused)
	w.Record(r.id(), "listed")
}
