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

// TestFreed checks which workflow announces the end of an operation that Armature did
// not start: only the first one that waited for the resource and found it free.
func TestFreed(t *testing.T) {
	owner := mustID(group)
	busy := func() resource.Verdict {
		verdict := resource.Block(resource.ReasonReconciliationBlocked, "it is Updating")
		verdict.WaitingFor = []resource.ID{owner}
		return verdict
	}
	cases := map[string]struct {
		reason string
		// checks are the verdicts of the owner check, pass by pass; the last repeats.
		checks []resource.Verdict
		// woken is the time of a wake by another workflow; 0 is never.
		woken time.Duration
		// reconcile requests another pass later.
		reconcile bool
		// free is true when the check reports that the owner is free.
		free bool
		want []string
	}{
		"found":    {reason: "the others would wait until their next try", checks: []resource.Verdict{busy(), resource.Proceed("")}, free: true, want: []string{"free"}},
		"once":     {reason: "a later pass announces nothing", checks: []resource.Verdict{busy(), resource.Proceed(""), resource.Proceed("")}, reconcile: true, free: true, want: []string{"free"}},
		"still":    {reason: "a try that still waits announces nothing", checks: []resource.Verdict{busy(), busy(), busy(), resource.Proceed("")}, free: true, want: []string{"free"}},
		"not ours": {reason: "the owner's own workflow announces it", checks: []resource.Verdict{busy(), resource.Proceed("")}},
		"woken":    {reason: "a wake shows that another workflow announced it", checks: []resource.Verdict{busy(), resource.Proceed("")}, woken: 500 * time.Millisecond, free: true},
		"at once":  {reason: "a workflow that never waited announces nothing", checks: []resource.Verdict{resource.Proceed("")}, free: true},
		"unread": {
			reason: "a try that could not read the owner ends no wait",
			checks: []resource.Verdict{busy(), resource.Fail("TooManyRequests", resource.RetryFast, "429"), resource.Proceed("")}, free: true, want: []string{"free"},
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			r := newRun(t)
			r.script.owner = func(in activities.CheckOwnerInput) activities.CheckOwnerResult {
				result := activities.CheckOwnerResult{Verdict: c.checks[min(r.count("CheckOwner"), len(c.checks))-1]}
				if c.free && !result.Verdict.Stops() {
					result.Freed = in.BlockedBy
				}
				return result
			}
			// The wake also reaches the run that announced, because its keys still exist.
			r.script.wake = func(in activities.WakeDependentsInput) error {
				if in.ID.Equal(owner) {
					r.SignalWorkflow(workflows.WakeSignal, workflows.WakeInput{ID: in.ID, State: in.State, At: in.At})
				}
				return nil
			}
			if c.woken > 0 {
				r.RegisterDelayedCallback(func() {
					r.SignalWorkflow(workflows.WakeSignal, workflows.WakeInput{ID: owner, State: "Ready", At: startTime})
				}, c.woken)
			}
			if c.reconcile {
				r.at(40*time.Second, workflows.ReconcileUpdate, workflows.ReconcileInput{By: "ada@host"})
			}
			r.apply(desired())
			r.start(50 * time.Second)
			var announced []string
			for _, wake := range r.script.wakes {
				if wake.ID.Equal(owner) {
					announced = append(announced, wake.State)
				}
			}
			if diff := cmp.Diff(c.want, announced); diff != "" {
				t.Errorf("%s: announced states of the owner (-want +got):\n%s", c.reason, diff)
			}
			if got := r.count("CheckOwner"); got != len(c.checks) {
				t.Errorf("%d passes, want %d: its own announcement starts no pass", got, len(c.checks))
			}
		})
	}
}

// TestFreedBeforeWrite checks that the others are notified as soon as the check has
// passed, because the operation that follows may take an hour.
func TestFreedBeforeWrite(t *testing.T) {
	owner := mustID(group)
	r := newRun(t)
	r.script.owner = func(in activities.CheckOwnerInput) activities.CheckOwnerResult {
		if r.count("CheckOwner") == 1 {
			verdict := resource.Block(resource.ReasonReconciliationBlocked, "it is Updating")
			verdict.WaitingFor = []resource.ID{owner}
			return activities.CheckOwnerResult{Verdict: verdict}
		}
		return activities.CheckOwnerResult{Verdict: resource.Proceed(""), Freed: in.BlockedBy}
	}
	r.script.pre = create
	r.script.put = func(activities.PutResourceInput) (activities.PutResourceResult, error) {
		return activities.PutResourceResult{Verdict: resource.Proceed(""), Token: "t", Sent: true}, nil
	}
	r.script.poll = func(activities.PollOperationInput) (activities.PollOperationResult, error) {
		return activities.PollOperationResult{}, temporal.NewApplicationErrorWithOptions("in progress", activities.ErrorNotYet,
			temporal.ApplicationErrorOptions{NextRetryDelay: 10 * time.Second})
	}
	r.apply(desired())
	r.start(30 * time.Second)
	if len(r.script.wakes) != 1 || !r.script.wakes[0].ID.Equal(owner) {
		t.Errorf("announced %+v during the operation, want the owner", r.script.wakes)
	}
}
