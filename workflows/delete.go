package workflows

import (
	"fmt"
	"strings"

	"github.com/armature-io/armature/activities"
	"github.com/armature-io/armature/resource"
	"go.temporal.io/sdk/workflow"
)

// deletePass tries to delete the resource. A blocked or refused deletion is
// tried again for ever: it never becomes fatal.
func (r *reconciler) deletePass(ctx workflow.Context) {
	p := r.newPass()
	if policy := p.desired.Policy; policy.Leaves() {
		r.decided(ctx, p, "DeleteResource", resource.Proceed("policy "+string(policy)+": no request is made"))
		r.gone(ctx, resource.ReasonDetached, "no longer managed; the resource stays in Azure (policy "+string(policy)+")")
		return
	}
	if !r.state.DeleteBegun {
		r.state.DeleteBegun = true
		r.state.Condition.Set(resource.Condition{
			Severity: resource.SeverityInfo, Reason: resource.ReasonDeleting, ObservedGeneration: p.generation,
			Message: "the deletion is under way",
		}, workflow.Now(ctx))
		r.setPhase(ctx, PhaseDeleting, resource.ReasonDeleting)
	}
	r.runSteps(ctx, p, []step{
		{"CheckDependents", r.checkDependents},
		{"CheckOwner", r.checkOwnerForDelete},
		{"GetResource", r.getForDelete},
		{"CheckContents", r.checkContents},
		{"DeleteResource", r.deleteResource},
	})
}

// checkDependents blocks while managed resources need this one: what depends
// goes first. With --cascade they are told to go.
func (r *reconciler) checkDependents(ctx workflow.Context, p *pass) resource.Verdict {
	var a *activities.Activities
	var result activities.CheckDependentsResult
	ctx = requestOptions(ctx, "who needs "+p.desired.ID.Short()+"?")
	err := workflow.ExecuteActivity(ctx, a.CheckDependents, activities.CheckDependentsInput{
		ID: p.desired.ID, Needs: p.desired.Needs(), Cascade: r.state.Delete.Cascade, By: r.state.Delete.By,
	}).Get(ctx, &result)
	p.overdueAfter = result.OverdueAfter
	return verdictOf(result.Verdict, err)
}

// checkOwnerForDelete blocks while the owner blocks all access, and is done
// when the owner is gone: nothing outlives its owner.
func (r *reconciler) checkOwnerForDelete(ctx workflow.Context, p *pass) resource.Verdict {
	var a *activities.Activities
	var result activities.CheckOwnerResult
	local := checkOptions(ctx, fmt.Sprintf("owner of %s, pass %d", p.desired.ID.Short(), p.number))
	err := workflow.ExecuteLocalActivity(local, a.CheckOwner, activities.CheckOwnerInput{
		Desired: p.desired, Deleting: true, Force: p.forced(),
		Changes: r.state.Changes,
	}).Get(ctx, &result)
	p.overdueAfter = result.OverdueAfter
	if err == nil && result.OwnerAbsent {
		r.gone(ctx, resource.ReasonDeleted, "gone: its owner "+p.desired.Owner.Short()+" does not exist")
		return resource.Proceed("the owner is gone, so the resource is")
	}
	return verdictOf(result.Verdict, err)
}

// getForDelete is done when the resource is absent, and joins an operation that
// is in flight before anything else, unless the pass is forced.
func (r *reconciler) getForDelete(ctx workflow.Context, p *pass) resource.Verdict {
	verdict := r.read(ctx, p, activities.ExpectAny)
	if verdict.Stops() {
		return verdict
	}
	if p.got.InFlight != "" && !p.forced() {
		method := "PUT"
		if strings.EqualFold(p.got.InFlight, "Deleting") {
			method = "DELETE"
		}
		if joined := r.poll(ctx, p, operation{method: method}); joined.Stops() && joined.Reason == resource.ReasonOperationTimeout {
			return joined
		}
		if verdict = r.read(ctx, p, activities.ExpectAny); verdict.Stops() {
			return verdict
		}
	}
	if !p.got.Exists {
		r.gone(ctx, resource.ReasonDeleted, "the resource does not exist")
	}
	return verdict
}

// checkContents blocks while a DELETE would take along what nobody named.
func (r *reconciler) checkContents(ctx workflow.Context, p *pass) resource.Verdict {
	var a *activities.Activities
	var result activities.CheckContentsResult
	ctx = requestOptions(ctx, "look into "+p.desired.ID.Short())
	err := workflow.ExecuteActivity(ctx, a.CheckContents, activities.CheckContentsInput{
		ID: p.desired.ID, APIVersion: p.desired.APIVersion, Credential: p.desired.Credential, Cascade: r.state.Delete.Cascade, By: r.state.Delete.By,
	}).Get(ctx, &result)
	p.turn = result.Turn
	return verdictOf(result.Verdict, err)
}

// deleteResource sends the DELETE when it is its turn, waits for the operation,
// and reads until the resource is absent.
func (r *reconciler) deleteResource(ctx workflow.Context, p *pass) resource.Verdict {
	if verdict := r.takeTurn(ctx, p, p.turn); verdict.Stops() || ctx.Err() != nil {
		return verdict
	}
	verdict := r.remove(ctx, p)
	r.endTurn(ctx, p.turn)
	if verdict.Stops() || ctx.Err() != nil {
		return verdict
	}
	if got := r.readAfter(ctx, p, activities.ExpectAbsent); got.Stops() {
		return got
	}
	if p.got.Exists {
		return resource.Block(resource.ReasonDeleting, "ARM accepted the DELETE, but a GET still shows the resource; it is read again")
	}
	r.gone(ctx, resource.ReasonDeleted, "deleted")
	return resource.Proceed("the resource is gone")
}

// remove sends the DELETE and waits for its operation.
func (r *reconciler) remove(ctx workflow.Context, p *pass) resource.Verdict {
	var a *activities.Activities
	var result activities.DeleteResourceResult
	request := requestOptions(ctx, "DELETE "+named(p.desired))
	err := workflow.ExecuteActivity(request, a.DeleteResource, activities.DeleteResourceInput{
		Desired: p.desired, Repeated: r.state.Ended,
	}).Get(ctx, &result)
	verdict := verdictOf(result.Verdict, err)
	if verdict.Stops() || ctx.Err() != nil {
		return verdict
	}
	r.decided(ctx, p, "DeleteResource", verdict)
	if result.Done {
		return verdict
	}
	return r.poll(ctx, p, operation{"DELETE", result.Token, result.RetryAfter, activities.ExpectAbsent})
}

// gone ends the management of the resource.
func (r *reconciler) gone(ctx workflow.Context, reason resource.Reason, message string) {
	now := workflow.Now(ctx)
	r.state.Condition.Set(resource.Condition{
		Severity: resource.SeverityInfo, Reason: reason, Message: message, ObservedGeneration: r.state.Generation,
	}, now)
	r.state.NextTry, r.state.WaitingFor = now, nil
	r.setPhase(ctx, PhaseDeleting, reason)
	r.leaveQueue(ctx)
	r.wakeDependents(ctx, activities.WakeDependentsInput{State: toldDeleted, Needed: r.state.Desired.Needs(), Once: true})
}
