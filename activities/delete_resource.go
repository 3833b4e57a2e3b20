package activities

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"github.com/armature-io/armature/arm"
	"github.com/armature-io/armature/extensions"
	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/secrets"
)

// DeleteResource sends the DELETE. It may be repeated: ARM's DELETE is
// idempotent, and an operation in flight is joined by the next read.
func (a *Activities) DeleteResource(ctx context.Context, in DeleteResourceInput) (DeleteResourceResult, error) {
	ctx = as(ctx, in.Desired.Credential, in.Desired.ID)
	heart := startHeart[putProgress](ctx)
	defer heart.stop()
	if err := stopping(ctx); err != nil {
		return DeleteResourceResult{}, err
	}
	stop := forbidden(in.Desired, "DELETE")
	if stop == nil {
		stop = a.frozen(ctx, in.Desired)
	}
	if stop != nil {
		return DeleteResourceResult{Verdict: a.observed("DeleteResource", *stop)}, nil
	}
	requests, cancel := forARM(ctx)
	defer cancel()
	operation, refused, err := a.deleteThrough(requests, in.Desired)
	switch {
	case err != nil && refused == nil && says(err) != nil:
		verdict := *says(err)
		if verdict.Reason == resource.ReasonDeletionNotSupported {
			verdict = a.leftToOwner(ctx, in.Desired.ID, verdict)
		}
		return DeleteResourceResult{Verdict: a.observed("DeleteResource", verdict)}, nil
	case err != nil && (refused != nil || isAnswer(err)):
		return a.deleteFailed(ctx, in, heart, err)
	case err != nil:
		return DeleteResourceResult{Verdict: a.observed("DeleteResource",
			resource.Fail(resource.ReasonCheckFailed, resource.RetrySlow, "the extension that deletes the resource failed: "+err.Error()))}, nil
	}
	verdict := resource.Proceed(fmt.Sprintf("ARM accepted the DELETE with status %d", operation.Status))
	switch operation.Status {
	case 0:
		verdict.Message = "an extension deletes the resource without a DELETE of its own ID; the resource is read until it is gone"
	case http.StatusNotFound:
		verdict.Message = "the resource did not exist any more"
	}
	verdict.RequestID = operation.RequestID
	return DeleteResourceResult{
		Verdict: a.observed("DeleteResource", verdict), Done: operation.Done, Token: operation.Token, RetryAfter: operation.RetryAfter,
	}, nil
}

// deleteFailed gives faults another attempt. A resource that ARM does not let go
// by itself waits for its owner's deletion, and without one says how to let go of
// it.
func (a *Activities) deleteFailed(ctx context.Context, in DeleteResourceInput, heart *heart[putProgress], err error) (DeleteResourceResult, error) {
	progress := heart.progress()
	progress.Faults++
	of := attempted{id: in.Desired.ID, apiVersion: in.Desired.APIVersion, before: in.Repeated}
	verdict := a.judge(ctx, of, err, &progress.seen)
	heart.record(progress)
	if again, retry := fault(err, progress.Faults); retry {
		return DeleteResourceResult{}, again
	}
	var failure *arm.Error
	switch {
	case !errors.As(err, &failure):
	case failure.NotDeletable():
		verdict = a.leftToOwner(ctx, in.Desired.ID, notDeletable(verdict))
	case isLock(failure):
		verdict = a.explainLocks(ctx, in.Desired.ID, verdict)
	case stays(failure):
		verdict = a.leftToOwner(ctx, in.Desired.ID, verdict)
	}
	return DeleteResourceResult{Verdict: a.observed("DeleteResource", verdict)}, nil
}

// stays reports whether ARM refuses a DELETE because of what the resource is to
// others: the last pool of a cluster, a subnet in use. It does not wait for
// somebody's right, and not for an operation that goes on.
func stays(failure *arm.Error) bool {
	switch failure.Status {
	case http.StatusBadRequest:
		return true
	case http.StatusConflict:
		return failure.Class != arm.ClassConflict && failure.Class != arm.ClassThrottled
	}
	return false
}

// notDeletable is the verdict of a type that ARM does not delete.
func notDeletable(refusal resource.Verdict) resource.Verdict {
	verdict := resource.Block(resource.ReasonDeletionNotSupported,
		"ARM does not delete this resource by itself: "+refusal.Message+". It ends with its owner; to let go of it and leave it in Azure, apply it with policy detach-on-delete before the delete, or cancel its workflow in Temporal")
	verdict.RequestID = refusal.RequestID
	return verdict
}

// leftToOwner leaves a resource that is not let go to the DELETE of its owner,
// which takes it along, while the owner is being deleted; else the refusal
// stands.
func (a *Activities) leftToOwner(ctx context.Context, id resource.ID, refusal resource.Verdict) resource.Verdict {
	owner, going, err := a.ownerIsGoing(ctx, id)
	switch {
	case err != nil:
		return resource.Fail(resource.ReasonCheckFailed, resource.RetrySlow, fmt.Sprintf(
			"ARM does not delete this resource (%s), and Temporal could not tell whether its owner is being deleted: %v", refusal.Message, err))
	case going:
		verdict := waitForOwnerDelete(owner, refusal.Message)
		verdict.RequestID = refusal.RequestID
		return verdict
	}
	return refusal
}

// ownerIsGoing finds the nearest owner that is managed, and reports whether it is
// being deleted: its DELETE takes along what it holds.
func (a *Activities) ownerIsGoing(ctx context.Context, id resource.ID) (resource.ID, bool, error) {
	for owner := id.Owner(); !owner.IsZero(); owner = owner.Owner() {
		managed, known, err := a.Fleet.Managed(ctx, owner)
		if err != nil {
			return resource.ID{}, false, fmt.Errorf("look up owner %s: %w", owner.Short(), err)
		}
		if known {
			return owner, managed.Deleting, nil
		}
	}
	return resource.ID{}, false, nil
}

// waitForOwnerDelete is the verdict of a resource that goes with its owner.
func waitForOwnerDelete(owner resource.ID, because string) resource.Verdict {
	verdict := resource.Block(resource.ReasonWaitingForOwnerDelete, fmt.Sprintf(
		"it goes with %s, which is being deleted: %s", owner.Short(), because))
	verdict.WaitingFor = []resource.ID{owner}
	return verdict
}

// deleteThrough sends the DELETE through the extensions: what ARM answered to it,
// and what the extensions made of that. One that is given up may go on behind.
func (a *Activities) deleteThrough(ctx context.Context, desired resource.Desired) (operation arm.Operation, refused, err error) {
	type answer struct {
		operation arm.Operation
		refused   error
	}
	answers := make(chan answer, 1)
	err = a.Registry.Delete(ctx, a.request(desired), func(ctx context.Context) error {
		sent, refused := a.Client.Delete(ctx, desired.ID, desired.APIVersion)
		select {
		case answers <- answer{sent, refused}:
		default: // an extension that deletes twice: the first answer counts
		}
		return refused
	})
	select {
	case got := <-answers:
		return got.operation, got.refused, err
	default:
		return operation, nil, err
	}
}

// says is the verdict that an extension put into its error, nil for none.
func says(err error) *resource.Verdict {
	verdict, ok := extensions.VerdictOf(err)
	if !ok {
		return nil
	}
	verdict.Message = secrets.Scrub(verdict.Message, nil)
	return &verdict
}
