package workflows_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
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
	if len(*written) != 1 || !(*written)[0].Condition.Ready || (*written)[0].RetryWithin != 0 || (*written)[0].Generation != 1 {
		t.Errorf("summaries %+v, want one, Ready, without a next try", *written)
	}
}

// The summary has the last write: what it was, and the user that requested it.
func TestSummaryOfWrites(t *testing.T) {
	r := newRun(t)
	drifts, inSync := false, r.script.pre
	r.script.get = func(in activities.GetResourceInput) activities.GetResourceResult {
		if in.Expect != activities.ExpectPresent && !in.Existed {
			return absent()
		}
		return present()
	}
	r.script.pre = func(in activities.PreCheckInput) resource.Verdict {
		switch {
		case !in.Existed:
			return create(in)
		case drifts:
			drifts = false
			return resource.Verdict{Action: resource.ActionProceed, Reason: resource.ReasonDrift, Differences: []resource.Difference{{Path: "tags.a"}}, More: 2}
		}
		return inSync(in)
	}
	written := r.summaries()
	r.apply(desired())
	r.RegisterDelayedCallback(func() { drifts = true }, 10*time.Minute)
	r.RegisterDelayedCallback(func() { drifts = true }, 3*time.Hour-time.Second)
	r.at(3*time.Hour, workflows.ReconcileUpdate, workflows.ReconcileInput{By: "eve", Force: true, Reason: "test"})
	r.start(4 * time.Hour)
	var got []workflows.WriteNote
	for _, summary := range *written {
		if summary.LastWrite.At.IsZero() {
			t.Errorf("a write without a time: %+v", summary.LastWrite)
		}
		summary.LastWrite.At = time.Time{}
		got = append(got, summary.LastWrite)
	}
	want := []workflows.WriteNote{{Verb: workflows.VerbCreated, By: "ada@host"}, {Verb: workflows.VerbCorrected, Paths: 3}, {Verb: workflows.VerbCorrected, Paths: 3, By: "eve"}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("last writes (-want +got):\n%s", diff)
	}
}

// A new resource that waits for its turn writes no summary. Later ones do: an old summary would
// be believed.
func TestSummaryOfQueued(t *testing.T) {
	for name, c := range map[string]struct {
		input workflows.ReconcileResourceInput
		want  []resource.Reason
	}{
		"new":   {want: []resource.Reason{resource.ReasonSucceeded}},
		"known": {input: existing(), want: []resource.Reason{resource.ReasonWaitingForSibling, resource.ReasonSucceeded}},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRun(t)
			r.input = c.input
			if r.input.State != nil {
				r.input.State.Summary = &workflows.Summary{}
			}
			r.script.inTurn()
			r.script.pre, r.script.turn = create, waitTurn(1)
			written := r.summaries()
			r.apply(desired())
			r.RegisterDelayedCallback(func() {
				r.SignalWorkflow(workflows.WakeSignal, workflows.WakeInput{ID: desired().ID, State: "next", At: startTime})
			}, 10*time.Second)
			r.start(time.Minute)
			var got []resource.Reason
			for _, summary := range *written {
				got = append(got, summary.Condition.Reason)
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("summaries (-want +got):\n%s", diff)
			}
		})
	}
}

// The summary of a resource that waits has its message and the longest time to its next try.
// It is written while that changes: a steady pass must not cost an event, however old the
// readings behind its message are.
func TestSummaryOfBlocked(t *testing.T) {
	r := newRun(t)
	passes := 0
	r.script.owner = func(activities.CheckOwnerInput) activities.CheckOwnerResult {
		passes++
		verdict := resource.Block(resource.ReasonWaitingForOwner, "the cluster is Updating")
		verdict.Freshness = fmt.Sprintf("read %ds ago", passes)
		return activities.CheckOwnerResult{Verdict: verdict}
	}
	written := r.summaries()
	r.apply(desired())
	status := r.statusAt(5 * time.Hour)
	r.start(6 * time.Hour)
	var within []time.Duration
	for _, summary := range *written {
		within = append(within, summary.RetryWithin)
	}
	seconds := func(s time.Duration) time.Duration { return s * time.Second }
	want := []time.Duration{seconds(2), seconds(3), seconds(5), seconds(10), seconds(20), seconds(40), 2 * time.Minute, 3 * time.Minute, 4 * time.Minute}
	if diff := cmp.Diff(want, within); diff != "" || passes < 100 {
		t.Errorf("after %d passes the summaries had these times (-want +got):\n%s", passes, diff)
	}
	got := (*written)[len(*written)-1]
	if got.Phase != workflows.PhaseBlocked || got.Condition.Message != "the cluster is Updating" || got.Condition.LastTransitionTime.IsZero() {
		t.Errorf("summary %+v, want Blocked with its message, and since when", got)
	}
	if !strings.Contains(status.Condition.Message, "read ") || status.NextTry.IsZero() {
		t.Errorf("condition %+v, next try %s; want the age of the reading and a time", status.Condition, status.NextTry)
	}
}

// A pass whose verdict is Held corrects all else, so it follows at the interval, however much
// of its budget is left.
func TestHeldKeepsInterval(t *testing.T) {
	r := newRun(t)
	r.script.pre = func(activities.PreCheckInput) resource.Verdict {
		verdict := resource.Block(resource.ReasonHeld, "an item of others is kept")
		verdict.RetryAfter = 3 * time.Hour
		return verdict
	}
	r.apply(desired())
	r.start(10 * time.Hour)
	for i, wait := range waits(r) {
		if wait < 45*time.Minute || wait > 75*time.Minute {
			t.Errorf("wait %d is %s, want the interval of an hour", i, wait)
		}
	}
	if n := len(waits(r)); n < 8 {
		t.Errorf("%d waits in 10 hours", n)
	}
}
