package workflows_test

import (
	"errors"
	"testing"
	"time"

	"github.com/armature-io/armature/activities"
	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/workflows"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"
)

// slowWakes makes every notification of dependents fail until it is given up.
func (r *run) slowWakes() {
	r.script.wake = func(activities.WakeDependentsInput) error {
		return temporal.NewApplicationErrorWithOptions("throttled", "WakeFailed", temporal.ApplicationErrorOptions{NextRetryDelay: time.Minute})
	}
}

// TestOnceAppliesWhatItAccepted checks that a run of --once does not end with a spec that
// it accepted while it notified its dependents.
func TestOnceAppliesWhatItAccepted(t *testing.T) {
	changed := desired()
	changed.Body = []byte(`{"location":"westus3"}`)
	cases := map[string]struct {
		once  bool
		after func(*testing.T, *run)
	}{
		"once again": {once: true, after: func(t *testing.T, r *run) {
			var status workflows.Status
			if err := r.GetWorkflowResult(&status); err != nil || status.Condition.ObservedGeneration != 2 || !status.Condition.Ready {
				t.Errorf("ended with %v and %+v, want generation 2 Ready", err, status.Condition)
			}
		}},
		"managed from now on": {after: func(t *testing.T, r *run) {
			if err := r.GetWorkflowError(); !temporal.IsCanceledError(err) {
				t.Errorf("ended with %v although the resource is managed", err)
			}
		}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			r := newRun(t)
			r.slowWakes()
			r.at(0, workflows.ApplyUpdate, workflows.ApplyInput{Desired: desired(), Once: true})
			got := r.at(time.Minute, workflows.ApplyUpdate, workflows.ApplyInput{Desired: changed, Once: c.once})
			r.start(time.Hour)
			if got.rejected != nil || r.count("GetResource") < 2 {
				t.Errorf("the apply was rejected (%v) or lost: %v", got.rejected, r.script.calls)
			}
			c.after(t, r)
		})
	}
}

// TestMessagesBeforeANewRun checks that a message does not wait until a notification of
// dependents was given up, because the run is to continue as new.
func TestMessagesBeforeANewRun(t *testing.T) {
	cases := map[string]struct {
		update string
		input  any
		done   func(*run, *workflows.Status) bool
	}{
		"reconcile": {workflows.ReconcileUpdate, workflows.ReconcileInput{By: "ada@host"}, func(_ *run, s *workflows.Status) bool { return s.Pass == 2 }},
		"delete":    {workflows.DeleteUpdate, workflows.DeleteInput{By: "ada@host"}, func(r *run, _ *workflows.Status) bool { return r.count("DeleteResource") == 1 }},
		"forget":    {workflows.ForgetUpdate, workflows.ForgetInput{By: "ada@host"}, func(_ *run, s *workflows.Status) bool { return s.Condition.Reason == resource.ReasonDetached }},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			r := newRun(t)
			r.slowWakes()
			r.script.get = func(activities.GetResourceInput) activities.GetResourceResult {
				r.SetContinueAsNewSuggested(true)
				return r.untilDeleted()
			}
			r.apply(desired())
			r.at(time.Second, c.update, c.input)
			soon := r.statusAt(3 * time.Second)
			done := false
			r.RegisterDelayedCallback(func() { done = c.done(r, soon) }, 4*time.Second)
			r.start(time.Hour)
			if !done {
				t.Errorf("%s was accepted and not done within 3 s: pass %d, %+v, %v", name, soon.Pass, soon.Condition, r.script.calls)
			}
			var next *workflow.ContinueAsNewError
			if name == "reconcile" && !errors.As(r.GetWorkflowError(), &next) {
				t.Errorf("ended with %v, want continue-as-new after the notification", r.GetWorkflowError())
			}
		})
	}
}

// TestHistoryLimitIsRecorded checks that the limit of a run is part of its input: another
// limit in a newer worker does not change the order of commands of the runs that exist.
func TestHistoryLimitIsRecorded(t *testing.T) {
	r := newRun(t)
	r.apply(desired())
	r.SetCurrentHistoryLength(501)
	r.start(0)
	var next *workflow.ContinueAsNewError
	var input workflows.ReconcileResourceInput
	if err := r.GetWorkflowError(); !errors.As(err, &next) {
		t.Fatalf("ended with %v, want continue-as-new", err)
	}
	if err := converter.GetDefaultDataConverter().FromPayloads(next.Input, &input); err != nil || input.State.HistoryLimit == 0 {
		t.Fatalf("the next run has the limit %d, %v; want one", input.State.HistoryLimit, err)
	}
	for limit, want := range map[int]bool{60: true, 1000: false} {
		second := newRun(t)
		second.input = input
		second.input.State.HistoryLimit = limit
		second.SetCurrentHistoryLength(501)
		second.start(time.Second)
		if got := errors.As(second.GetWorkflowError(), &next); got != want {
			t.Errorf("with a recorded limit of %d: continued as new %t, want %t", limit, got, want)
		}
	}
}
