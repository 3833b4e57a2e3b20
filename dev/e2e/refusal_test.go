package e2e

import (
	"net/http"
	"testing"
	"time"

	"github.com/armature-io/armature/armsim"
	"github.com/armature-io/armature/dev/internal/harness"
	"github.com/armature-io/armature/workflows"
)

// refused makes ARM refuse every PUT of a thing for good.
func (s scenarios) refused(r thing) {
	s.Sim.Call(http.MethodPost, "/faults", armsim.Fault{
		ID: r.name, Method: http.MethodPut, Path: r.id(), Status: http.StatusBadRequest,
		Code: "InvalidRequestContent", Message: "The request content was invalid.",
	}, nil)
}

// mended creates a thing as another tool would.
func (s scenarios) mended(r thing) {
	s.Sim.Call(http.MethodPut, "/resources", map[string]any{"id": r.id(), "body": map[string]any{
		"location": "westus2", "tags": map[string]any{"purpose": "e2e"}, "properties": map[string]any{"size": "small"},
	}}, nil)
}

// TestRecordRefusal plays a PUT that ARM refuses for good: only readings follow, and
// what another tool mends becomes Ready.
//
//guard:severity-error-stops-puts
func TestRecordRefusal(t *testing.T) {
	t.Parallel()
	w := harness.New(t, binaries, harness.Options{})
	w.StartWorker(harness.WorkerOptions{})
	s := scenarios{w}
	s.putGroup("refused")
	r := thing{group: "refused", name: "reread", interval: "1h"}
	s.refused(r)
	s.apply(r, "small")
	s.UntilPhase(20*time.Second, r.id(), workflows.PhaseFailed)
	s.SetInterval(s.Write("reread.yaml", r.manifest("small")), 3*time.Second)
	s.UntilStatus(60*time.Second, r.id(), "was read five times", func(status workflows.Status) bool { return status.Pass >= 7 })
	// The first generation and the one with another interval are a PUT each.
	if puts := s.Sim.Count(http.MethodPut, r.id()); puts != 2 {
		t.Errorf("%d PUTs, want one for each generation", puts)
	}
	s.mended(r)
	s.UntilPhase(20*time.Second, r.id(), workflows.PhaseReady)
	if puts := s.Sim.Count(http.MethodPut, r.id()); puts != 2 {
		t.Errorf("%d PUTs, want none after it was mended", puts)
	}
	s.Record(r.id(), "reread")
}
