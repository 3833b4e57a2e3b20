package activities

import (
	"context"
	"fmt"

	"go.temporal.io/sdk/temporal"

	"github.com/armature-io/armature/activities/contents"
	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/secrets"
)

// AbortDependentsInput is a resource whose deletion with Cascade was taken back.
type AbortDependentsInput struct {
	ID resource.ID `json:"id"`
	By string      `json:"by,omitempty"`
}

// AbortDependentsResult names what could not be taken back.
type AbortDependentsResult struct {
	Verdict resource.Verdict `json:"verdict"`
}

// errorAbort is the type of an error of Temporal while deletions are taken back; it is
// in histories.
const errorAbort = "AbortFailed"

// AbortDependents takes back the deletions that a cascade requested, where no DELETE was
// sent yet. It may be repeated: a deletion that was taken back is skipped.
func (a *Activities) AbortDependents(ctx context.Context, in AbortDependentsInput) (AbortDependentsResult, error) {
	defer startHeartbeat[struct{}](ctx).stop()
	requests, cancel := requestContext(ctx)
	defer cancel()
	aborted, err := a.Fleet.Abort(requests, Cascade{Owner: in.ID, By: in.By})
	if err != nil {
		return AbortDependentsResult{}, temporal.NewApplicationErrorWithOptions(
			"take back the deletions in "+in.ID.Short()+": "+secrets.Scrub(err.Error(), nil), errorAbort,
			temporal.ApplicationErrorOptions{NextRetryDelay: transientDelay})
	}
	message := fmt.Sprintf("took back the deletions of %d resources in %s", aborted.Count, in.ID.Short())
	if len(aborted.Sent) > 0 {
		message += "; Azure may have accepted the DELETE of " + contents.NameAll(contents.DisplayNames(aborted.Sent))
	}
	if len(aborted.Running) > 0 {
		message += "; a DELETE still runs of " + contents.NameAll(contents.DisplayNames(aborted.Running)) +
			": where Azure accepts none, `armature delete --abort` takes the deletion back"
	}
	return AbortDependentsResult{Verdict: a.report("AbortDependents", resource.Proceed(message))}, nil
}
