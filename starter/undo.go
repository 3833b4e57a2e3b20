package starter

import (
	"context"
	"errors"

	"github.com/armature-io/armature/manifest"
	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/starter/internal/backend"
	"github.com/armature-io/armature/starter/internal/cli"
	"github.com/armature-io/armature/starter/internal/plan"
	"github.com/armature-io/armature/starter/internal/wait"
	"github.com/armature-io/armature/workflows"
)

// checkAbort returns an error for flags that ask for more than the end of a deletion.
func (how deleteOptions) checkAbort() error {
	if how.abort && (how.consent != plan.Consent{} || how.wait.on) {
		return cli.BadInput("--abort takes deletions back, with all that they requested; omit --cascade, --end-scope, --with-data, --keep-going and --wait")
	}
	return nil
}

// abortNamed takes the deletions of a selection back.
func (a *app) abortNamed(ctx context.Context, s backend.Selection) error {
	return a.sendSelected(ctx, request{targets: s, send: func(ctx context.Context, b *connection, w *wait.Resource) (string, error) {
		return a.sendAbort(ctx, b, w.WorkflowID)
	}})
}

// abortManifests takes the deletions of manifests back.
func (a *app) abortManifests(ctx context.Context, set manifest.Set) error {
	b, err := a.connection(ctx)
	if err != nil {
		return err
	}
	records := recordsOf(set.Resources)
	return a.sendAll(ctx, records, backend.MaxParallel, func(ctx context.Context, i int) (string, error) {
		return a.sendAbort(ctx, b, records[i].WorkflowID)
	})
}

// sendAbort sends one AbortUpdate and returns the result as text.
func (a *app) sendAbort(ctx context.Context, b *connection, workflowID string) (string, error) {
	var result workflows.AbortResult
	err := b.Update(ctx, workflowID, backend.Message{Name: workflows.AbortUpdate, Input: workflows.AbortInput{By: a.by}, Result: &result})
	if refusal, ok := errors.AsType[*backend.RefusedError](err); ok && refusal.Kind == workflows.RefusedNotDeleted {
		return "is not being deleted", nil
	}
	if backend.IsNotManaged(err) {
		return "", &backend.RefusedError{Text: "it is not managed; `armature apply` manages it again"}
	}
	return takenBackText(result.DeletedWith) + pausedText(result.Paused), err
}

// takenBackText returns the result of a deletion that was taken back. with is the owner
// whose cascade had requested it.
func takenBackText(with resource.ID) string {
	if with.IsZero() {
		return "deletion taken back"
	}
	return "deletion taken back; it was requested with that of " + with.Short() + ", which requests it again unless you run `armature delete --abort " + with.Short() + "` too"
}
