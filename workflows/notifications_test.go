package workflows_test

import (
	"errors"
	"testing"
	"time"

	"github.com/armature-io/armature/activities"
	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/workflows"
)

// nextRun returns the input of the next run, and how long the run took to continue as new.
func (r *run) nextRun(begin time.Time) (workflows.ReconcileResourceInput, time.Duration) {
	r.t.Helper()
	return nextRun[workflows.ReconcileResourceInput](r.t, r), r.Now().Sub(begin)
}

// TestNotificationsTravel checks that a notification that fails does not hold up the next
// run, which starts it again with the time of the change.
func TestNotificationsTravel(t *testing.T) {
	begin := time.Date(2026, 1, 2, 3, 0, 0, 0, time.UTC)
	r := newRun(t)
	r.SetStartTime(begin)
	r.script.wake = func(activities.WakeDependentsInput) error {
		r.SetContinueAsNewSuggested(true)
		return errors.New("no connection")
	}
	r.apply(desired())
	r.start(0)
	input, took := r.nextRun(begin)
	if took < 2*time.Second || took > 20*time.Second || len(input.State.Notifications) != 1 {
		t.Fatalf("the next run began after %s with %d notifications, want 2 to 20 s and one", took, len(input.State.Notifications))
	}
	announced := r.script.wakes[0]
	second := newRun(t)
	second.SetStartTime(begin.Add(took))
	second.input = input
	second.start(time.Minute)
	if len(second.script.wakes) != 1 || second.script.wakes[0].State != announced.State || !second.script.wakes[0].At.Equal(announced.At) {
		t.Errorf("the next run notified %+v, want once %+v", second.script.wakes, announced)
	}
}

// TestNewRunDuringNotification checks that a run that sleeps while a notification of dependents is
// tried again starts no pass because it is to continue as new.
func TestNewRunDuringNotification(t *testing.T) {
	r := newRun(t)
	r.slowWakes()
	r.apply(desired())
	state := r.startUntil(time.Minute)
	if len(state.Notifications) != 1 || r.count("GetResource") != 1 {
		t.Errorf("the next run has %d notifications after %d passes, want one after one", len(state.Notifications), r.count("GetResource"))
	}
}

// TestNothingWaits checks which creations cost an activity to notify others.
func TestNothingWaits(t *testing.T) {
	cases := map[string]struct {
		reason      string
		once        bool
		unawaited   bool
		fails       error
		later, wake int
	}{
		"nothing waits":   {reason: "the worker notifies those that begin to wait meanwhile", unawaited: true, later: 1},
		"something waits": {reason: "an activity survives the worker", wake: 1},
		"once":            {reason: "the run ends", once: true, wake: 1},
		"fails":           {reason: "the activity is the fallback", unawaited: true, fails: errors.New("away"), later: 1, wake: 1},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			r := newRun(t)
			r.script.wakeLater = tc.fails
			r.script.get = func(activities.GetResourceInput) activities.GetResourceResult { return absent() }
			r.script.pre = create
			r.script.put = func(activities.PutResourceInput) (activities.PutResourceResult, error) {
				return activities.PutResourceResult{Verdict: resource.Proceed("accepted"), Sent: true, Token: "token"}, nil
			}
			asked := false
			r.script.poll = func(in activities.PollOperationInput) (activities.PollOperationResult, error) {
				asked = in.Waiters
				got := present()
				return activities.PollOperationResult{Verdict: resource.Verdict{Action: resource.ActionSuccess}, Got: &got, Unawaited: in.Waiters && tc.unawaited}, nil
			}
			r.at(0, workflows.ApplyUpdate, workflows.ApplyInput{Desired: desired(), By: "ada@host", Once: tc.once})
			r.start(10 * time.Minute)
			if len(r.script.later) != tc.later || len(r.script.wakes) != tc.wake || asked == tc.once {
				t.Errorf("%s: %d later, %d activities, asked: %t; want %d, %d", tc.reason, len(r.script.later), len(r.script.wakes), asked, tc.later, tc.wake)
			}
			for _, in := range r.script.later {
				if !in.ID.Equal(desired().ID) || in.State != "Ready" || in.At.IsZero() {
					t.Errorf("notifies %+v, want this resource, Ready, with the time", in)
				}
			}
		})
	}
}
