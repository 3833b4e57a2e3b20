package workflows

import (
	"github.com/armature-io/armature/activities"
	"github.com/armature-io/armature/internal/audit"
	"github.com/armature-io/armature/resource"
	"go.temporal.io/sdk/workflow"
)

func (r *reconciler) validateForget(ForgetInput) error {
	if r.state.Desired == nil {
		return r.validateManaged()
	}
	return nil
}

// forget requests the end of the management. A step that is running ends first, except
// one that only reads, and the wait for an operation: no request is sent after that. The memo
// stops a write of the step that has not left.
func (r *reconciler) forget(ctx workflow.Context, in ForgetInput) (ForgetResult, error) {
	if r.state.Forget == nil {
		r.state.Forget = &in
		r.noteRequest(ctx, activities.UserRequest{Event: audit.EventForget, By: in.By, Reason: in.Reason})
		r.recordMessage(ctx, ForgetUpdate, attribution(PauseInput(in)))
	}
	r.interruptRead()
	result := ForgetResult{Busy: r.inPass && r.cancelPoll == nil && !r.interrupted}
	if result.Busy {
		writeMemo(ctx, map[string]any{MemoForgotten: true})
	}
	r.endPoll()
	return result, nil
}

// endManagement ends the management of a resource and leaves it in Azure. What a cascade
// requested and has not sent is taken back, because its owner no longer waits for it.
func (r *reconciler) endManagement(ctx workflow.Context) {
	s, now := r.state, workflow.Now(ctx)
	cascade := s.Deletion != nil && s.Deletion.Cascade || s.Undo != nil && s.Undo.Cascade
	message := "no longer managed; it was left as it is in Azure (forget " + attribution(PauseInput(*s.Forget)) + ")"
	if s.Deletion.sent() {
		message = "no longer managed (forget " + attribution(PauseInput(*s.Forget)) + "); a DELETE may have been sent before, so Azure may still delete it"
	}
	s.Deletion, s.Undo = nil, nil
	s.Condition.Set(resource.Condition{
		Severity: resource.SeverityInfo, Reason: resource.ReasonDetached, Message: message, ObservedGeneration: s.Generation,
	}, now)
	s.Retry.NextTry, s.Wait.For = now, nil
	r.setPhase(ctx, PhaseDeleting, resource.ReasonDetached)
	r.leaveQueue(ctx)
	if cascade {
		r.abortDependents(ctx, s.Forget.By)
	}
	r.notifyDependents(ctx, activities.WakeDependentsInput{State: stateForgotten, Needed: s.Desired.Needs(), Once: true})
}
