package e2e

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/armature-io/armature/armsim"
	"github.com/armature-io/armature/dev/internal/harness"
	"github.com/armature-io/armature/workflows"
)

// TestRecordReplace changes a property that Azure sets only at the creation: the resource is
// left alone until a user approves that it is deleted and created again.
//
//guard:replacing-needs-a-user
func TestRecordReplace(t *testing.T) {
	t.Parallel()
	w := harness.New(t, binaries, harness.Options{})
	w.StartWorker(harness.WorkerOptions{})
	s := scenarios{w}
	s.putGroup("replace")
	r := thing{group: "replace", name: "replaced", interval: "1h"}
	s.applyMore(r, "small", "recreate: on-immutable", "--wait", "--timeout", "30s")
	s.Sim.Call(http.MethodPost, "/faults", armsim.Fault{
		Path: r.id(), Method: http.MethodPut, Status: http.StatusConflict, Count: 2,
		Code: "PropertyChangeNotAllowed", Message: "Changing property 'size' is not allowed.",
	}, nil)
	s.applyMore(r, "large", "recreate: on-immutable")
	s.UntilStatus(30*time.Second, r.id(), "Azure refuses the change", func(status workflows.Status) bool {
		return status.Condition.Reason == "PropertyChangeNotAllowed" && strings.Contains(status.Condition.Message, "armature reconcile --recreate")
	})
	if deletes := s.Sim.Count(http.MethodDelete, r.id()); deletes != 0 {
		t.Fatalf("%d DELETEs without an approval", deletes)
	}
	s.MustCLI("reconcile", "--recreate", r.id(), "--wait", "--timeout", "60s")
	deletes, found := s.Sim.Count(http.MethodDelete, r.id()), stored(w, r.id())
	if deletes != 1 || len(found) != 1 || !strings.Contains(fmt.Sprint(found[0].Body), "size:large") {
		t.Errorf("%d DELETEs and %+v, want one and the new size", deletes, found)
	}
	w.Record(r.id(), "replace")
}
