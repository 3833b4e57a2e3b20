package workflows_test

import (
	"testing"
	"time"

	"github.com/armature-io/armature/activities"
	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/workflows"
)

// TestRequestedPassReadsSince checks that the steps of a pass that a user requested get the
// time of the request, and those of any other pass none.
func TestRequestedPassReadsSince(t *testing.T) {
	r := newRun(t)
	other := mustID(group + "/providers/Microsoft.Network/virtualNetworks/v1")
	var owner, pre, post, put []time.Time
	r.script.owner = func(in activities.CheckOwnerInput) activities.CheckOwnerResult {
		owner = append(owner, in.RequestedAt)
		return activities.CheckOwnerResult{Verdict: resource.Proceed("")}
	}
	r.script.pre = func(in activities.PreCheckInput) resource.Verdict {
		pre = append(pre, in.RequestedAt)
		if in.Generation != 1 {
			t.Errorf("the pre-check is of generation %d, want 1", in.Generation)
		}
		return create(in)
	}
	r.script.put = func(in activities.PutResourceInput) (activities.PutResourceResult, error) {
		put = append(put, in.RequestedAt)
		return activities.PutResourceResult{Verdict: resource.Proceed(""), Done: true, Sent: true}, nil
	}
	r.script.post = func(in activities.PostCheckInput) activities.PostCheckResult {
		post = append(post, in.RequestedAt)
		return activities.PostCheckResult{Verdict: resource.Verdict{Action: resource.ActionFailure, Class: resource.RetrySlow, WaitingFor: []resource.ID{other}}}
	}
	r.apply(desired())
	r.RegisterDelayedCallback(func() {
		r.SignalWorkflow(workflows.WakeSignal, workflows.WakeInput{ID: other, State: "Ready", At: r.Now()})
	}, 10*time.Minute)
	r.at(20*time.Minute, workflows.ReconcileUpdate, workflows.ReconcileInput{By: "ada@host"})
	r.at(30*time.Minute, workflows.PauseUpdate, workflows.PauseInput{By: "ada@host"})
	r.at(40*time.Minute, workflows.ResumeUpdate, workflows.PauseInput{By: "ada@host"})
	r.start(41 * time.Minute)
	requested := 0
	for i, since := range owner {
		if !since.IsZero() {
			requested++
		}
		if !pre[i].Equal(since) || !post[i].Equal(since) || !put[i].Equal(since) {
			t.Errorf("pass %d: the steps read since %s, %s, %s and %s, want one time", i, since, pre[i], put[i], post[i])
		}
	}
	if requested != 3 || owner[0].IsZero() || len(owner) < 6 {
		t.Errorf("%d of %d passes read anew, want those of apply, reconcile and resume", requested, len(owner))
	}
	if last := owner[len(owner)-1]; last.Sub(owner[0]) < 39*time.Minute {
		t.Errorf("the last request was at %s, the first at %s: want their times", last, owner[0])
	}
}
