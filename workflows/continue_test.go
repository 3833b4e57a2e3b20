package workflows_test

import (
	"errors"
	"testing"
	"time"

	"github.com/armature-io/armature/activities"
	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/workflows"
	"go.temporal.io/sdk/workflow"
)

func TestContinueAsNew(t *testing.T) {
	r := newRun(t)
	r.apply(desired())
	r.RegisterDelayedCallback(func() { r.SetContinueAsNewSuggested(true) }, time.Minute)
	r.at(2*time.Minute, workflows.PauseUpdate, workflows.PauseInput{By: "x"})
	r.start(0)
	input := nextRun[workflows.ReconcileResourceInput](t, r)
	input.State.Paused = false

	second := newRun(t)
	second.input = input
	second.SetStartTime(time.Date(2026, 1, 2, 3, 0, 1, 0, time.UTC))
	early := second.statusAt(input.State.Retry.NextTry.Sub(time.Date(2026, 1, 2, 3, 0, 1, 0, time.UTC)) - time.Second)
	late := second.statusAt(input.State.Retry.NextTry.Sub(time.Date(2026, 1, 2, 3, 0, 1, 0, time.UTC)) + time.Second)
	second.start(2 * time.Hour)
	if early.Pass != 1 || early.Generation != 1 || early.Phase != workflows.PhaseReady {
		t.Errorf("a second before the next try: pass %d, generation %d, phase %s; want the state of the first run and no pass", early.Pass, early.Generation, early.Phase)
	}
	if late.Pass != 2 {
		t.Errorf("a second after the next try: pass %d, want 2: the next run must resume the wait, not restart it", late.Pass)
	}
}

// TestContinueAsNewKeepsWakeOfSameTask checks that a signal in the workflow task of the
// end of the last pass is not lost, although the run ends in that task.
func TestContinueAsNewKeepsWakeOfSameTask(t *testing.T) {
	r := newRun(t)
	changed := time.Date(2026, 1, 2, 3, 0, 0, 0, time.UTC)
	// The pass ends with an activity, not with a check: the code after a check runs later
	// in the task than the handler of the signal.
	r.script.get = func(activities.GetResourceInput) activities.GetResourceResult {
		r.SetContinueAsNewSuggested(true)
		r.SignalWorkflowSkippingWorkflowTask(workflows.WakeSignal, workflows.WakeInput{ID: mustID(group), State: "Succeeded", At: changed})
		return activities.GetResourceResult{Verdict: resource.Fail("AuthorizationFailed", resource.RetrySlow, "403")}
	}
	r.apply(desired())
	r.start(0)
	input := nextRun[workflows.ReconcileResourceInput](t, r)
	if known := input.State.Changes; len(known) != 1 || !known[0].At.Equal(changed) || !input.State.Requests.Pass {
		t.Errorf("the next run has the changes %v, want one of %s: the wake is lost", known, changed)
	}
}

// TestIdleWorkflowsMoveToNewVersion checks that an idle workflow without a next try moves
// to a new worker version. Otherwise the old workers could never be stopped.
func TestIdleWorkflowsMoveToNewVersion(t *testing.T) {
	cases := map[string]func(*run){
		"paused": func(r *run) { r.at(time.Second, workflows.PauseUpdate, workflows.PauseInput{By: "ada@host"}) },
		"fatal":  func(r *run) { blocked(r.script, resource.RetryNone, 0) },
	}
	for name, arrange := range cases {
		t.Run(name, func(t *testing.T) {
			r := newRun(t)
			arrange(r)
			spec := desired()
			spec.Interval = 0
			r.apply(spec)
			r.RegisterDelayedCallback(func() { r.SetTargetWorkerDeploymentVersionChanged(true) }, 10*time.Hour)
			r.start(12 * time.Hour)
			var next *workflow.ContinueAsNewError
			if err := r.GetWorkflowError(); !errors.As(err, &next) {
				t.Errorf("ended with %v, want continue-as-new within 90 min of the new version", err)
			}
			if r.count("CheckOwner") != 1 {
				t.Errorf("%d passes, want only the first one", r.count("CheckOwner"))
			}
		})
	}
}

// TestLongHistoryContinuesAsNew checks that a run continues as new before its history
// is slow to replay, long before the server suggests it.
func TestLongHistoryContinuesAsNew(t *testing.T) {
	for length, want := range map[int]bool{450: false, 520: true} {
		r := newRun(t)
		r.SetCurrentHistoryLength(length)
		r.apply(desired())
		r.start(time.Second)
		var next *workflow.ContinueAsNewError
		if got := errors.As(r.GetWorkflowError(), &next); got != want {
			t.Errorf("with %d events: continued as new %t, want %t (ended with %v)", length, got, want, r.GetWorkflowError())
		}
	}
}
