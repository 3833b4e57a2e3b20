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

// TestWakeDuringLastStep checks after which changes during the last step another pass follows.
func TestWakeDuringLastStep(t *testing.T) {
	for name, c := range map[string]struct {
		reason string
		state  string
		spec   func(*resource.Desired)
		blocks bool
		want   int
	}{
		"changed": {reason: "the first pass read before the change", state: "Succeeded", want: 2},
		"Ready":   {reason: "a Ready resource needs nothing of an owner that became Ready", state: "Ready", want: 1},
		"Ready, used": {reason: "the value may be another one now", state: "Ready", want: 2, spec: func(d *resource.Desired) {
			d.References = []resource.Reference{{ID: mustID(group)}}
		}},
		"Ready, waits": {reason: "the resource may have waited for it", state: "Ready", blocks: true, want: 2},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRun(t)
			post := r.script.post
			r.script.post = func(in activities.PostCheckInput) activities.PostCheckResult {
				result := post(in)
				if r.count("PostCheck") == 1 {
					r.SignalWorkflow(workflows.WakeSignal, workflows.WakeInput{ID: mustID(group), State: c.state, At: startTime})
					if c.blocks {
						result.Verdict = resource.Block(resource.ReasonCheckFailed, "it starts")
					}
				}
				return result
			}
			spec := desired()
			if c.spec != nil {
				c.spec(&spec)
			}
			r.apply(spec)
			r.start(time.Second)
			if got := r.count("CheckOwner"); got != c.want {
				t.Errorf("%d passes, want %d: %s", got, c.want, c.reason)
			}
		})
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
