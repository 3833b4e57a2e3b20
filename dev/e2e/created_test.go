package e2e

import (
	"net/http"
	"testing"
	"time"

	"github.com/armature-io/armature/armsim"
	"github.com/armature-io/armature/dev/internal/harness"
	"github.com/armature-io/armature/dev/internal/histories"
	"github.com/armature-io/armature/workflows"
)

// localActivities counts the local activities of a resource's run by name.
func localActivities(w *harness.World, id string) map[string]int {
	w.T.Helper()
	names := map[string]int{}
	for _, event := range w.History(id).GetEvents() {
		if name := histories.LocalActivity(event); name != "" {
			names[name]++
		}
	}
	return names
}

// TestRecordCreated records creations with an operation: of a resource that nothing waits
// for, and of one that a child waits for, which is notified as before.
func TestRecordCreated(t *testing.T) {
	t.Parallel()
	w := harness.New(t, binaries, harness.Options{})
	w.Sim.Call(http.MethodPost, "/operations", armsim.OperationRule{
		On: "put", Spec: armsim.OperationSpec{Shape: armsim.ShapeAsync, Polls: 2, RetryAfter: []float64{60}},
	}, nil)
	w.StartWorker(harness.WorkerOptions{})
	s := scenarios{w}
	alone := thing{group: "created", name: "created", interval: "1h"}
	s.putGroup(alone.group)
	s.apply(alone, "small")
	s.UntilPhase(30*time.Second, alone.id(), workflows.PhaseReady)
	w.UntilWoken(alone.id())
	if names := localActivities(w, alone.id()); names["GetResource"] != 1 || names["WakeLater"] != 1 {
		t.Errorf("local activities %v, want the first read and the later wake\n%s", names, w.HistoryLines(alone.id()))
	}
	w.Record(alone.id(), "created")

	awaited := thing{group: alone.group, name: "awaited", interval: "1h"}
	child := thing{group: alone.group, name: "child", interval: "1h"}
	s.applyMore(child, "small", "dependsOn: ["+awaited.id()+"@2024-01-01]")
	s.UntilStatus(30*time.Second, child.id(), "waits", func(status workflows.Status) bool {
		return status.Phase == workflows.PhaseBlocked && len(status.WaitingFor) == 1
	})
	s.apply(awaited, "small")
	s.UntilPhase(30*time.Second, awaited.id(), workflows.PhaseReady)
	w.UntilWoken(awaited.id())
	if names := localActivities(w, awaited.id()); names["WakeLater"] != 0 {
		t.Errorf("local activities %v: a resource that is awaited notifies by an activity", names)
	}
	s.UntilPhase(30*time.Second, child.id(), workflows.PhaseReady)
	w.Record(awaited.id(), "created-awaited")
}
