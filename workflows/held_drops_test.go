package workflows_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/armature-io/armature/activities"
	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/workflows"
)

// TestHeldDrops follows corrections that would remove what others set: the first request
// finds out, the next one approves what was named, for one PUT. An apply of the same spec
// approves too, and does nothing otherwise.
//
//guard:removals-wait-for-a-user
func TestHeldDrops(t *testing.T) {
	cases := map[string]struct {
		reason string
		update string
		input  any
	}{
		"reconcile": {"a user lets the values go", workflows.ReconcileUpdate, workflows.ReconcileInput{By: "ada@host"}},
		"apply":     {"an apply of the same spec does it too", workflows.ApplyUpdate, workflows.ApplyInput{Desired: desired(), By: "ada@host"}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			r := newRun(t)
			var held []bool
			r.script.pre = func(in activities.PreCheckInput) resource.Verdict {
				held = append(held, in.Hold())
				if in.Hold() {
					verdict := resource.Block(resource.ReasonHeld, "a correction would remove tags.b")
					verdict.Class, verdict.Drops = resource.RetryVerySlow, []string{"tags.b"}
					return verdict
				}
				return resource.Verdict{Action: resource.ActionProceed, Reason: resource.ReasonDrift, Differences: []resource.Difference{{Path: "tags.a"}}}
			}
			var puts []bool
			r.script.put = func(in activities.PutResourceInput) (activities.PutResourceResult, error) {
				puts = append(puts, in.Hold())
				return activities.PutResourceResult{Verdict: resource.Proceed(""), Done: true, Sent: true}, nil
			}
			r.apply(desired())
			r.at(time.Minute, workflows.ApplyUpdate, workflows.ApplyInput{Desired: desired()}) // Ready: no pass
			r.at(2*time.Minute, workflows.ReconcileUpdate, workflows.ReconcileInput{})
			status := r.statusAt(3 * time.Minute)
			r.at(4*time.Minute, c.update, c.input)
			r.at(5*time.Minute, workflows.ReconcileUpdate, workflows.ReconcileInput{})
			r.start(6 * time.Minute)
			if diff := cmp.Diff([]bool{false, true, false, true}, held); diff != "" {
				t.Errorf("%s: passes that hold (-want +got)\n%s", c.reason, diff)
			}
			if diff := cmp.Diff([]bool{false, false}, puts); diff != "" {
				t.Errorf("%s: PUTs that hold (-want +got)\n%s", c.reason, diff)
			}
			if status.Condition.Ready || status.Condition.Reason != resource.ReasonHeld || status.Condition.Actor == "" {
				t.Errorf("the condition is %+v", status.Condition)
			}
		})
	}
}

// TestBudgetIsNotApproved shows that a request of a user approves no removals where a
// budget holds the PUT.
//
//guard:removals-wait-for-a-user
func TestBudgetIsNotApproved(t *testing.T) {
	r := newRun(t)
	var held []bool
	r.script.pre = func(in activities.PreCheckInput) resource.Verdict {
		held = append(held, in.Hold())
		if len(held) == 1 {
			return resource.Verdict{Action: resource.ActionSkip, Reason: resource.ReasonInSync}
		}
		return resource.Block(resource.ReasonHeld, "put-budget exhausted")
	}
	r.apply(desired())
	r.at(time.Minute, workflows.ReconcileUpdate, workflows.ReconcileInput{})
	r.at(2*time.Minute, workflows.ReconcileUpdate, workflows.ReconcileInput{})
	r.start(2*time.Minute + time.Second)
	if len(held) < 3 || !held[1] || !held[len(held)-1] {
		t.Errorf("passes that hold: %v", held)
	}
}

// TestApprovalIsForOnePut shows that a PUT after a failed post-check needs another approval.
func TestApprovalIsForOnePut(t *testing.T) {
	r := newRun(t)
	var held []bool
	r.script.pre = func(in activities.PreCheckInput) resource.Verdict {
		held = append(held, in.Hold())
		if in.Hold() {
			verdict := resource.Block(resource.ReasonHeld, "a correction would remove tags.b")
			verdict.Class, verdict.Drops = resource.RetryVerySlow, []string{"tags.b"}
			return verdict
		}
		return resource.Verdict{Action: resource.ActionProceed, Reason: resource.ReasonDrift, Differences: []resource.Difference{{Path: "tags.a"}}}
	}
	r.script.put = func(activities.PutResourceInput) (activities.PutResourceResult, error) {
		return activities.PutResourceResult{Verdict: resource.Proceed(""), Done: true, Sent: true}, nil
	}
	r.script.post = func(activities.PostCheckInput) activities.PostCheckResult {
		if len(held) > 1 {
			return activities.PostCheckResult{Verdict: resource.Verdict{Action: resource.ActionFailure, Reason: "NotYet", Class: resource.RetryFast}}
		}
		return activities.PostCheckResult{Verdict: resource.Verdict{Action: resource.ActionSuccess}}
	}
	r.apply(desired())
	r.at(time.Minute, workflows.ReconcileUpdate, workflows.ReconcileInput{})
	r.at(2*time.Minute, workflows.ReconcileUpdate, workflows.ReconcileInput{})
	r.start(3 * time.Minute)
	if diff := cmp.Diff([]bool{false, true, false, true}, held[:min(len(held), 4)]); diff != "" {
		t.Errorf("passes that hold (-want +got)\n%s", diff)
	}
}
