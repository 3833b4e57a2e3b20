package starter

import (
	"context"
	"errors"

	"github.com/armature-io/armature/manifest"
	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/starter/internal/backend"
	"github.com/armature-io/armature/starter/internal/cli"
	"github.com/armature-io/armature/starter/internal/mover"
	"github.com/armature-io/armature/starter/internal/rollout"
	"github.com/armature-io/armature/starter/internal/wait"
	"github.com/armature-io/armature/workflows"
	"github.com/spf13/cobra"
)

// checkAbort returns an error for flags that ask for more than the end of a deletion.
func (how deleteOptions) checkAbort() error {
	if how.abort && (how.cascade || how.endScope || how.withData || how.wait.on) {
		return cli.BadInput("--abort takes deletions back, with all that they requested; omit --cascade, --end-scope, --with-data and --wait")
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

func (a *app) moveCommand() *cobra.Command {
	return mover.Command(mover.Options{Out: a.out, By: a.by, Connect: func(ctx context.Context) (mover.Connection, error) { return a.connection(ctx) }})
}

func (a *app) rolloutCommand() *cobra.Command {
	return rollout.Command(rollout.Options{Out: a.out, Err: a.err, Now: a.now, After: a.after, TaskQueue: func() string { return a.taskQueue },
		Connect: func(ctx context.Context) (rollout.Connection, error) {
			b, err := a.connection(ctx)
			if err != nil {
				return nil, err
			}
			return b.versions, nil
		}})
}

func (a *app) forgetCommand() *cobra.Command {
	var (
		input   workflows.ForgetInput
		targets backend.Selection
		yes     bool
	)
	c := &cobra.Command{
		Use:   "forget NAME|ID... | -l SELECTOR",
		Short: "Stop managing resources and leave them in Azure as they are",
		Long: `forget ends the management of resources and sends nothing to Azure, in any state: while
a deletion is stuck, with a wrong api-version, while paused or frozen. An operation
that Azure has accepted continues there. What is in a forgotten resource stays
managed. apply manages the resource again.

With -l or --all it asks first (--yes answers; it is needed without a terminal).

` + cli.ExitHelp,
		Example: "  armature forget adx --reason \"moved to another team\"\n  armature forget -l stack=old --yes",
		RunE: func(c *cobra.Command, args []string) error {
			input.By = a.by
			targets.Names = args
			return a.sendSelected(c.Context(), request{
				targets: targets, ends: true,
				confirm: func(records []backend.Record) error {
					what := cli.Count(len(records), "resource")
					return a.ask(question{
						lines: idLines(records), yes: yes || !targets.IsQuery(), required: true, text: "Stop managing " + what + "?",
						action: "forget " + targets.Flags() + " ends the management of " + what, unchanged: "nothing was sent",
					})
				},
				send: func(ctx context.Context, b *connection, w *wait.Resource) (string, error) {
					var result workflows.ForgetResult
					err := b.Update(ctx, w.WorkflowID, backend.Message{Name: workflows.ForgetUpdate, Input: input, Result: &result})
					if result.Busy {
						return "no longer managed once the request in progress has ended; it is left as it is in Azure", err
					}
					return "no longer managed; it is left as it is in Azure", err
				},
			})
		},
	}
	c.Flags().StringVar(&input.Reason, "reason", "", "why, for the history")
	a.addSelection(c, &targets, "every managed resource")
	c.Flags().BoolVarP(&yes, "yes", "y", false, "do not ask")
	return c
}
