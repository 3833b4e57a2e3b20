package workflows_test

import (
	"testing"
	"time"

	"github.com/armature-io/armature/activities"
	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/workflows"
)

// TestStatedAt checks which messages count as a user's statement: each apply, also one that
// changes nothing, and each delete of a user. A deletion that a cascade requested has the
// time of the user's request, so that an old cascade deletes nothing newer.
//
//guard:generation-fence
func TestStatedAt(t *testing.T) {
	r := newRun(t)
	begun := r.Now()
	r.script.pre = create
	var puts []time.Duration
	r.script.put = func(in activities.PutResourceInput) (activities.PutResourceResult, error) {
		puts = append(puts, in.StatedAt.Sub(begun).Round(time.Minute))
		return activities.PutResourceResult{Verdict: resource.Block(resource.ReasonOlderThanRecorded, "recorded: a later one")}, nil
	}
	var deletes []time.Duration
	r.script.delete = func(in activities.DeleteResourceInput) activities.DeleteResourceResult {
		deletes = append(deletes, in.StatedAt.Sub(begun).Round(time.Minute))
		return activities.DeleteResourceResult{Verdict: resource.Block(resource.ReasonOlderThanRecorded, "recorded: a later one"), Unsent: true}
	}
	var cascades []time.Duration
	r.script.dependents = func(in activities.CheckDependentsInput) resource.Verdict {
		cascades = append(cascades, in.StatedAt.Sub(begun).Round(time.Minute))
		return resource.Proceed("")
	}
	r.apply(desired())
	r.at(10*time.Minute, workflows.ReconcileUpdate, workflows.ReconcileInput{By: "ada@host"})
	repeated := r.at(20*time.Minute, workflows.ApplyUpdate, workflows.ApplyInput{Desired: desired(), By: "ada@host"})
	r.at(24*time.Hour, workflows.DeleteUpdate, workflows.DeleteInput{By: "ada@host", From: desired().Owner, StatedAt: begun.Add(15 * time.Minute)})
	r.at(25*time.Hour, workflows.DeleteUpdate, workflows.DeleteInput{By: "ada@host"})
	r.start(26 * time.Hour)
	if result, _ := repeated.result.(workflows.ApplyResult); result.Changed || result.Generation != 1 {
		t.Errorf("the repeated apply returned %+v", result)
	}
	firstOf := func(times []time.Duration) []time.Duration {
		var distinct []time.Duration
		for _, at := range times {
			if len(distinct) == 0 || distinct[len(distinct)-1] != at {
				distinct = append(distinct, at)
			}
		}
		return distinct
	}
	if got := firstOf(puts); len(got) != 2 || got[0] != 0 || got[1] != 20*time.Minute {
		t.Errorf("the PUTs were stated at %v, want the first apply and then the repeated one", got)
	}
	if got := firstOf(deletes); len(got) != 2 || got[0] != 20*time.Minute || got[1] != 25*time.Hour {
		t.Errorf("the DELETEs were stated at %v: the cascade is older than the last apply, the delete of a user is not", got)
	}
	if got := firstOf(cascades); len(got) != 2 || got[1] != 25*time.Hour {
		t.Errorf("the dependents were looked up for %v", got)
	}
}

// TestAcceptedOlder checks that an apply that changes nothing ends the wait of a write that
// was older than the record: the user has stated it anew.
func TestAcceptedOlder(t *testing.T) {
	r := newRun(t)
	r.script.pre = create
	older := true
	r.script.put = func(activities.PutResourceInput) (activities.PutResourceResult, error) {
		if older {
			return activities.PutResourceResult{Verdict: resource.Block(resource.ReasonOlderThanRecorded, "recorded: a later one")}, nil
		}
		r.script.pre = func(activities.PreCheckInput) resource.Verdict { return resource.Verdict{Action: resource.ActionSkip} }
		return activities.PutResourceResult{Verdict: resource.Proceed(""), Done: true, Sent: true}, nil
	}
	r.apply(desired())
	held := r.statusAt(30 * time.Second)
	r.RegisterDelayedCallback(func() { older = false }, 35*time.Second)
	r.at(40*time.Second, workflows.ApplyUpdate, workflows.ApplyInput{Desired: desired(), By: "ada@host"})
	after := r.statusAt(50 * time.Second)
	r.start(time.Minute)
	if held.Condition.Reason != resource.ReasonOlderThanRecorded || held.Phase != workflows.PhaseBlocked {
		t.Errorf("before: %s, %+v", held.Phase, held.Condition)
	}
	if !after.Condition.Ready || after.Generation != 1 {
		t.Errorf("10 s after the apply: generation %d, %+v", after.Generation, after.Condition)
	}
}
