package workflows

import (
	"fmt"

	"github.com/armature-io/armature/activities"
	"github.com/armature-io/armature/internal/audit"
	"github.com/armature-io/armature/resource"
	"go.temporal.io/sdk/workflow"
)

// Undo is what is left to do after a deletion was taken back.
type Undo struct {
	By string `json:"by,omitempty"`
	// Cascade is set when the deletion requested the deletions of its dependents.
	Cascade bool `json:"cascade,omitempty"`
}

// canAbort reports whether the deletion can be taken back: ARM has accepted no DELETE.
func (s *State) canAbort() bool {
	return s.Deletion != nil && !s.Deletion.sent() && !s.deleted()
}

// isTakenBack reports whether a deletion pass is to stop: its deletion was taken back, or
// the management ends.
func (r *reconciler) isTakenBack() bool { return r.state.Deletion == nil || r.state.Forget != nil }

func (r *reconciler) validateAbort(in AbortInput) error {
	if err := r.validateManaged(); err != nil {
		return err
	}
	name := r.state.Desired.ID.Short()
	switch {
	case r.state.Deletion == nil:
		return refused(RefusedNotDeleted, "%s is not being deleted", name)
	case !in.From.IsZero() && !r.state.Deletion.From.Equal(in.From):
		return refused(RefusedNotDeleted, "the deletion of %s was not requested with that of %s", name, in.From.Short())
	case in.Stack != "" && r.state.Deletion.Stack != in.Stack:
		return refused(RefusedNotDeleted, "another request deletes %s by now", name)
	case r.deleteRuns:
		return refused(RefusedRunning, "the deletion of %s cannot be taken back while a DELETE runs: repeat the command in some seconds, it works if Azure accepts none", name)
	case !r.state.canAbort():
		return refused(RefusedDeleting, "the deletion of %s cannot be taken back: Azure may have accepted the DELETE", name)
	}
	return nil
}

// abort takes a deletion back. The loop does the rest (finishUndo).
func (r *reconciler) abort(ctx workflow.Context, in AbortInput) (AbortResult, error) {
	with := r.takeBack(ctx, in.By)
	r.interruptRead()
	r.noteRequest(ctx, activities.UserRequest{Event: audit.EventAbort, By: in.By})
	r.requestPass(ctx, AbortUpdate, "by "+in.By)
	return AbortResult{DeletedWith: with, Paused: r.state.pauseBlocks()}, nil
}

// takeBack ends a deletion that has sent nothing, and returns the owner whose cascade had
// requested it.
func (r *reconciler) takeBack(ctx workflow.Context, by string) resource.ID {
	s := r.state
	with := s.Deletion.From
	s.Undo = &Undo{By: by, Cascade: s.Deletion.Cascade || s.Undo != nil && s.Undo.Cascade}
	s.Deletion = nil
	s.Retry.reset()
	s.Wait.For = nil
	s.Condition.Set(resource.Condition{
		Severity: resource.SeverityInfo, Reason: resource.ReasonReconciling, ObservedGeneration: s.Generation,
		Message: "the deletion was taken back by " + by + "; the next pass has not ended yet",
	}, workflow.Now(ctx))
	r.setPhase(ctx, PhasePending, resource.ReasonReconciling)
	if r.inDeletion {
		r.endPoll()
	}
	return with
}

// endPoll ends the wait for an operation in flight.
func (r *reconciler) endPoll() {
	if r.cancelPoll != nil {
		r.cancelPoll()
	}
}

// finishUndo does what is left after a deletion was taken back: it leaves the queue for
// the turn, takes back the deletions of dependents that the cascade requested, and
// notifies the resources that wait for this one.
func (r *reconciler) finishUndo(ctx workflow.Context) {
	undo := r.state.Undo
	r.state.Undo = nil
	r.leaveQueue(ctx)
	if undo.Cascade {
		r.abortDependents(ctx, undo.By)
	}
	r.notifyDependents(ctx, activities.WakeDependentsInput{State: stateKept, Needed: r.state.Desired.Needs(), Once: r.state.Once})
}

// abortDependents takes back the deletions that a cascade requested and that have sent
// nothing.
func (r *reconciler) abortDependents(ctx workflow.Context, by string) {
	var a *activities.Activities
	id := r.state.Desired.ID
	aborting := activityOptions(ctx, "take back the deletions in "+id.Short(), requestTimeout, abortTimeout)
	result, err := execute(aborting, a.AbortDependents, activities.AbortDependentsInput{ID: id, By: by})
	verdict := verdictOf(result.Verdict, err)
	if err != nil {
		verdict.Message = fmt.Sprintf("cannot take back the deletions in %s, which may continue: %s", id.Short(), verdict.Message)
	}
	r.logDecision(ctx, &pass{number: r.state.Pass}, "AbortDependents", verdict)
}
