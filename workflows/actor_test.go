package workflows_test

import (
	"testing"
	"time"

	"github.com/armature-io/armature/activities"
	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/workflows"
)

// TestActor checks that a condition names who must act before it can change, and no one
// while time may be enough.
func TestActor(t *testing.T) {
	approval := resource.Block(resource.ReasonPostReconciliationFailure, "pending")
	approval.Actor = "the owner of the target"
	cases := map[string]struct {
		reason  string
		verdict resource.Verdict
		want    string
	}{
		"of the verdict": {reason: "a check knows who approves", verdict: approval, want: "the owner of the target"},
		"of the reason":  {reason: "the table has it", verdict: resource.Block(resource.ReasonSecretNotFound, ""), want: "the operator of the worker"},
		"final":          {reason: "nothing is retried", verdict: resource.Fail("InvalidRequestContent", resource.RetryNone, ""), want: "you"},
		"very slow":      {reason: "the next try is an hour away", verdict: resource.Fail("SkuNotAvailable", resource.RetryVerySlow, ""), want: "you"},
		"slow":           {reason: "most codes of Azure clear", verdict: resource.Fail("AllocationFailed", resource.RetrySlow, "")},
		"a wait":         {reason: "the owner becomes free", verdict: resource.Block(resource.ReasonReconciliationBlocked, "")},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			r := newRun(t)
			r.script.owner = func(activities.CheckOwnerInput) activities.CheckOwnerResult {
				return activities.CheckOwnerResult{Verdict: c.verdict}
			}
			r.apply(desired())
			status := r.statusAt(time.Minute)
			r.start(2 * time.Minute)
			if status.Condition.Actor != c.want {
				t.Errorf("%q must act, want %q: %s", status.Condition.Actor, c.want, c.reason)
			}
		})
	}
}

// TestStatusInPass checks that a status shows that its condition is about to change.
func TestStatusInPass(t *testing.T) {
	r := newRun(t)
	var during workflows.Status
	r.script.get = func(activities.GetResourceInput) activities.GetResourceResult {
		done := make(chan struct{})
		r.RegisterDelayedCallback(func() {
			defer close(done)
			value, err := r.QueryWorkflow(workflows.StatusQuery)
			if err == nil {
				err = value.Get(&during)
			}
			if err != nil {
				t.Errorf("query status: %v", err)
			}
		}, 0)
		<-done
		return present()
	}
	r.apply(desired())
	after := r.statusAt(time.Minute)
	r.start(2 * time.Minute)
	if !during.InPass || after.InPass {
		t.Errorf("in a pass: %t during it, %t after it", during.InPass, after.InPass)
	}
}
