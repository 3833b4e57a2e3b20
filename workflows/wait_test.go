package workflows_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/armature-io/armature/activities"
	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/workflows"
	"github.com/google/go-cmp/cmp"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"
)

// blocked makes the owner check block with a retry class.
func blocked(s *script, class resource.RetryClass, retryAfter time.Duration) {
	s.owner = func(activities.CheckOwnerInput) activities.CheckOwnerResult {
		verdict := resource.Block(resource.ReasonReconciliationBlocked, "blocked")
		verdict.Class, verdict.RetryAfter = class, retryAfter
		return activities.CheckOwnerResult{Verdict: verdict}
	}
}

// waits returns the durations of the waits: the run starts no other timers.
func waits(r *run) []time.Duration { return r.timers }

func TestWaitBackoff(t *testing.T) {
	second, minute := time.Second, time.Minute
	cases := map[string]struct {
		reason     string
		class      resource.RetryClass
		retryAfter time.Duration
		want       []time.Duration // without jitter
	}{
		"fast":        {"1 s doubling to 30 s", resource.RetryFast, 0, []time.Duration{second, 2 * second, 4 * second, 8 * second, 16 * second, 30 * second, 30 * second}},
		"slow":        {"1 s doubling to 3 min", resource.RetrySlow, 0, []time.Duration{second, 2 * second, 4 * second, 8 * second, 16 * second, 32 * second, 64 * second, 128 * second, 3 * minute, 3 * minute}},
		"woken":       {"1 s doubling to 30 min", resource.RetryWoken, 0, []time.Duration{second, 2 * second, 4 * second, 8 * second, 16 * second, 32 * second, 64 * second, 128 * second, 256 * second, 512 * second, 1024 * second, 30 * minute, 30 * minute}},
		"very slow":   {"the interval, at least 1 h", resource.RetryVerySlow, 0, []time.Duration{60 * minute, 60 * minute}},
		"retry after": {"never less than ARM requested", resource.RetryFast, 50 * second, []time.Duration{50 * second, 50 * second}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			r := newRun(t)
			blocked(r.script, c.class, c.retryAfter)
			r.apply(desired())
			r.start(6 * time.Hour)
			got := waits(r)
			if len(got) < len(c.want) {
				t.Fatalf("%d waits, want at least %d", len(got), len(c.want))
			}
			exact := 0
			for i, want := range c.want {
				low, high := want*3/4, want*5/4
				if c.retryAfter > 0 {
					low, high = want, want
				}
				if got[i] < low || got[i] > high {
					t.Errorf("wait %d is %s, want %s to %s: %s", i, got[i], low, high, c.reason)
				}
				if got[i] == want {
					exact++
				}
			}
			if c.retryAfter == 0 && exact > 1 {
				t.Errorf("%d waits are exact: there is no jitter", exact)
			}
		})
	}
}

func TestWaitWithoutRetry(t *testing.T) {
	r := newRun(t)
	blocked(r.script, resource.RetryNone, 0)
	spec := desired()
	spec.Interval = 0
	r.apply(spec)
	r.at(100*time.Hour, workflows.ReconcileUpdate, workflows.ReconcileInput{By: "ada@host"})
	before := r.statusAt(99 * time.Hour)
	r.start(101 * time.Hour)
	if before.Pass != 1 || !before.NextTry.IsZero() || before.Phase != workflows.PhaseFailed {
		t.Errorf("after 99 h: pass %d, next try %v, phase %s; want one pass, no next try, Failed", before.Pass, before.NextTry, before.Phase)
	}
	if r.count("CheckOwner") != 2 {
		t.Errorf("%d passes, want a second one after the message", r.count("CheckOwner"))
	}
}

func TestWaitResync(t *testing.T) {
	r := newRun(t)
	r.apply(desired())
	r.start(24 * time.Hour)
	got := waits(r)
	if len(got) < 20 || len(got) > 30 {
		t.Fatalf("%d resyncs in a day with an interval of an hour", len(got))
	}
	if got[0] < time.Minute || got[0] > time.Hour {
		t.Errorf("the first resync comes after %s, want it within the interval", got[0])
	}
	for i, wait := range got[1:] {
		if wait < 45*time.Minute || wait > 75*time.Minute {
			t.Errorf("wait %d is %s, want 45 to 75 min", i+1, wait)
		}
	}
}

func TestWaitLongIntervalIsOneTimer(t *testing.T) {
	r := newRun(t)
	spec := desired()
	spec.Interval = 24 * time.Hour
	r.apply(spec)
	r.start(72 * time.Hour)
	passes := r.count("GetResource")
	if passes < 3 || passes > 5 {
		t.Errorf("%d passes in three days with an interval of a day", passes)
	}
	if timers := len(waits(r)); timers != passes {
		t.Errorf("%d timers for the waits after %d passes, want one for each", timers, passes)
	}
}

