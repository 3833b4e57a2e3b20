package workflows_test

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/armature-io/armature/activities"
	"github.com/armature-io/armature/workflows"
	"go.temporal.io/sdk/activity"

	"github.com/stretchr/testify/mock"
)

// locals records the names of the local activities.
func (r *run) locals() func() []string {
	var mu sync.Mutex
	var names []string
	r.SetOnLocalActivityStartedListener(func(info *activity.Info, _ context.Context, _ []any) {
		mu.Lock()
		defer mu.Unlock()
		names = append(names, info.ActivityType.Name)
	})
	return func() []string {
		mu.Lock()
		defer mu.Unlock()
		return slices.Clone(names)
	}
}

// existing returns the input of a run that knows that its resource exists: its first read is
// an activity, not part of the workflow task.
func existing() workflows.ReconcileResourceInput {
	return workflows.ReconcileResourceInput{State: &workflows.State{Known: workflows.Known{Seen: true}}}
}

// Only the first read of a resource is part of the workflow task: a pass in sync keeps its
// commands.
func TestLaterReadsAreActivities(t *testing.T) {
	r := newRun(t)
	locals := r.locals()
	r.apply(desired())
	r.start(10 * time.Hour)
	n := 0
	for _, name := range locals() {
		if name == "GetResource" {
			n++
		}
	}
	if n != 1 || r.count("GetResource") < 8 {
		t.Errorf("%d of %d reads are local, want the first one", n, r.count("GetResource"))
	}
}

// A first read that fails within the workflow task is made by an activity, which Temporal
// retries.
func TestFirstReadFails(t *testing.T) {
	r := newRun(t)
	r.OnActivity("GetResource", mock.Anything, mock.Anything).Return(activities.GetResourceResult{}, errors.New("connection reset")).Once()
	r.OnActivity("GetResource", mock.Anything, mock.Anything).Return(present(), nil)
	status := r.statusAt(time.Minute)
	r.apply(desired())
	r.start(2 * time.Minute)
	if !status.Condition.Ready || status.Pass != 1 {
		t.Errorf("after a failed first read: %+v, want Ready in the first pass", status.Condition)
	}
}
