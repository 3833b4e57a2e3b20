package workflows_test

import (
	"errors"
	"testing"
	"time"

	"github.com/armature-io/armature/activities"
	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/workflows"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/workflow"
)

// TestAWakeIsTakenBetweenSteps holds that the steps that follow a change know of
// it: what they read from before is too old.
func TestAWakeIsTakenBetweenSteps(t *testing.T) {
	r := newRun(t)
	get := r.script.get
	r.script.get = func(in activities.GetResourceInput) activities.GetResourceResult {
		if r.count("GetResource") == 1 {
			r.SignalWorkflow(workflows.WakeSignal, workflows.WakeInput{ID: mustID(group), State: "Ready", At: startTime})
		}
		return get(in)
	}
	var told []activities.Change
	post := r.script.post
	r.script.post = func(in activities.PostCheckInput) activities.PostCheckResult {
		if r.count("PostCheck") == 1 {
			told = in.Changes
		}
		return post(in)
	}
	r.apply(desired())
	r.start(time.Second)
	if len(told) != 1 || !told[0].At.Equal(startTime) {
		t.Errorf("the post-check of the pass is told of %v, want the change during its GET", told)
	}
}

// TestAWakeOfTheLastStepWantsAnotherPass holds that a change that came during the
// last step is not taken for one that a sleeping Ready resource need not know.
func TestAWakeOfTheLastStepWantsAnotherPass(t *testing.T) {
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
		t.Errorf("%d passes, want 2: the first read before the change", got)
	}
}

// TestContinueAsNewKeepsAWakeWhileItWaits holds that a signal is not lost that
// arrives while the end of a run waits for those whom it tells.
func TestContinueAsNewKeepsAWakeWhileItWaits(t *testing.T) {
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
	var next *workflow.ContinueAsNewError
	if err := r.GetWorkflowError(); !errors.As(err, &next) {
		t.Fatalf("ended with %v, want continue-as-new", err)
	}
	var input workflows.ReconcileResourceInput
	if err := converter.GetDefaultDataConverter().FromPayloads(next.Input, &input); err != nil {
		t.Fatal(err)
	}
	if known := input.State.Changes; len(known) != 1 {
		t.Errorf("the next run knows of the changes %v, want the one that came while the run ended", known)
	}
}
