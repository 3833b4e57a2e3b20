package workflows_test

import (
	"testing"
	"time"

	"github.com/armature-io/armature/activities"
	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/workflows"
	"github.com/google/go-cmp/cmp"
	"go.temporal.io/sdk/temporal"
)

// TestFreed holds who tells that somebody else's operation on a resource is over:
// the first that waited for it and found it free, and only him.
func TestFreed(t *testing.T) {
	owner := mustID(group)
	held := func() resource.Verdict {
		verdict := resource.Block(resource.ReasonReconciliationBlocked, "it is Updating")
		verdict.WaitingFor = []resource.ID{owner}
		return verdict
	}
	cases := map[string]struct {
		reason string
		// checks are the verdicts of the owner check, pass by pass; the last repeats.
		checks []resource.Verdict
		// told is when another one told of the owner; 0 is never.
		told time.Duration
		// again asks for another pass later.
		again bool
		// free is whether the check calls what it was held by free.
		free bool
		want []string
	}{
		"found":    {reason: "the others wait for their next try", checks: []resource.Verdict{held(), resource.Proceed("")}, free: true, want: []string{"free"}},
		"once":     {reason: "a later pass has nothing to tell", checks: []resource.Verdict{held(), resource.Proceed(""), resource.Proceed("")}, again: true, free: true, want: []string{"free"}},
		"still":    {reason: "each try of a long wait tells nothing", checks: []resource.Verdict{held(), held(), held(), resource.Proceed("")}, free: true, want: []string{"free"}},
		"not ours": {reason: "the owner's own workflow tells", checks: []resource.Verdict{held(), resource.Proceed("")}},
		"told":     {reason: "who was told need not tell", checks: []resource.Verdict{held(), resource.Proceed("")}, told: 500 * time.Millisecond, free: true},
		"at once":  {reason: "who never waited has nothing to tell", checks: []resource.Verdict{resource.Proceed("")}, free: true},
		"unread": {
			reason: "a try that could not read the owner ends no wait",
			checks: []resource.Verdict{held(), resource.Fail("TooManyRequests", resource.RetryFast, "429"), resource.Proceed("")}, free: true, want: []string{"free"},
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			r := newRun(t)
			r.script.owner = func(in activities.CheckOwnerInput) activities.CheckOwnerResult {
				result := activities.CheckOwnerResult{Verdict: c.checks[min(r.count("CheckOwner"), len(c.checks))-1]}
				if c.free && !result.Verdict.Stops() {
					result.Freed = in.Held
				}
				return result
			}
			// The sweep reaches the run that told, too: its keys are still there.
			r.script.wake = func(in activities.WakeDependentsInput) error {
				if in.ID.Equal(owner) {
					r.SignalWorkflow(workflows.WakeSignal, workflows.WakeInput{ID: in.ID, State: in.State, At: in.At})
				}
				return nil
			}
			if c.told > 0 {
				r.RegisterDelayedCallback(func() {
					r.SignalWorkflow(workflows.WakeSignal, workflows.WakeInput{ID: owner, State: "Ready", At: startTime})
				}, c.told)
			}
			if c.again {
				r.at(40*time.Second, workflows.ReconcileUpdate, workflows.ReconcileInput{By: "ada@host"})
			}
			r.apply(desired())
			r.start(50 * time.Second)
			var told []string
			for _, wake := range r.script.wakes {
				if wake.ID.Equal(owner) {
					told = append(told, wake.State)
				}
			}
			if diff := cmp.Diff(c.want, told); diff != "" {
				t.Errorf("%s: told of the owner (-want +got):\n%s", c.reason, diff)
			}
			if got := r.count("CheckOwner"); got != len(c.checks) {
				t.Errorf("%d passes, want %d: who told has heard of it", got, len(c.checks))
			}
		})
	}
}

// TestFreedBeforeTheWrite holds that the others are told as soon as the check
// passed: the operation of the one who found it may take an hour.
func TestFreedBeforeTheWrite(t *testing.T) {
	owner := mustID(group)
	r := newRun(t)
	r.script.owner = func(in activities.CheckOwnerInput) activities.CheckOwnerResult {
		if r.count("CheckOwner") == 1 {
			verdict := resource.Block(resource.ReasonReconciliationBlocked, "it is Updating")
			verdict.WaitingFor = []resource.ID{owner}
			return activities.CheckOwnerResult{Verdict: verdict}
		}
		return activities.CheckOwnerResult{Verdict: resource.Proceed(""), Freed: in.Held}
	}
	r.script.pre = create
	r.script.put = func(activities.PutResourceInput) (activities.PutResourceResult, error) {
		return activities.PutResourceResult{Verdict: resource.Proceed(""), Token: "t", Sent: true}, nil
	}
	r.script.poll = func(activities.PollOperationInput) (activities.PollOperationResult, error) {
		return activities.PollOperationResult{}, temporal.NewApplicationErrorWithOptions("goes on", activities.ErrorNotYet,
			temporal.ApplicationErrorOptions{NextRetryDelay: 10 * time.Second})
	}
	r.apply(desired())
	r.start(30 * time.Second)
	if len(r.script.wakes) != 1 || !r.script.wakes[0].ID.Equal(owner) {
		t.Errorf("told %+v while the operation goes on, want of the owner", r.script.wakes)
	}
}
