package workflows

import (
	"context"

	"go.temporal.io/sdk/workflow"
)

// changeInterruptReads is the version with which a message cancels a step that only reads.
// It is asked for when a message arrives during such a step, so that other runs have no
// event of it.
const changeInterruptReads = "interrupt-reads"

// executeRead is execute for an activity that changes nothing in Azure and in other
// workflows: a message that ends the pass cancels it.
func executeRead[In, Out any](ctx workflow.Context, r *reconciler, activity func(context.Context, In) (Out, error), in In) (out Out, err error) {
	cancelable, cancel := workflow.WithCancel(ctx)
	r.cancelRead = cancel
	out, err = execute(cancelable, activity, in)
	r.cancelRead = nil
	return out, err
}

// interruptRead cancels the step that is running, if it only reads. The handlers call it
// for messages after which its result is of no use.
func (r *reconciler) interruptRead(ctx workflow.Context) {
	if r.cancelRead == nil || workflow.GetVersion(ctx, changeInterruptReads, workflow.DefaultVersion, 1) == workflow.DefaultVersion {
		return
	}
	r.interrupted = true
	r.cancelRead()
}
