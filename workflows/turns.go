package workflows

import (
	"github.com/armature-io/armature/activities"
	"github.com/armature-io/armature/resource"
	"go.temporal.io/sdk/workflow"
)

// takeTurn requests the turn for a change where ARM takes the changes below a parent one
// at a time. The verdict blocks while a sibling has the turn.
func (r *reconciler) takeTurn(ctx workflow.Context, p *pass, parent resource.ID) resource.Verdict {
	if parent.IsZero() {
		return resource.Proceed("")
	}
	var a *activities.Activities
	requesting := requestOptions(ctx, "request the turn of "+p.desired.ID.Short()+" in "+parent.Short())
	result, err := executeRead(requesting, r, a.TakeTurn, activities.TakeTurnInput{Turn: r.turn(ctx, parent)})
	verdict := verdictOf(result.Verdict, err)
	r.state.Wait.QueueParent = resource.ID{}
	switch {
	case ctx.Err() != nil:
		// The request may still be granted: a run that ends must not stay in the queue.
		r.endTurn(ctx, parent)
	case verdict.Stops():
		r.state.Wait.QueueParent = parent
	}
	return verdict
}

// leaveQueue gives up the position in a queue that the pass no longer needs.
func (r *reconciler) leaveQueue(ctx workflow.Context) {
	if !r.state.Wait.QueueParent.IsZero() {
		r.endTurn(ctx, r.state.Wait.QueueParent)
	}
}

func (r *reconciler) turn(ctx workflow.Context, parent resource.ID) activities.Turn {
	run := workflow.GetInfo(ctx).WorkflowExecution
	return activities.Turn{Parent: parent, ID: r.state.Desired.ID, WorkflowID: run.ID, RunID: run.RunID}
}

// endTurn gives up the turn, or the position in the queue, also when the run was
// canceled.
func (r *reconciler) endTurn(ctx workflow.Context, parent resource.ID) {
	r.state.Wait.QueueParent = resource.ID{}
	if parent.IsZero() {
		return
	}
	detached, cancel := workflow.NewDisconnectedContext(ctx)
	defer cancel()
	var a *activities.Activities
	ending := requestOptions(detached, "end the turn in "+parent.Short())
	if _, err := execute(ending, a.EndTurn, activities.EndTurnInput{Turn: r.turn(ctx, parent)}); err != nil {
		// The queue takes it back, because the run does not use it (CheckTurn).
		workflow.GetLogger(ctx).Error("end turn", "error", err)
	}
}