// TestWaitBeyondTheLongestTimer checks that a try that is further away than the longest timer waits
// for its time.
func TestWaitBeyondTheLongestTimer(t *testing.T) {
	const day = 24 * time.Hour
	r := newRun(t)
	blocked(r.script, resource.RetryVerySlow, 50*day)
	r.apply(desired())
	before, after := r.statusAt(49*day), r.statusAt(51*day)
	r.start(52 * day)
	if before.Pass != 1 || after.Pass != 2 {
		t.Errorf("%d passes in 49 days and %d in 51, want the second one after 50", before.Pass, after.Pass)
	}
}

func TestWaitZeroIntervalNeverResyncs(t *testing.T) {
	r := newRun(t)
	spec := desired()
	spec.Interval = 0
	r.apply(spec)
	r.start(1000 * time.Hour)
	if r.count("GetResource") != 1 {
		t.Errorf("%d reads, want one", r.count("GetResource"))
	}
}

func TestWaitBlockedStatus(t *testing.T) {
	r := newRun(t)
	owner := mustID(group)
	var waited []time.Duration
	r.script.owner = func(in activities.CheckOwnerInput) activities.CheckOwnerResult {
		waited = append(waited, in.WaitedFor)
		verdict := resource.Block(resource.ReasonWaitingForOwner, "the owner does not exist")
		verdict.WaitingFor = []resource.ID{owner}
		return activities.CheckOwnerResult{Verdict: verdict}
	}
	r.apply(desired())
	status := r.statusAt(10 * time.Second)
	r.start(11 * time.Second)
	if len(status.WaitingFor) != 1 || !status.WaitingFor[0].Equal(owner) {
		t.Errorf("waits for %v, want %s", status.WaitingFor, owner)
	}
	start := time.Date(2026, 1, 2, 3, 0, 0, 0, time.UTC)
	if since := status.WaitingSince.Sub(start); since < 0 || since > time.Second {
		t.Errorf("waits since %s after the start, want since the first pass", since)
	}
	if last := waited[len(waited)-1]; waited[0] != 0 || last < 5*time.Second || last > 11*time.Second {
		t.Errorf("the checks were told that it waits since %v, want the time since the first pass", waited)
	}
	if last := status.Decisions[len(status.Decisions)-1]; last.Count < 3 {
		t.Errorf("the decision has count %d, want one entry for equal decisions:\n%s", last.Count, decisions(status))
	}
	if !status.NextTry.After(start.Add(10 * time.Second)) {
		t.Errorf("next try %s is not in the future", status.NextTry)
	}
}

func TestWakeEndsBlock(t *testing.T) {
	r := newRun(t)
	open := false
	var changes []activities.Change
	r.script.owner = func(in activities.CheckOwnerInput) activities.CheckOwnerResult {
		changes = in.Changes
		if open {
			return activities.CheckOwnerResult{Verdict: resource.Proceed("")}
		}
		verdict := resource.Block(resource.ReasonReconciliationBlocked, "Updating")
		verdict.Class = resource.RetryVerySlow
		return activities.CheckOwnerResult{Verdict: verdict}
	}
	r.apply(desired())
	changed := time.Date(2026, 1, 2, 3, 5, 0, 0, time.UTC)
	r.RegisterDelayedCallback(func() {
		open = true
		r.SignalWorkflow(workflows.WakeSignal, workflows.WakeInput{ID: mustID(group), State: "Succeeded", At: changed})
	}, 5*time.Minute)
	status := r.statusAt(5*time.Minute + time.Second)
	r.start(6 * time.Minute)
	if status.Phase != workflows.PhaseReady {
		t.Errorf("phase %s a second after the wake, want Ready", status.Phase)
	}
	if len(changes) != 1 || !changes[0].At.Equal(changed) {
		t.Errorf("the check after the wake receives %v, want the change of %s, which makes older readings stale", changes, changed)
	}
	if !strings.Contains(decisions(status), "wake") {
		t.Errorf("the decisions lack the wake:\n%s", decisions(status))
	}
}

func TestWakeOfReadyResource(t *testing.T) {
	r := newRun(t)
	r.apply(desired())
	r.RegisterDelayedCallback(func() {
		r.SignalWorkflow(workflows.WakeSignal, workflows.WakeInput{ID: mustID(group), State: "Succeeded"})
	}, 500*time.Millisecond)
	r.start(time.Second)
	if r.count("GetResource") != 1 {
		t.Errorf("%d reads, want one: a Ready resource waits for nothing", r.count("GetResource"))
	}
}

