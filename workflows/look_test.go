package workflows_test

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/armature-io/armature/activities"
	"github.com/armature-io/armature/resource"
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

// countLooks counts the local activities GetResource.
func countLooks(locals func() []string) int {
	return len(slices.DeleteFunc(locals(), func(name string) bool { return name != "GetResource" }))
}

// existing returns the input of a run that knows that its resource exists, and not that it is
// Ready: its first read is an activity, not part of the workflow task.
func existing() workflows.ReconcileResourceInput {
	return workflows.ReconcileResourceInput{State: &workflows.State{Known: workflows.Known{Seen: true}}}
}

// The first read of a resource, and the reads of its passes while it is Ready, are looks.
func TestLooks(t *testing.T) {
	r := newRun(t)
	locals := r.locals()
	r.apply(desired())
	r.RegisterDelayedCallback(func() {
		if all := r.count("GetResource"); countLooks(locals) != all || all < 8 {
			t.Errorf("%d of %d reads are looks, want all", countLooks(locals), all)
		}
		r.script.post = func(activities.PostCheckInput) activities.PostCheckResult {
			return activities.PostCheckResult{Verdict: resource.Block(resource.ReasonCheckFailed, "it starts")}
		}
	}, 10*time.Hour)
	r.RegisterDelayedCallback(func() {
		if all := r.count("GetResource"); countLooks(locals) >= all-2 {
			t.Errorf("%d of %d reads are looks, want activities while it is not Ready", countLooks(locals), all)
		}
	}, 20*time.Hour)
	r.start(21 * time.Hour)
}

// The read after a PUT is a look, whoever requested the pass.
func TestReadAfterPutIsLook(t *testing.T) {
	r := newRun(t)
	locals := r.locals()
	r.script.pre = create
	r.input = existing()
	r.apply(desired())
	r.start(10 * time.Minute)
	if n, all := countLooks(locals), r.count("GetResource"); n != 1 || all != 2 {
		t.Errorf("%d of %d reads are looks, want the second of two", n, all)
	}
}

// A read that a user requested of a resource that is Ready is a look. If that fails, an activity
// follows, which the priority orders.
func TestRequestedReadIsLook(t *testing.T) {
	r := newRun(t)
	locals := r.locals()
	r.apply(desired())
	r.at(10*time.Minute, workflows.ReconcileUpdate, workflows.ReconcileInput{})
	r.start(20 * time.Minute)
	if n := countLooks(locals); n != 2 || r.count("GetResource") != 2 {
		t.Errorf("%d of %d reads are looks, want both", n, r.count("GetResource"))
	}
}

// A look that fails, in a creation and in a routine pass, is followed by the ordinary read of
// the same pass.
func TestLookIsDeferred(t *testing.T) {
	r := newRun(t)
	r.script.look = errDeferred
	status := r.statusAt(9 * time.Hour)
	r.apply(desired())
	r.start(10 * time.Hour)
	if !status.Condition.Ready || int64(r.count("GetResource")) < status.Pass {
		t.Errorf("%d reads in %d passes, condition %+v", r.count("GetResource"), status.Pass, status.Condition)
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
