package workflows

import (
	"slices"

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
	r.state.Wait.QueueParent = resource.ID{}
	if p.granted {
		return resource.Proceed("")
	}
	var a *activities.Activities
	summary := "request the turn of " + p.desired.ID.Short() + " in " + parent.Short()
	result, err := look(ctx, r, summary, a.TakeTurn, activities.TakeTurnInput{Turn: r.turn(ctx, parent)})
	verdict := verdictOf(result.Verdict, err)
	switch {
	case ctx.Err() != nil:
		// The request may still be granted: a run that ends must not stay in the queue.
		r.endTurn(ctx, parent)
	case verdict.Stops():
		r.state.Wait.QueueParent, r.queued, p.queuedAt = parent, p, workflow.Now(ctx)
	}
	return verdict
}

// noteGrant takes the wake of the queue: this resource has the turn. One that left the queue has
// sent its end already, and a pass that runs from the first step on is going to ask or to leave.
func (r *reconciler) noteGrant(ctx workflow.Context, in WakeInput) {
	if r.state.Wait.QueueParent.IsZero() || r.inPass && r.queued == nil {
		return
	}
	r.granted = true
	r.requestPass(ctx, WakeSignal, in.ID.Short()+" is "+in.State)
}

// takeQueued returns the pass that waits for its turn if it has it now, else nil. After a request
// of a user all steps are due.
func (r *reconciler) takeQueued() *pass {
	p, continues := r.queued, r.granted && r.state.Requests.At.IsZero()
	r.queued, r.granted = nil, false
	if p == nil || !continues {
		return nil
	}
	p.number, p.granted = r.state.Pass+1, true
	return p
}

// continueQueued writes what a pass found whose turn came, or repeats its steps if that is too old.
func (r *reconciler) continueQueued(ctx workflow.Context, p *pass) {
	steps := r.steps(r)
	if workflow.Now(ctx).Sub(p.queuedAt) > activities.MaxObservationAge {
		fresh := r.newPass()
		fresh.granted = true
		r.runSteps(ctx, fresh, steps)
		return
	}
	r.runSteps(ctx, p, steps[slices.IndexFunc(steps, func(s step) bool { return s.name == "PutResource" }):])
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
	ended := workflow.SignalExternalWorkflow(detached, SiblingsWorkflowID(parent), "", EndTurnSignal, r.turn(ctx, parent))
	if err := ended.Get(detached, nil); err != nil {
		// The queue was lost, and its turns with it.
		workflow.GetLogger(ctx).Warn("end turn", "error", err)
	}
}
