package workflows_test

import (
	"testing"
	"time"

	"github.com/armature-io/armature/activities"
	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/workflows"
)

// TestWakeBetweenSteps checks that the steps after a change receive it, because cached
// readings from before it are too old.
func TestWakeBetweenSteps(t *testing.T) {
	r := newRun(t)
	get := r.script.get
	r.script.get = func(in activities.GetResourceInput) activities.GetResourceResult {
		if r.count("GetResource") == 1 {
			r.SignalWorkflow(workflows.WakeSignal, workflows.WakeInput{ID: mustID(group), State: "Ready", At: startTime})
		}
		return get(in)
	}
	var changes []activities.Change
	post := r.script.post
	r.script.post = func(in activities.PostCheckInput) activities.PostCheckResult {
		if r.count("PostCheck") == 1 {
			changes = in.Changes
		}
		return post(in)
	}
	r.apply(desired())
	r.start(time.Second)
	if len(changes) != 1 || !changes[0].At.Equal(startTime) {
		t.Errorf("the post-check of the pass receives %v, want the change during its GET", changes)
	}
}

// TestWakeDuringLastStepRequestsPass checks that a change during the last step starts
// another pass, while a wake of an idle Ready resource starts none.
func TestWakeDuringLastStepRequestsPass(t *testing.T) {
	r := newRun(t)
	post := r.script.post
	r.script.post = func(in activities.PostCheckInput) activities.PostCheckResult {
		if r.count("PostCheck") == 1 {
			r.SignalWorkflow(workflows.WakeSignal, workflows.WakeInput{ID: mustID(group), State: "Ready", At: startTime})
		}
		return post(in)
	}
	r.apply(desired())
	r.start(time.Second)
	if got := r.count("CheckOwner"); got != 2 {
		t.Errorf("%d passes, want 2: the first one read before the change", got)
	}
}

// TestContinueAsNewKeepsWakeDuringNotification checks that a signal is not lost when it
// arrives while the end of a run notifies dependents.
func TestContinueAsNewKeepsWakeDuringNotification(t *testing.T) {
	r := newRun(t)
	r.script.post = func(activities.PostCheckInput) activities.PostCheckResult {
		r.SetContinueAsNewSuggested(true)
		return activities.PostCheckResult{Verdict: resource.Verdict{Action: resource.ActionSuccess, Reason: resource.ReasonSucceeded}}
	}
	r.script.wake = func(activities.WakeDependentsInput) error {
		r.SignalWorkflow(workflows.WakeSignal, workflows.WakeInput{ID: mustID(group), State: "Succeeded", At: startTime})
		return nil
	}
	r.apply(desired())
	r.start(0)
	input := nextRun[workflows.ReconcileResourceInput](t, r)
	if known := input.State.Changes; len(known) != 1 {
		t.Errorf("the next run has the changes %v, want the one that arrived while the run ended", known)
	}
}