// TestWakeApprovesNothing signals a Ready resource as if its owner was replaced: whoever may
// send signals gets no recreation approved. The approval is an update.
func TestWakeApprovesNothing(t *testing.T) {
	r := newRun(t)
	var approved []bool
	exists := true
	r.script.get = func(activities.GetResourceInput) activities.GetResourceResult {
		return activities.GetResourceResult{Verdict: resource.Proceed(""), Exists: exists}
	}
	r.script.pre = func(in activities.PreCheckInput) resource.Verdict {
		approved = append(approved, in.Approved.Recreation)
		return resource.Verdict{Action: resource.ActionSkip, Reason: resource.ReasonInSync}
	}
	r.apply(desired())
	r.RegisterDelayedCallback(func() {
		exists = false
		r.SignalWorkflow(workflows.WakeSignal, workflows.WakeInput{ID: mustID(group), State: "deleted to be created again"})
	}, 500*time.Millisecond)
	r.at(time.Second, workflows.ReconcileUpdate, workflows.ReconcileInput{Recreate: true})
	r.start(2 * time.Second)
	if diff := cmp.Diff([]bool{false, true}, approved); diff != "" {
		t.Errorf("approvals of the passes (-want +got):\n%s", diff)
	}
}

func TestReconcileDuringPassRequestsNext(t *testing.T) {
	r := newRun(t)
	r.script.pre = create
	r.script.put = func(activities.PutResourceInput) (activities.PutResourceResult, error) {
		return activities.PutResourceResult{Verdict: resource.Proceed(""), Token: "t", Sent: true}, nil
	}
	polls := 0
	r.script.poll = func(activities.PollOperationInput) (activities.PollOperationResult, error) {
		if polls++; polls == 1 {
			return activities.PollOperationResult{}, temporal.NewApplicationErrorWithOptions("in progress", activities.ErrorNotYet,
				temporal.ApplicationErrorOptions{NextRetryDelay: time.Minute})
		}
		return activities.PollOperationResult{Verdict: resource.Verdict{Action: resource.ActionSuccess}}, nil
	}
	r.apply(desired())
	got := r.at(30*time.Second, workflows.ReconcileUpdate, workflows.ReconcileInput{})
	r.start(50 * time.Second)
	if result, _ := got.result.(workflows.ReconcileResult); result.Pass != 2 {
		t.Errorf("returned pass %d, want 2: the first one started before the request", result.Pass)
	}
}

// TestOldReadingShortensWait checks that a verdict based on an old reading does not wait
// for its whole period.
func TestOldReadingShortensWait(t *testing.T) {
	r := newRun(t)
	r.script.owner = func(activities.CheckOwnerInput) activities.CheckOwnerResult {
		verdict := resource.Block(resource.ReasonReconciliationBlocked, "Updating")
		verdict.RetryWithin = 11 * time.Second
		return activities.CheckOwnerResult{Verdict: verdict}
	}
	r.apply(desired())
	status := r.statusAt(9 * time.Minute)
	r.start(2 * time.Hour)
	if status.Pass < 45 {
		t.Errorf("%d tries in 9 minutes, want one every 11 s", status.Pass)
	}
	if first := waits(r)[0]; first > 2*time.Second {
		t.Errorf("the first wait is %s: a wait that ends before the reading expires is not longer for it", first)
	}
	if status.Attempts > 6 {
		t.Errorf("%d attempts are counted, want only those before the first shortened wait: a shortened wait must not lengthen the next one", status.Attempts)
	}
	if n := int64(r.count("CheckOwner")) - status.Pass; n > 50 {
		t.Errorf("%d tries from then on in 111 minutes, want waits of 3 minutes: the crowd that waits for one resource always has old readings", n)
	}
}

// TestSleeperContinuesAsNew checks that signals that bring nothing new, or have no handler, do
// not fill the history of a sleeping run: it continues as new at its limit.
func TestSleeperContinuesAsNew(t *testing.T) {
	r := newRun(t)
	r.apply(desired())
	wake := workflows.WakeInput{ID: desired().Owner, State: "Ready", At: time.Date(2026, 1, 2, 3, 0, 1, 0, time.UTC)}
	r.RegisterDelayedCallback(func() { r.SignalWorkflow(workflows.WakeSignal, wake) }, time.Minute)
	r.RegisterDelayedCallback(func() {
		r.SetCurrentHistoryLength(501)
		r.SignalWorkflow("nonsense", nil)
	}, 2*time.Minute)
	r.start(3 * time.Minute)
	var next *workflow.ContinueAsNewError
	if !errors.As(r.GetWorkflowError(), &next) || r.count("GetResource") != 1 {
		t.Errorf("ended with %v after %d passes, want continue-as-new after one: a flood of wakes must not wait for the timer", r.GetWorkflowError(), r.count("GetResource"))
	}
}
