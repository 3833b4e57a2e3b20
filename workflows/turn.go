package workflows

import (
	"github.com/armature-io/armature/activities"
	"github.com/armature-io/armature/resource"
	"go.temporal.io/sdk/workflow"
)

// takeTurn asks for the turn that a change needs, where ARM takes the changes
// below a parent one at a time. The verdict blocks while a sibling has it.
func (r *reconciler) takeTurn(ctx workflow.Context, p *pass, parent resource.ID) resource.Verdict {
	if parent.IsZero() {
		return resource.Proceed("")
	}
	turn := r.turn(ctx, parent)
	var a *activities.Activities
	var result activities.TakeTurnResult
	options := requestOptions(ctx, "turn of "+p.desired.ID.Short()+" in "+parent.Short())
	err := workflow.ExecuteActivity(options, a.TakeTurn, activities.TakeTurnInput{Turn: turn}).Get(ctx, &result)
	verdict := verdictOf(result.Verdict, err)
	r.state.Queued = resource.ID{}
	switch {
	case ctx.Err() != nil:
		// The answer may be on its way: nobody stays in a queue for a run that ends.
		r.endTurn(ctx, parent)
	case verdict.Stops():
		r.state.Queued = parent
	}
	return verdict
}

// leaveQueue gives the place in a queue back that a pass does not need any more.
func (r *reconciler) leaveQueue(ctx workflow.Context) {
	if !r.state.Queued.IsZero() {
		r.endTurn(ctx, r.state.Queued)
	}
}

func (r *reconciler) turn(ctx workflow.Context, parent resource.ID) activities.Turn {
	run := workflow.GetInfo(ctx).WorkflowExecution
	return activities.Turn{Parent: parent, ID: r.state.Desired.ID, WorkflowID: run.ID, RunID: run.RunID}
}

// endTurn gives the turn, or the place in the queue, back, also when the run was
// canceled.
func (r *reconciler) endTurn(ctx workflow.Context, parent resource.ID) {
	r.state.Queued = resource.ID{}
	if parent.IsZero() {
		return
	}
	free, cancel := workflow.NewDisconnectedContext(ctx)
	defer cancel()
	var a *activities.Activities
	options := requestOptions(free, "end the turn in "+parent.Short())
	if err := workflow.ExecuteActivity(options, a.EndTurn, activities.EndTurnInput{Turn: r.turn(ctx, parent)}).Get(free, nil); err != nil {
		workflow.GetLogger(ctx).Error("end turn", "error", err)
	}
}
