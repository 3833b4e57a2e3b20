package workflows

import (
	"github.com/armature-io/armature/activities"
	"github.com/armature-io/armature/activities/contents"
	"github.com/armature-io/armature/activities/writing"
	"github.com/armature-io/armature/resource"
	"go.temporal.io/sdk/workflow"
)

// replace deletes a resource that Azure refuses to change, behind the guards of a deletion:
// nothing managed elsewhere may need it, and it must contain nothing that would not be created
// again. The next pass creates it again, as the user approved, and then the managed resources
// in it do so themselves. A message that ends the pass or changes the spec before the DELETE
// takes the approval back.
func (r *reconciler) replace(ctx workflow.Context, p *pass, refusal resource.Verdict) resource.Verdict {
	r.logDecision(ctx, p, "PutResource", refusal)
	var a *activities.Activities
	dependents, err := execute(requestOptions(ctx, "find dependents of "+p.desired.ID.Short()), a.CheckDependents, activities.CheckDependentsInput{
		ID: p.desired.ID, Needs: p.desired.Needs(), Intent: contents.IntentReplace, StatedAt: r.state.StatedAt, Order: r.state.Requests.Order,
	})
	if verdict := verdictOf(dependents.Verdict, err); verdict.Stops() {
		return verdict
	}
	if !r.mayReplace(ctx, p) {
		return refusal
	}
	looked, err := executeRead(requestOptions(ctx, "list the contents of "+p.desired.ID.Short()), r, a.CheckContents, contents.Request{
		ID: p.desired.ID, APIVersion: p.desired.APIVersion, Credential: p.desired.Credential, Stated: p.desired.Body, Intent: contents.IntentReplace,
	})
	if verdict := verdictOf(looked.Verdict, err); verdict.Stops() {
		return verdict
	}
	if !r.mayReplace(ctx, p) {
		return refusal
	}
	// Before the DELETE: a worker that is lost in it must not leave an absence that no user
	// approved, nor delete what another user created meanwhile.
	r.state.approveRecreation()
	r.state.Requests.Approved.Replacement, r.state.Requests.Falling = false, dependents.Falling
	deleted, err := executeWrite(requestOptions(ctx, "DELETE "+nameAndVersion(p.desired)+" to create it again"), r, a.DeleteResource, activities.DeleteResourceInput{
		Desired: p.desired, PassFacts: r.writeFacts(p), SignedDeletion: writing.SignedDeletion{Order: r.state.Requests.Order}, ETag: p.got.ETag,
	})
	verdict := verdictOf(deleted.Verdict, err)
	if verdict.Stops() || ctx.Err() != nil {
		return verdict
	}
	r.logDecision(ctx, p, "DeleteResource", verdict)
	if !deleted.Done {
		if verdict = r.poll(ctx, p, operation{"DELETE", deleted.Token, deleted.RetryAfter, activities.ExpectAbsent}); verdict.Stops() || ctx.Err() != nil {
			return verdict
		}
	}
	r.state.approveRecreation()
	r.state.Requests.Pass = true
	r.notifyFallen(ctx)
	return resource.Verdict{
		Action: resource.ActionBlock, Reason: resource.ReasonReconciling, Severity: resource.SeverityInfo, Class: resource.RetryFast,
		Message: "deleted, because Azure refuses to change it; it is created again",
	}
}

// notifyFallen wakes what fell with the replaced resource, once it is known to be gone: if the
// result of the DELETE is lost, by the next read.
func (r *reconciler) notifyFallen(ctx workflow.Context) {
	fallen := r.state.Requests.Falling
	if len(fallen) == 0 {
		return
	}
	r.state.Requests.Falling = nil
	r.notifyDependents(ctx, activities.WakeDependentsInput{State: stateReplaced, Fallen: fallen, Once: true})
}

// mayReplace reports whether the approval to replace the resource still counts: no forget,
// deletion, pause or new spec came meanwhile.
func (r *reconciler) mayReplace(ctx workflow.Context, p *pass) bool {
	s := r.state
	return ctx.Err() == nil && s.Forget == nil && s.Deletion == nil && !s.Paused && s.Generation == p.generation
}
