package workflows_test

import (
	"strings"
	"testing"
	"time"

	"github.com/armature-io/armature/activities"
	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/workflows"
)

func TestPassForce(t *testing.T) {
	r := newRun(t)
	var owner, pre []bool
	r.script.owner = func(in activities.CheckOwnerInput) activities.CheckOwnerResult {
		owner = append(owner, in.Force)
		return activities.CheckOwnerResult{Verdict: resource.Proceed("")}
	}
	r.script.pre = func(in activities.PreCheckInput) resource.Verdict {
		pre = append(pre, in.Force)
		return resource.Verdict{Action: resource.ActionSkip}
	}
	r.apply(desired())
	refused := r.at(10*time.Second, workflows.ReconcileUpdate, workflows.ReconcileInput{Force: true, By: "ada@host"})
	forced := r.at(20*time.Second, workflows.ReconcileUpdate, workflows.ReconcileInput{Force: true, By: "ada@host", Reason: "stuck"})
	r.at(30*time.Second, workflows.ReconcileUpdate, workflows.ReconcileInput{By: "ada@host"})
	status := r.statusAt(40 * time.Second)
	r.start(50 * time.Second)
	if refused.rejected == nil {
		t.Error("a force without a reason was accepted")
	}
	if got := forced.result.(workflows.ReconcileResult).Pass; got != 2 {
		t.Errorf("the forced pass has number %d, want 2", got)
	}
	for _, flags := range [][]bool{owner, pre} {
		if len(flags) != 3 || flags[0] || !flags[1] || flags[2] {
			t.Errorf("force was %v in three passes, want only the second", flags)
		}
	}
	if log := decisions(status); !strings.Contains(log, "ada@host: stuck") {
		t.Errorf("the decisions lack user and reason of the force:\n%s", log)
	}
}

func TestPassKeepsBaseline(t *testing.T) {
	r := newRun(t)
	var baselines []string
	r.script.pre = func(in activities.PreCheckInput) resource.Verdict {
		baselines = append(baselines, string(in.Memory))
		return resource.Verdict{Action: resource.ActionSkip}
	}
	r.script.post = func(activities.PostCheckInput) activities.PostCheckResult {
		return activities.PostCheckResult{Verdict: resource.Verdict{Action: resource.ActionSuccess}, Memory: []byte(`{"x":1}`)}
	}
	r.apply(desired())
	r.at(10*time.Millisecond, workflows.ReconcileUpdate, workflows.ReconcileInput{})
	r.start(700 * time.Millisecond)
	if len(baselines) != 2 || baselines[0] != "" || baselines[1] != `{"x":1}` {
		t.Errorf("the baselines of two passes are %q", baselines)
	}
}

func TestPassReadsAfterUnknownPut(t *testing.T) {
	r := newRun(t)
	r.script.pre = create
	r.script.get = func(activities.GetResourceInput) activities.GetResourceResult { return absent() }
	var resets []bool
	var kinds []activities.PutKind
	r.script.put = func(in activities.PutResourceInput) (activities.PutResourceResult, error) {
		resets, kinds = append(resets, in.MaySent), append(kinds, in.Kind)
		if len(resets) == 1 {
			return activities.PutResourceResult{Verdict: resource.Fail("GatewayTimeout", resource.RetrySlow, "504"), Unknown: true}, nil
		}
		return activities.PutResourceResult{Verdict: resource.Proceed(""), Done: true, Sent: true}, nil
	}
	r.apply(desired())
	r.at(time.Minute, workflows.ReconcileUpdate, workflows.ReconcileInput{})
	r.start(2 * time.Minute)
	if len(resets) != 3 || resets[0] || !resets[1] || resets[2] {
		t.Errorf("reset was %v, want it for the PUT after the one of unknown outcome", resets)
	}
	if kinds[0] != activities.PutCreation || kinds[1] != activities.PutCreationAgain {
		t.Errorf("PUTs are %v, want a creation that was tried before", kinds)
	}
}

func TestPassTellsHowLongAnOperationBlocks(t *testing.T) {
	r := newRun(t)
	var longest time.Duration
	r.script.pre = func(in activities.PreCheckInput) resource.Verdict {
		longest = max(longest, in.BlockedFor)
		return resource.Block(resource.ReasonOperationInProgress, "Updating")
	}
	r.apply(desired())
	r.start(3 * time.Hour)
	if longest < 2*time.Hour {
		t.Errorf("after 3 h the guard was told of %s: it names --force after hours", longest)
	}
}
