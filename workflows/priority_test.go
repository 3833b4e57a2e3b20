package workflows_test

import (
	"errors"
	"testing"
	"time"

	"github.com/armature-io/armature/internal/testonly/scheduled"
	"github.com/google/go-cmp/cmp"
	"go.temporal.io/sdk/interceptor"
	"go.temporal.io/sdk/worker"
)

// A user who waits comes before wakes and retries, and these before routine looks.
func TestPriorities(t *testing.T) {
	recorded := &scheduled.Recorder{}
	r := newRun(t)
	r.SetWorkerOptions(worker.Options{Interceptors: []interceptor.WorkerInterceptor{recorded}})
	r.script.look = errors.New("it is deferred")
	r.apply(desired())
	// The interval of desired is an hour: the next pass after the apply is routine.
	r.statusAt(100 * time.Minute)
	r.start(101 * time.Minute)
	var priorities []int
	for _, activity := range recorded.Seen("GetResource") {
		priorities = append(priorities, activity.Priority.PriorityKey)
	}
	if diff := cmp.Diff([]int{2, 4}, priorities); diff != "" {
		t.Errorf("priorities of GetResource after an apply and after an interval (-want +got):\n%s", diff)
	}
}
