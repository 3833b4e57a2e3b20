package activities

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/armature-io/armature/activities/writing"
	"github.com/armature-io/armature/arm"
	"github.com/armature-io/armature/internal/extensionhost"
	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/secrets"
	"go.temporal.io/sdk/activity"
)

// DeleteResourceInput is the resource to delete.
type DeleteResourceInput struct {
	Desired resource.Desired `json:"desired"`
	PassFacts
	// ETag is that of the read on which the decision is based, "" where it had none.
	ETag string `json:"etag,omitempty"`
	writing.SignedDeletion
}

// DeleteResourceResult is the outcome of the DELETE.
type DeleteResourceResult struct {
	Verdict resource.Verdict `json:"verdict"`
	// Done is set when nothing is left to poll.
	Done       bool          `json:"done,omitempty"`
	Token      string        `json:"token,omitempty"`
	RetryAfter time.Duration `json:"retryAfter,omitempty"`
	// Unsent is set when ARM accepted no DELETE: none was sent, or ARM refused it. It is
	// false where that is not certain.
	Unsent bool `json:"unsent,omitempty"`
	// Accepted is set when ARM accepted the DELETE of a resource that existed: a 204 or
	// 404 proves nothing.
	Accepted bool `json:"accepted,omitempty"`
}

// DeleteResource sends the DELETE, in its first attempt only: one that is repeated blindly
// would delete what was created again meanwhile, with all of its contents. A later attempt
// ends the pass, and the next one reads the resource and looks for contents first.
func (a *Activities) DeleteResource(ctx context.Context, in DeleteResourceInput) (DeleteResourceResult, error) {
	ctx = withCredential(ctx, in.Desired.Credential, in.Desired.ID)
	heartbeat := startHeartbeat[readProgress](ctx)
	defer heartbeat.stop()
	if err := checkWorkerStop(ctx); err != nil {
		return DeleteResourceResult{}, err
	}
	if !isFirstAttempt(ctx) {
		return DeleteResourceResult{Verdict: a.report("DeleteResource", deleteAgain(heartbeat.progress()))}, nil
	}
	stop := a.purger().Check(in.Desired)
	if stop == nil {
		stop = a.checks().CheckDeletion(ctx, in.Desired, in.SignedDeletion)
	}
	if stop != nil {
		return DeleteResourceResult{Verdict: a.report("DeleteResource", *stop), Unsent: isFirstAttempt(ctx)}, nil
	}
	requests, cancel := requestContext(ctx)
	defer cancel()
	requests = a.forWrites(requests, in.Desired, in.PassFacts, writing.Step{Deletion: &in.SignedDeletion, Progress: heartbeat.content})
	request := a.request(in.Desired)
	operation, refusal, err := a.deleteThrough(requests, request, in)
	verdict, decided := extensionhost.VerdictOf(err)
	if stop, blocked := writing.Blocked(err); blocked {
		return DeleteResourceResult{Verdict: a.report("DeleteResource", stop), Unsent: !a.Registry.Deletes(in.Desired.ID.Type())}, nil
	}
	switch {
	case err != nil && refusal == nil && decided:
		verdict.Message = secrets.Scrub(verdict.Message, nil)
		if verdict.Reason == resource.ReasonDeletionNotSupported {
			verdict = leaveToOwner(ctx, a.Fleet, in.Desired.ID, verdict)
		}
		return DeleteResourceResult{Verdict: a.report("DeleteResource", verdict)}, nil
	case err != nil && (refusal != nil || isARMError(err)):
		return a.deleteFailed(ctx, in, heartbeat, err)
	case err != nil:
		return DeleteResourceResult{Verdict: a.report("DeleteResource",
			resource.Fail(resource.ReasonCheckFailed, resource.RetrySlow, "the extension that deletes the resource failed: "+err.Error()))}, nil
	}
	verdict = resource.Proceed(fmt.Sprintf("ARM accepted the DELETE with status %d", operation.Status) + a.purger().Text(in.Desired))
	switch operation.Status {
	case 0:
		verdict.Message = "an extension deletes the resource without a DELETE of its own ID; the resource is read until it is absent"
	case http.StatusNotFound:
		verdict.Message = "the resource no longer existed"
	}
	verdict = readerOf(request).withWrites(verdict)
	verdict.RequestID = operation.RequestID
	return DeleteResourceResult{
		Verdict: a.report("DeleteResource", verdict), Done: operation.Done, Token: operation.Token, RetryAfter: operation.RetryAfter,
		Accepted: operation.Status == http.StatusOK || operation.Status == http.StatusAccepted,
	}, nil
}

// deleteAgain is the verdict of an attempt after one that may have sent the DELETE.
func deleteAgain(progress readProgress) resource.Verdict {
	message := "an earlier attempt may have sent the DELETE: the resource is read again before another one"
	if answer := progress.Answer; answer != nil {
		message += "; ARM's last response was: " + answer.Message
	}
	return resource.Block(resource.ReasonDeleting, message)
}

