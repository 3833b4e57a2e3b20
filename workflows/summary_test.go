package workflows_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/mock"

	"github.com/armature-io/armature/activities"
	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/workflows"
)

// summaries records the summaries that a run writes into its memo.
func (r *run) summaries() *[]workflows.Summary {
	written := &[]workflows.Summary{}
	r.OnUpsertMemo(mock.Anything).Return(nil).Run(func(args mock.Arguments) {
		memo, ok := args.Get(0).(map[string]any)
		if summary, has := memo[workflows.MemoSummary].(workflows.Summary); ok && has {
			*written = append(*written, summary)
		}
	})
	return written
}

// A Ready resource that stays in sync writes its summary once, however many passes it has:
// lists must not cost an event in each pass.
func TestSummaryOfReady(t *testing.T) {
	r := newRun(t)
	written := r.summaries()
	r.apply(desired())
	r.start(10 * time.Hour)
	if n := r.count("GetResource"); n < 8 {
		t.Fatalf("%d passes ran, want at least 8", n)
	}
	if len(*written) != 1 || !(*written)[0].Condition.Ready || !(*written)[0].NextTry.IsZero() || (*written)[0].Generation != 1 {
		t.Errorf("summaries %+v, want one, Ready, without a next try", *written)
	}
}

// The summary of a resource that waits has its message and its next try.
func TestSummaryOfBlocked(t *testing.T) {
	r := newRun(t)
	r.script.owner = func(activities.CheckOwnerInput) activities.CheckOwnerResult {
		return activities.CheckOwnerResult{Verdict: resource.Block(resource.ReasonWaitingForOwner, "the cluster is Updating")}
	}
	written := r.summaries()
	r.apply(desired())
	r.start(10 * time.Second)
	if len(*written) == 0 {
		t.Fatal("no summary was written")
	}
	got := (*written)[0]
	if got.Phase != workflows.PhaseBlocked || got.Condition.Message != "the cluster is Updating" || got.NextTry.IsZero() || got.Condition.LastTransitionTime.IsZero() {
		t.Errorf("summary %+v, want Blocked with its message, since when, and a next try", got)
	}
}
