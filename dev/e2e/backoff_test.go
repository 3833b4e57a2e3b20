package e2e

import (
	"testing"
	"time"

	"github.com/armature-io/armature/dev/internal/harness"
	"github.com/armature-io/armature/workflows"
)

// TestRecordBackoff plays a reconcile amid growing waits: they begin anew.
func TestRecordBackoff(t *testing.T) {
	t.Parallel()
	w := harness.New(t, binaries, harness.Options{})
	w.StartWorker(harness.WorkerOptions{})
	s := scenarios{w}
	r := thing{group: "late", name: "backoff", interval: "1h"}
	s.apply(r, "small")
	s.UntilStatus(60*time.Second, r.id(), "waits for its group", func(status workflows.Status) bool { return status.Attempts >= 4 })
	s.MustCLI("reconcile", r.id())
	s.UntilStatus(10*time.Second, r.id(), "began anew", func(status workflows.Status) bool {
		return status.Attempts < 4 && status.Phase == workflows.PhaseBlocked
	})
	s.putGroup("late")
	s.UntilPhase(60*time.Second, r.id(), workflows.PhaseReady)
	s.Record(r.id(), "backoff-restarted")
}
