package workflows

import (
	"github.com/armature-io/armature/internal/tracing"
	"go.temporal.io/sdk/workflow"
)

// requestPass records a message that requests a pass. Several messages share one pass.
func (r *reconciler) requestPass(ctx workflow.Context, name, text string) {
	r.state.PassRequested = true
	if name != WakeSignal {
		r.state.Asked, r.state.AskedAt = true, workflow.Now(ctx)
		r.state.noteRequest(name, tracing.Requested(ctx))
	}
	r.cause = name
	r.recordMessage(ctx, name, text)
}

// recordMessage logs a message and ends the wait.
func (r *reconciler) recordMessage(ctx workflow.Context, name, text string) {
	r.messages++
	r.state.addDecision(Decision{At: workflow.Now(ctx), Pass: r.state.Pass, Step: name, Message: text})
}
