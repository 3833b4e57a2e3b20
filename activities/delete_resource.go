package activities

import (
	"context"
	"errors"
	"net/http"

	"github.com/armature-io/armature/arm"
	"github.com/armature-io/armature/resource"
)

// DeleteResource sends the DELETE. It may be repeated: ARM's DELETE is
// idempotent, and an operation in flight is joined by the next read.
func (a *Activities) DeleteResource(ctx context.Context, in DeleteResourceInput) (DeleteResourceResult, error) {
	heart := startHeart[putProgress](ctx)
	defer heart.stop()
	if p := heart.progress(); p.Accepted {
		return DeleteResourceResult{Verdict: resource.Proceed("accepted by ARM before the worker was lost"), Done: p.Done, Token: p.Token, RetryAfter: p.RetryAfter}, nil
	}
	if err := stopping(ctx); err != nil {
		return DeleteResourceResult{}, err
	}
	var operation arm.Operation
	err := a.Registry.Delete(correlated(ctx), a.request(in.Desired), func(ctx context.Context) (err error) {
		operation, err = a.Client.Delete(ctx, in.Desired.ID, in.Desired.APIVersion)
		return err
	})
	switch {
	case arm.IsAbsent(err):
		return DeleteResourceResult{Verdict: resource.Proceed("the resource was gone"), Done: true}, nil
	case err != nil:
		return a.deleteFailed(ctx, in, heart, err)
	}
	heart.record(putProgress{Accepted: true, Done: operation.Done, Token: operation.Token, RetryAfter: operation.RetryAfter})
	verdict := resource.Proceed("ARM accepted the DELETE")
	verdict.RequestID = operation.RequestID
	return DeleteResourceResult{
		Verdict: a.observed("DeleteResource", verdict), Done: operation.Done, Token: operation.Token, RetryAfter: operation.RetryAfter,
	}, nil
}

// deleteFailed gives faults another attempt; a type without DELETE says how to
// let go of it.
func (a *Activities) deleteFailed(ctx context.Context, in DeleteResourceInput, heart *heart[putProgress], err error) (DeleteResourceResult, error) {
	progress := heart.progress()
	progress.Faults++
	heart.record(progress)
	if again, retry := fault(err, progress.Faults); retry {
		return DeleteResourceResult{}, again
	}
	var failure *arm.Error
	verdict := a.verdict(ctx, in.Desired.ID, in.Desired.APIVersion, err)
	if errors.As(err, &failure) && failure.Status == http.StatusMethodNotAllowed {
		verdict = resource.Block(resource.ReasonDeletionNotSupported,
			"ARM has no DELETE for this type; apply the manifest with reconcile.policy: detach-on-delete, then delete it again, and Armature lets go of it")
	}
	return DeleteResourceResult{Verdict: a.observed("DeleteResource", verdict)}, nil
}
