package workflows_test

import (
	"errors"
	"testing"
	"time"

	"github.com/armature-io/armature/activities"
	"github.com/armature-io/armature/workflows"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/workflow"
)

// nextRun returns the input of the next run, and how long the run took to continue as new.
func (r *run) nextRun(begin time.Time) (workflows.ReconcileResourceInput, time.Duration) {
	r.t.Helper()
	var next *workflow.ContinueAsNewError
	if err := r.GetWorkflowError(); !errors.As(err, &next) {
		r.t.Fatalf("ended with %v, want continue-as-new", err)
	}
	var input workflows.ReconcileResourceInput
	if err := converter.GetDefaultDataConverter().FromPayloads(next.Input, &input); err != nil {
		r.t.Fatal(err)
	}
	return input, r.Now().Sub(begin)
}

// TestNotificationsTravel checks that a notification that fails does not hold up the next
// run, which starts it again with the time of the change. Runs of the order before wait.
func TestNotificationsTravel(t *testing.T) {
	begin := time.Date(2026, 1, 2, 3, 0, 0, 0, time.UTC)
	for name, tc := range map[string]struct {
		reason   string
		order    int
		min, max time.Duration
		left     int
	}{
		"leaves":       {reason: "the next run starts it again", order: 2, min: 2 * time.Second, max: 20 * time.Second, left: 1},
		"order before": {reason: "a run keeps its commands", order: 1, min: time.Minute, max: time.Hour},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRun(t)
			r.SetStartTime(begin)
			r.input = workflows.ReconcileResourceInput{Order: tc.order}
			r.reportsOrder(tc.order)
			r.script.wake = func(activities.WakeDependentsInput) error {
				r.SetContinueAsNewSuggested(true)
				return errors.New("no connection")
			}
			r.apply(desired())
			r.start(0)
			input, took := r.nextRun(begin)
			if took < tc.min || took > tc.max || len(input.State.Notifications) != tc.left {
				t.Fatalf("%s: the next run began after %s with %d notifications, want %s to %s and %d", tc.reason, took, len(input.State.Notifications), tc.min, tc.max, tc.left)
			}
			if tc.left == 0 {
				return
			}
			announced := r.script.wakes[0]
			second := newRun(t)
			second.SetStartTime(begin.Add(took))
			second.input = input
			second.reportsOrder(tc.order)
			second.start(time.Minute)
			if len(second.script.wakes) != 1 || second.script.wakes[0].State != announced.State || !second.script.wakes[0].At.Equal(announced.At) {
				t.Errorf("the next run notified %+v, want once %+v", second.script.wakes, announced)
			}
		})
	}
}