// deleteFailed returns the verdict of a DELETE that failed. A resource that ARM does not delete by
// itself waits for the deletion of its owner; without one the verdict explains how
// to stop managing it.
func (a *Activities) deleteFailed(ctx context.Context, in DeleteResourceInput, heartbeat *heartbeater[readProgress], err error) (DeleteResourceResult, error) {
	request := failedRequest{id: in.Desired.ID, apiVersion: in.Desired.APIVersion, repeated: in.Repeated, write: true, refs: in.Desired.WithSecrets().SecretRefs}
	progress := heartbeat.progress()
	progress.TransientErrors++
	verdict := a.failureVerdict(ctx, request, err, &progress.lastAnswer)
	heartbeat.send(progress)
	if failure, ok := errors.AsType[*arm.Error](err); ok {
		switch {
		case failure.NotDeletable():
			verdict = leaveToOwner(ctx, a.Fleet, in.Desired.ID, notDeletableVerdict(verdict))
		case isLock(failure):
			verdict = explainLocks(ctx, a.Client, in.Desired.ID, verdict)
		case refusedByUse(failure):
			verdict = leaveToOwner(ctx, a.Fleet, in.Desired.ID, verdict)
		}
	}
	return DeleteResourceResult{Verdict: a.report("DeleteResource", verdict), Unsent: a.refusedUnsent(ctx, in.Desired, err)}, nil
}

// refusedUnsent reports whether a DELETE that failed has changed nothing in Azure: ARM
// refused the first attempt, and no extension sent anything before it.
func (a *Activities) refusedUnsent(ctx context.Context, desired resource.Desired, err error) bool {
	return isRefusal(err) && isFirstAttempt(ctx) && !a.Registry.Deletes(desired.ID.Type())
}

// isFirstAttempt reports whether no earlier attempt of the activity can have sent
// anything.
func isFirstAttempt(ctx context.Context) bool { return activity.GetInfo(ctx).Attempt == 1 }

// isRefusal reports whether ARM refused a request, so that nothing came of it. After
// any other error it may have accepted the request.
func isRefusal(err error) bool {
	failure, ok := errors.AsType[*arm.Error](err)
	return ok && failure.Status >= http.StatusBadRequest && failure.Status < http.StatusInternalServerError &&
		failure.Status != http.StatusRequestTimeout
}

// refusedByUse reports whether ARM refuses a DELETE because of what the resource is
// to others: the last pool of a cluster, a subnet in use. Missing rights and
// operations in progress are no such refusal.
func refusedByUse(failure *arm.Error) bool {
	switch failure.Status {
	case http.StatusBadRequest:
		return true
	case http.StatusConflict:
		return failure.Class != arm.ClassConflict && failure.Class != arm.ClassThrottled
	}
	return false
}

// notDeletableVerdict is the verdict of a type that ARM does not delete.
func notDeletableVerdict(refusal resource.Verdict) resource.Verdict {
	verdict := resource.Block(resource.ReasonDeletionNotSupported,
		"ARM does not delete this resource by itself: "+refusal.Message+". It is deleted with its owner; to stop managing it and leave it in Azure, run armature forget")
	verdict.RequestID = refusal.RequestID
	return verdict
}

// leaveToOwner waits for the DELETE of the owner, which removes the resource too,
// while the owner is being deleted. Otherwise it returns the refusal.
func leaveToOwner(ctx context.Context, fleet Fleet, id resource.ID, refusal resource.Verdict) resource.Verdict {
	owner, deleting, err := deletingOwner(ctx, fleet, id)
	switch {
	case err != nil:
		return resource.Fail(resource.ReasonCheckFailed, resource.RetrySlow, fmt.Sprintf(
			"ARM does not delete this resource (%s), and looking up in Temporal whether its owner is being deleted failed: %v", refusal.Message, err))
	case deleting:
		verdict := waitForOwnerDelete(owner, refusal.Message)
		verdict.RequestID = refusal.RequestID
		return verdict
	}
	return refusal
}

// deletingOwner returns the nearest managed owner, and reports whether it is being
// deleted: its DELETE removes what it contains.
func deletingOwner(ctx context.Context, fleet Fleet, id resource.ID) (resource.ID, bool, error) {
	for owner := id.Owner(); !owner.IsZero(); owner = owner.Owner() {
		managed, known, err := fleet.Managed(ctx, owner)
		if err != nil {
			return resource.ID{}, false, fmt.Errorf("look up owner %s: %w", owner.Short(), err)
		}
		if known {
			return owner, managed.Deleting, nil
		}
	}
	return resource.ID{}, false, nil
}

// waitForOwnerDelete is the verdict of a resource that is deleted with its owner.
func waitForOwnerDelete(owner resource.ID, because string) resource.Verdict {
	verdict := resource.Block(resource.ReasonWaitingForOwnerDelete, fmt.Sprintf(
		"it is deleted with %s, which is being deleted: %s", owner.Short(), because))
	verdict.WaitingFor = []resource.ID{owner}
	return verdict
}

// deleteThrough sends the DELETE through the extensions. It returns ARM's response
// to it, and the error that the extensions made of that. An extension that timed
// out may still run.
func (a *Activities) deleteThrough(ctx context.Context, request extensionhost.Request, in DeleteResourceInput) (operation arm.Operation, refusal, err error) {
	type response struct {
		operation arm.Operation
		refusal   error
	}
	responses := make(chan response, 1)
	err = a.Registry.Delete(ctx, request, func(ctx context.Context) error {
		sent, refusal := a.deleteUnchanged(ctx, in)
		select {
		case responses <- response{sent, refusal}:
		default: // an extension that deletes twice: the first response counts
		}
		return refusal
	})
	select {
	case got := <-responses:
		return got.operation, got.refusal, err
	default:
		return operation, nil, err
	}
}
