package workflows_test

import (
	"errors"
	"testing"
	"time"

	"github.com/armature-io/armature/workflows"
	"go.temporal.io/sdk/workflow"
)

// TestMoveVersionSignal checks that a run moves at once to a version that
// its work is routed to, without a pass, and that the signal alone changes nothing.
func TestMoveVersionSignal(t *testing.T) {
	for name, changed := range map[string]bool{"another version": true, "the same version": false} {
		t.Run(name, func(t *testing.T) {
			r := newRun(t)
			r.apply(desired())
			const at = 10 * time.Minute
			r.RegisterDelayedCallback(func() {
				r.SetTargetWorkerDeploymentVersionChanged(changed)
				r.SignalWorkflow(workflows.MoveVersionSignal, nil)
			}, at)
			r.start(20 * time.Minute)
			var next *workflow.ContinueAsNewError
			if moved := errors.As(r.GetWorkflowError(), &next); moved != changed {
				t.Errorf("moved within 20 min: %t, want %t (ended with %v)", moved, changed, r.GetWorkflowError())
			}
			if r.count("CheckOwner") != 1 {
				t.Errorf("%d passes, want only the first one", r.count("CheckOwner"))
			}
		})
	}
}

// TestMoveVersionSignalOfFreeze checks that a freeze moves at once too, which would otherwise
// wait for its timer.
func TestMoveVersionSignalOfFreeze(t *testing.T) {
	f := newFreezes(t)
	f.at(0, workflows.FreezeUpdate, "stack=prod")
	started := f.Now()
	f.RegisterDelayedCallback(func() { f.SignalWorkflow(workflows.MoveVersionSignal, nil) }, time.Minute)
	f.RegisterDelayedCallback(func() {
		f.SetTargetWorkerDeploymentVersionChanged(true)
		f.SignalWorkflow(workflows.MoveVersionSignal, nil)
	}, 2*time.Minute)
	f.ExecuteWorkflow(workflows.HoldFreezeWorkflow, workflows.HoldFreezeInput{})
	var next *workflow.ContinueAsNewError
	if !errors.As(f.GetWorkflowError(), &next) {
		t.Fatalf("ended with %v, want continue-as-new", f.GetWorkflowError())
	}
	if took := f.Now().Sub(started); took > 3*time.Minute {
		t.Errorf("moved after %s, want at the second signal after 2 min", took)
	}
}
