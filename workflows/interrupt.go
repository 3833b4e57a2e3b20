package workflows

import (
	"context"

	"go.temporal.io/sdk/workflow"
)

// executeRead is execute for an activity that changes nothing in Azure and in other
// workflows: a message that ends the pass cancels it.
func executeRead[In, Out any](ctx workflow.Context, r *reconciler, activity func(context.Context, In) (Out, error), in In) (out Out, err error) {
	cancelable, cancel := workflow.WithCancel(ctx)
	r.cancelRead = cancel
	out, err = execute(cancelable, activity, in)
	r.cancelRead = nil
	return out, err
}

// look runs an activity within the workflow task, or, if that fails, as executeRead does.
func look[In, Out any](ctx workflow.Context, r *reconciler, summary string, activity func(context.Context, In) (Out, error), in In) (Out, error) {
	out, err := executeLocal(lookOptions(ctx, summary), activity, in)
	if err != nil && ctx.Err() == nil {
		return executeRead(requestOptions(ctx, summary), r, activity, in)
	}
	return out, err
}

// interruptRead cancels the step that is running, if it only reads. The handlers call it
// for messages after which its result is of no use.
func (r *reconciler) interruptRead() {
	if r.cancelRead == nil {
		return
	}
	r.interrupted = true
	r.cancelRead()
}
