package workflows

import (
	"github.com/armature-io/armature/activities"
	"go.temporal.io/sdk/workflow"
)

// receiveWakes notes that another resource changed: a blocked resource tries
// again, and reads from before the change are too old for it.
func (r *reconciler) receiveWakes(ctx workflow.Context) {
	channel := workflow.GetSignalChannel(ctx, WakeSignal)
	for {
		var in WakeInput
		if more := channel.Receive(ctx, &in); !more {
			return
		}
		r.wake(ctx, in)
	}
}

// drainWakes takes the signals that arrived and were not received, before the
// run ends. A signal that came with this very task is already in the hands of
// receiveWakes, which has not run yet: it must first.
func (r *reconciler) drainWakes(ctx workflow.Context) error {
	if err := letOthersRun(ctx); err != nil {
		return err
	}
	channel := workflow.GetSignalChannel(ctx, WakeSignal)
	for {
		var in WakeInput
		if !channel.ReceiveAsync(&in) {
			return nil
		}
		r.wake(ctx, in)
	}
}

// letOthersRun waits until every other coroutine of the run had its turn.
func letOthersRun(ctx workflow.Context) error {
	ran := false
	workflow.Go(ctx, func(workflow.Context) { ran = true })
	return workflow.Await(ctx, func() bool { return ran })
}

func (r *reconciler) wake(ctx workflow.Context, in WakeInput) {
	if !r.state.learn(activities.Change(in)) {
		return
	}
	if r.state.Phase == PhaseReady && r.state.Delete == nil && !r.passing {
		return
	}
	r.want(ctx, WakeSignal, in.ID.Short()+" is "+in.State)
}
