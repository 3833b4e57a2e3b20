package workflows

import (
	"context"

	"go.temporal.io/sdk/workflow"
)

// executeWrite is execute for an activity that writes the spec: right before its request
// leaves, the worker reads in the memo whether a newer spec was applied.
func executeWrite[In, Out any](ctx workflow.Context, r *reconciler, activity func(context.Context, In) (Out, error), in In) (out Out, err error) {
	r.writing = true
	out, err = execute(ctx, activity, in)
	r.writing = false
	return out, err
}

// announceGeneration writes the generation to the memo while a step writes an older one.
func (r *reconciler) announceGeneration(ctx workflow.Context) {
	if r.writing {
		writeMemo(ctx, map[string]any{MemoGeneration: r.state.Generation})
	}
}
