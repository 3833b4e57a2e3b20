package workflows

import (
	"slices"

	"github.com/armature-io/armature/activities"
	"go.temporal.io/sdk/workflow"
)

// takeWakes takes the signals that arrived: another resource changed, so a
// blocked resource tries again, and reads from before the change are too old for
// it. The loop calls it wherever that counts; a coroutine that waits for signals
// would cost each sleeping run a stack of its own.
func (r *reconciler) takeWakes(ctx workflow.Context) {
	for {
		var in WakeInput
		if !r.wakes.ReceiveAsync(&in) {
			return
		}
		r.wake(ctx, in)
	}
}

func (r *reconciler) wake(ctx workflow.Context, in WakeInput) {
	if !r.state.learn(activities.Change(in)) {
		return
	}
	r.state.Held = slices.DeleteFunc(slices.Clone(r.state.Held), in.ID.Equal)
	if r.state.Phase == PhaseReady && r.state.Delete == nil && !r.passing {
		return
	}
	r.want(ctx, WakeSignal, in.ID.Short()+" is "+in.State)
}
