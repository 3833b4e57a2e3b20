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
	heart := startHeart[putProgress](ctx)
	defer heart.stop()
	if p := heart.progress(); p.Accepted {
		return DeleteResourceResult{Verdict: resource.Proceed("accepted by ARM before the worker was lost"), Done: p.Done, Token: p.Token, RetryAfter: p.RetryAfter}, nil
	}
	if err := stopping(ctx); err != nil {
		return DeleteResourceResult{}, err
	}
	requests, cancel := forARM(ctx)
	defer cancel()
	var operation arm.Operation
	var refused error
	err := a.Registry.Delete(requests, a.request(in.Desired), func(ctx context.Context) error {
		operation, refused = a.Client.Delete(ctx, in.Desired.ID, in.Desired.APIVersion)
		return refused
	})
	switch {
	case err != nil && refused == nil && says(err) != nil:
		return DeleteResourceResult{Verdict: a.observed("DeleteResource", *says(err))}, nil
	case err != nil && (refused != nil || isAnswer(err)):
		return a.deleteFailed(ctx, in, heart, err)
	case err != nil:
		return DeleteResourceResult{Verdict: a.observed("DeleteResource",
			resource.Fail(resource.ReasonCheckFailed, resource.RetrySlow, "the extension that deletes the resource failed: "+err.Error()))}, nil
	}
	heart.record(putProgress{Accepted: true, Done: operation.Done, Token: operation.Token, RetryAfter: operation.RetryAfter})
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
			"ARM does not delete this resource: "+verdict.Message+". To let go of it and leave it in Azure, cancel its workflow in Temporal")
	}
	return DeleteResourceResult{Verdict: a.observed("DeleteResource", verdict)}, nil
}

// says is the verdict that an extension put into its error, nil for none.
func says(err error) *resource.Verdict {
	verdict, ok := extensions.VerdictOf(err)
	if !ok {
		return nil
	}
	verdict.Message = secrets.Text(verdict.Message, nil)
	return &verdict
}
