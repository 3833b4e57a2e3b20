package workflows

import (
	"cmp"
	"fmt"
	"time"

	"github.com/armature-io/armature/activities"
	"github.com/armature-io/armature/activities/contents"
	"github.com/armature-io/armature/resource"
	"go.temporal.io/sdk/workflow"
)

// Deletion is a deletion that was requested.
type Deletion struct {
	DeleteInput `json:"request"`
	Stage       DeletionStage `json:"stage"`
	// Identity belongs to the resource to delete, nil until a read showed it.
	Identity resource.Identity `json:"identity,omitempty"`
	// Purge is set once ARM accepted the DELETE of a resource whose manifest states a
	// purge, until that is done.
	Purge *Purge `json:"purge,omitempty"`
}

// DeletionStage is how far a deletion is.
type DeletionStage string

// The stages: no pass has begun, a pass has begun, and ARM may have accepted a DELETE.
const (
	DeletionRequested DeletionStage = "requested"
	DeletionStarted   DeletionStage = "started"
	DeletionSent      DeletionStage = "sent"
)

// deletePass tries to delete the resource. A blocked or refused deletion is retried
// forever: it never becomes fatal.
func (r *reconciler) deletePass(ctx workflow.Context) {
	p := r.newPass()
	if policy := p.desired.Policy; policy.Detaches() {
		r.logDecision(ctx, p, "DeleteResource", resource.Proceed("policy "+string(policy)+": no request is sent"))
		r.finishDeletion(ctx, resource.ReasonDetached, "no longer managed; the resource stays in Azure (policy "+string(policy)+")")
		return
	}
	if r.state.Deletion.Stage == DeletionRequested {
		r.state.Deletion.Stage = DeletionStarted
		r.state.Condition.Set(resource.Condition{
			Severity: resource.SeverityInfo, Reason: resource.ReasonDeleting, ObservedGeneration: p.generation,
			Message: "deletion in progress",
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

// checkDependents blocks while managed resources need this one: dependents are deleted
// first. With --cascade it requests their deletion.
func (r *reconciler) checkDependents(ctx workflow.Context, p *pass) resource.Verdict {
	if r.state.Deletion.Held {
		return resource.Block(resource.ReasonWaitingForDependents, "it protects resources that are deleted with it: it is deleted when Azure refuses to delete one of them because of it")
	}
	var a *activities.Activities
	result, err := execute(requestOptions(ctx, "find dependents of "+p.desired.ID.Short()), a.CheckDependents, activities.CheckDependentsInput{
		ID: p.desired.ID, Needs: p.desired.Needs(), Cascade: r.state.Deletion.Cascade, By: r.state.Deletion.By, WithData: r.state.Deletion.WithData,
		StatedAt: r.state.StatedAt, Order: r.order(), WaitedFor: r.state.Wait.lasted(workflow.Now(ctx)),
	})
	p.overdueAfter = result.OverdueAfter
	if err == nil {
		r.followAudit(ctx, result.Audits)
	}
	return verdictOf(result.Verdict, err)
}

// checkOwnerForDelete blocks while the owner blocks all access. It finishes the deletion
// when the owner no longer exists: no resource outlives its owner.
func (r *reconciler) checkOwnerForDelete(ctx workflow.Context, p *pass) resource.Verdict {
	var a *activities.Activities
	checking := checkOptions(ctx, fmt.Sprintf("owner of %s, pass %d", p.desired.ID.Short(), p.number))
	result, err := executeLocal(checking, a.CheckOwner, activities.CheckOwnerInput{
		Desired: p.desired, PassFacts: r.facts(p), Deleting: true, WaitedFor: r.state.Wait.lasted(workflow.Now(ctx)),
	})
	p.overdueAfter = result.OverdueAfter
	if err == nil && result.OwnerAbsent {
		return r.purgeAndFinish(ctx, p, "deleted: its owner "+p.desired.Owner.Short()+" does not exist")
	}
	return verdictOf(result.Verdict, err)
}

// getForDelete finishes the deletion when the resource is absent. It waits for an
// operation in flight before anything else, unless the pass is forced.
func (r *reconciler) getForDelete(ctx workflow.Context, p *pass) resource.Verdict {
	verdict := r.readResource(ctx, p, activities.ExpectAny)
	if verdict.Stops() {
		return verdict
	}
	if p.got.InFlight != "" && !p.request.forced() {
		method := "PUT"
		if isDeleting(p.got.InFlight) {
			method = "DELETE"
		}
		if polled := r.poll(ctx, p, operation{method: method}); polled.Reason == resource.ReasonOperationTimeout {
			return polled
		}
		if r.isTakenBack() {
			return verdict
		}
		if verdict = r.readResource(ctx, p, activities.ExpectAny); verdict.Stops() {
			return verdict
		}
	}
	if !p.got.Exists {
		return r.purgeAndFinish(ctx, p, "the resource does not exist")
	}
	return verdict
}

// checkContents blocks while a DELETE would also delete resources that the request did
// not name.
func (r *reconciler) checkContents(ctx workflow.Context, p *pass) resource.Verdict {
	var a *activities.Activities
	result, err := executeRead(requestOptions(ctx, "list the contents of "+p.desired.ID.Short()), r, a.CheckContents, contents.Request{
		ID: p.desired.ID, APIVersion: p.desired.APIVersion, Credential: p.desired.Credential, Cascade: r.state.Deletion.Cascade, By: r.state.Deletion.By,
		Stated: p.desired.Body, EndScope: r.state.Deletion.EndScope, WithData: r.state.Deletion.WithData,
	})
	p.turn = result.Turn
	return verdictOf(result.Verdict, err)
}

// deleteResource sends the DELETE when the turn is granted, waits for the operation, and
// reads until the resource is absent.
func (r *reconciler) deleteResource(ctx workflow.Context, p *pass) resource.Verdict {
	if verdict := r.takeTurn(ctx, p, p.turn); verdict.Stops() || ctx.Err() != nil {
		return verdict
	}
	if r.isTakenBack() {
		r.endTurn(ctx, p.turn)
		return resource.Verdict{}
	}
	verdict := r.deleteAndPoll(ctx, p)
	r.endTurn(ctx, p.turn)
	if verdict.Stops() || ctx.Err() != nil || r.state.Forget != nil {
		return verdict
	}
	if got := r.readAfter(ctx, p, activities.ExpectAbsent); got.Stops() {
		return got
	}
	if p.got.Exists {
		return resource.Block(resource.ReasonDeleting, "ARM accepted the DELETE, but a GET still returns the resource; it is read again")
	}
	return r.purgeAndFinish(ctx, p, "deleted")
}

// Purge is the purge of what Azure keeps of a deleted resource.
type Purge struct {
	// Since is when the resource was first absent, Sent is set once ARM accepted the
	// purge.
	Since time.Time `json:"since,omitzero"`
	Sent  bool      `json:"sent,omitempty"`
}

// purge returns the purge that belongs to the deletion, nil for none.
func (r *reconciler) purge() *Purge {
	if r.isTakenBack() {
		return nil
	}
	return r.state.Deletion.Purge
}

// purgeAndFinish ends the deletion of an absent resource. Where ARM accepted the DELETE
// and the manifest states a purge, it purges first what Azure keeps of the resource. What
// disappeared without a DELETE is never purged.
func (r *reconciler) purgeAndFinish(ctx workflow.Context, p *pass, message string) resource.Verdict {
	if purge := r.purge(); purge != nil {
		if purge.Since.IsZero() {
			purge.Since = workflow.Now(ctx)
		}
		var a *activities.Activities
		result, err := execute(requestOptions(ctx, "purge "+p.desired.ID.Short()), a.PurgeResource, activities.PurgeResourceInput{
			Desired: p.desired, PassFacts: r.writeFacts(p), SignedDeletion: r.signedDeletion(p), Since: purge.Since, Sent: purge.Sent,
		})
		purge.Sent = purge.Sent || result.Sent
		verdict := verdictOf(result.Verdict, err)
		if verdict.Stops() || ctx.Err() != nil || r.state.Forget != nil {
			return verdict
		}
		r.logDecision(ctx, p, "PurgeResource", verdict)
		message += "; " + verdict.Message
		r.state.Deletion.Purge = nil
	}
	r.finishDeletion(ctx, resource.ReasonDeleted, message)
	return resource.Proceed(message)
}

// deleteAndPoll sends the DELETE and waits for its operation.
func (r *reconciler) deleteAndPoll(ctx workflow.Context, p *pass) resource.Verdict {
	var a *activities.Activities
	deletion := r.state.Deletion
	deletion.noteRead(p.got)
	before := deletion.Stage
	deletion.Stage, r.deleteRuns = DeletionSent, before != DeletionSent
	result, err := execute(requestOptions(ctx, "DELETE "+nameAndVersion(p.desired)), a.DeleteResource, activities.DeleteResourceInput{
		Desired: p.desired, PassFacts: r.writeFacts(p), SignedDeletion: r.signedDeletion(p), ETag: p.got.ETag,
	})
	r.deleteRuns, p.deleted = false, result
	if err == nil && result.Unsent {
		deletion.Stage = before
	}
	verdict := verdictOf(result.Verdict, err)
	if verdict.Stops() || ctx.Err() != nil {
		return verdict
	}
	r.logDecision(ctx, p, "DeleteResource", verdict)
	if result.Accepted && p.desired.Deletion.Purge {
		deletion.Purge = &Purge{}
	}
	if result.Done {
		return verdict
	}
	return r.poll(ctx, p, operation{"DELETE", result.Token, result.RetryAfter, activities.ExpectAbsent})
}

// sent reports whether ARM may have accepted a DELETE, false without a deletion.
func (d *Deletion) sent() bool { return d != nil && d.Stage == DeletionSent }

// noteRead keeps the identity that the first read showed. Another request of a user drops it,
// so a DELETE notes it again.
func (d *Deletion) noteRead(got activities.GetResourceResult) {
	if d.Identity == nil {
		d.Identity = got.Identity
	}
}

// finishDeletion ends the management of the resource, unless the deletion was taken back.
func (r *reconciler) finishDeletion(ctx workflow.Context, reason resource.Reason, message string) {
	if r.isTakenBack() {
		return
	}
	now := workflow.Now(ctx)
	r.state.Condition.Set(resource.Condition{
		Severity: resource.SeverityInfo, Reason: reason, Message: message, ObservedGeneration: r.state.Generation,
	}, now)
	r.state.Retry.NextTry, r.state.Wait.For = now, nil
	r.setPhase(ctx, PhaseDeleting, reason)
	r.leaveQueue(ctx)
	r.notifyDependents(ctx, activities.WakeDependentsInput{State: stateDeleted, Needed: r.state.Desired.Needs(), Once: true})
}

// join keeps what an earlier request for the same deletion asked for. A request of a
// user outlasts the cascade of an owner.
func (in *DeleteInput) join(earlier DeleteInput) {
	in.Cascade, in.EndScope = in.Cascade || earlier.Cascade, in.EndScope || earlier.EndScope
	in.WithData, in.Held = in.WithData || earlier.WithData, in.Held && earlier.Held
	in.Order = joinedOrder(*in, earlier)
	in.APIVersion, in.Stack = cmp.Or(in.APIVersion, earlier.APIVersion), cmp.Or(in.Stack, earlier.Stack)
	if !in.From.IsZero() {
		in.From = earlier.From
	}
}
