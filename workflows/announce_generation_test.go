package workflows_test

import (
	"slices"
	"testing"
	"time"

	"github.com/armature-io/armature/activities"
	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/workflows"
	"github.com/stretchr/testify/mock"
)

// TestApplyDuringWrite applies a new spec while the PUT of the last one is in progress: its
// worker finds the generation in the memo, and the next pass writes the new one.
//
//guard:fence
func TestApplyDuringWrite(t *testing.T) {
	r := newRun(t)
	changed := desired()
	changed.Body = []byte(`{"location":"westus3"}`)
	var memos []map[string]any
	r.OnUpsertMemo(mock.Anything).Run(func(args mock.Arguments) { memos = append(memos, args.Get(0).(map[string]any)) }).Return(nil)
	r.script.pre = func(in activities.PreCheckInput) resource.Verdict {
		if r.count("PutResource") < 2 {
			return create(in)
		}
		return resource.Verdict{Action: resource.ActionSkip}
	}
	var puts []activities.PutResourceInput
	r.script.put = func(in activities.PutResourceInput) (activities.PutResourceResult, error) {
		puts = append(puts, in)
		if len(puts) == 1 {
			r.duringActivity(workflows.ApplyUpdate, workflows.ApplyInput{Desired: changed, By: "ada@host"})
			return activities.PutResourceResult{Verdict: resource.Block(resource.ReasonSuperseded, "nothing was sent")}, nil
		}
		return activities.PutResourceResult{Verdict: resource.Proceed(""), Done: true, Sent: true}, nil
	}
	r.apply(desired())
	after := r.statusAt(30 * time.Second)
	r.start(time.Minute)
	memos = slices.DeleteFunc(memos, func(memo map[string]any) bool { return memo[workflows.MemoGeneration] == nil })
	if len(memos) != 1 || memos[0][workflows.MemoGeneration] != int64(2) {
		t.Errorf("memos %v, want generation 2 once", memos)
	}
	if len(puts) != 2 || puts[0].Generation != 1 || puts[1].Generation != 2 || puts[1].Newest != 0 || string(puts[1].Desired.Body) != string(changed.Body) {
		t.Errorf("PUTs %+v, want generation 1 and then the new one", puts)
	}
	if !after.Condition.Ready || after.Condition.ObservedGeneration != 2 {
		t.Errorf("the new spec ended as %+v", after.Condition)
	}
}

// TestApplyBeforeWrite applies a new spec in a pass whose PUT is not scheduled yet: the PUT
// of the last one states that it is out of date, and no event is added to the history.
func TestApplyBeforeWrite(t *testing.T) {
	r := newRun(t)
	changed := desired()
	changed.Body = []byte(`{"location":"westus3"}`)
	r.OnUpsertMemo(mock.Anything).Run(func(args mock.Arguments) {
		if memo := args.Get(0).(map[string]any); memo[workflows.MemoGeneration] != nil {
			t.Errorf("memo %v outside of a write", memo)
		}
	}).Return(nil).Maybe()
	r.script.pre = create
	r.script.provider = func(activities.RegisterProviderInput) resource.Verdict {
		r.duringActivity(workflows.ApplyUpdate, workflows.ApplyInput{Desired: changed, By: "ada@host"})
		return resource.Proceed("registered")
	}
	var puts []activities.PutResourceInput
	r.script.put = func(in activities.PutResourceInput) (activities.PutResourceResult, error) {
		puts = append(puts, in)
		if len(puts) == 1 {
			return activities.PutResourceResult{Verdict: resource.Fail("MissingSubscriptionRegistration", resource.RetrySlow, "no"), Unregistered: "Microsoft.Kusto"}, nil
		}
		return activities.PutResourceResult{Verdict: resource.Proceed(""), Done: true, Sent: true}, nil
	}
	r.apply(desired())
	r.start(10 * time.Second)
	if len(puts) < 2 || puts[0].Newest != 0 || puts[1].Generation != 1 || puts[1].Newest != 2 {
		t.Errorf("PUTs %+v, want that the second one of generation 1 names generation 2", puts)
	}
}
