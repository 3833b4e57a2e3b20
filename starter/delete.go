package starter

import (
	"context"
	"slices"

	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/starter/internal/backend"
	"github.com/armature-io/armature/starter/internal/cli"
	"github.com/armature-io/armature/starter/internal/plan"
	"github.com/armature-io/armature/starter/internal/project"
	"github.com/armature-io/armature/starter/internal/wait"
	"github.com/armature-io/armature/workflows"
	"github.com/spf13/cobra"
)

// deleteOptions are the flags of a deletion.
type deleteOptions struct {
	cascade bool
	// endScope allows to cancel a subscription and to delete a management group.
	endScope bool
	// withData allows to delete data that ARM does not list.
	withData bool
	// abort takes deletions back.
	abort bool
	yes   bool
	wait  waitOptions
}

// input returns the request for one resource.
func (how deleteOptions) input() workflows.DeleteInput {
	return workflows.DeleteInput{Cascade: how.cascade, EndScope: how.endScope, WithData: how.withData}
}

func (a *app) deleteCommand() *cobra.Command {
	var (
		from    project.Flags
		targets backend.Selection
		how     deleteOptions
	)
	c := &cobra.Command{
		Use:        "delete NAME|ID... | -l SELECTOR | -f PATH...",
		SuggestFor: []string{"destroy", "remove", "rm"},
		Short:      "Delete resources in Azure and stop managing them",
		Long: `delete requests the deletion of resources from their workflows; each workflow ends
when Azure no longer has the resource. Resources that are not managed are deleted
only with -f and their manifest. A resource that contains others is not deleted
(reason WaitingForDependents or ContainsUnmanaged) until these are gone, or with
--cascade. Resources elsewhere that refer to it are never deleted with it. A
resource that holds data that ARM does not list (rows, blobs, messages, images) is
not deleted (reason ContainsData) without --with-data, neither by --cascade nor by
a prune; an empty storage account or SQL server needs no such flag.
` + "`armature why NAME`" + ` shows what a deletion waits for.

Until a DELETE was sent, apply takes a deletion back, and so does delete --abort,
which changes nothing else; both also take back what --cascade requested and has
not sent. forget ends only the management. With -f a deletion uses the api-version
of the manifest, so a wrong or retired one is mended by deleting again.

On a terminal it asks first. Elsewhere names, IDs and -f need no confirmation; -l
and --all need --yes.

` + cli.ExitHelp,
		Example: "  armature delete -f examples --with-data --wait\n  armature delete adx/telemetry --with-data\n  armature delete -l stack=old --yes\n  armature delete --abort adx",
		RunE: func(c *cobra.Command, args []string) error {
			targets.Names = args
			if err := how.checkAbort(); err != nil {
				return err
			}
			switch {
			case len(from.Files) > 0 && !targets.IsEmpty():
				return errFilesAndTargets()
			case len(from.Files) == 0 && targets.IsEmpty():
				return cli.BadInput("name the resources, or choose them with -l key=value, -f PATH or --all; `armature get` lists them")
			case len(from.Files) == 0:
				if err := from.Check(); err != nil {
					return err
				}
				if how.abort {
					return a.abortNamed(c.Context(), targets)
				}
				return a.deleteNamed(c.Context(), targets, how)
			}
			set, err := from.Load(c.Context(), a.loader())
			if err != nil {
				return err
			}
			if how.abort {
				return a.abortManifests(c.Context(), set)
			}
			return a.deleteManifests(c.Context(), set.Resources, how)
		},
	}
	from.Add(c)
	a.addSelection(c, &targets, "every managed resource")
	c.Flags().BoolVar(&how.cascade, "cascade", false, "also delete everything in the resource, managed or not")
	c.Flags().BoolVar(&how.endScope, "end-scope", false, "allow to delete the alias of a subscription, which cancels the subscription, and management groups")
	c.Flags().BoolVar(&how.withData, "with-data", false, "also delete data that ARM does not list: rows, blobs, messages, images")
	c.Flags().BoolVar(&how.abort, "abort", false, "take back deletions for which no DELETE was sent")
	c.Flags().BoolVarP(&how.yes, "yes", "y", false, "do not ask")
	a.addSigningKey(c)
	how.wait.add(c, "wait until every resource is deleted")
	return c
}

func (a *app) deleteNamed(ctx context.Context, s backend.Selection, how deleteOptions) error {
	return a.sendSelected(ctx, request{
		targets: s, ends: true, goal: wait.Deleted, wait: how.wait,
		confirm: func(records []backend.Record) error { return a.confirmDelete(records, how, s) },
		send: func(ctx context.Context, b *connection, w *wait.Resource) (string, error) {
			return a.sendDelete(ctx, b, w.Record, how.input(), s.Selector)
		},
	})
}

// deleteManifests deletes the resources of manifests, dependents first. The workflows
// keep that order too, but a resource that is not managed yet would look unmanaged to
// its owner.
func (a *app) deleteManifests(ctx context.Context, resources []resource.Desired, how deleteOptions) error {
	slices.Reverse(resources)
	records := recordsOf(resources)
	if err := a.confirmDelete(records, how, backend.Selection{}); err != nil {
		return err
	}
	b, err := a.connection(ctx)
	if err != nil {
		return err
	}
	err = a.sendWaves(ctx, records, project.DeletionOrder(records), backend.MaxParallel, func(ctx context.Context, i int) (string, error) {
		input := how.input()
		input.Desired, input.APIVersion = &resources[i], resources[i].APIVersion
		return a.sendDelete(ctx, b, records[i], input, "")
	})
	if err != nil || !how.wait.on {
		return err
	}
	return a.wait(ctx, b, wait.All(records), wait.Deleted, how.wait.timeout)
}

// sendDelete sends one DeleteUpdate and returns the result as text. With the spec of a
// manifest it starts the workflow if none runs. Selector is what chose the resource in
// Temporal, "" for its name or manifest.
func (a *app) sendDelete(ctx context.Context, b *connection, r backend.Record, input workflows.DeleteInput, selector string) (string, error) {
	var result workflows.DeleteResult
	input.By = a.by
	key, err := a.signer(b)
	if err == nil {
		err = backend.SignDelete(key, r.ID, &input, selector)
	}
	if err != nil {
		return "", err
	}
	message := backend.Message{Name: workflows.DeleteUpdate, Input: input, Result: &result}
	if input.Desired != nil {
		err = b.UpdateWithStart(ctx, *input.Desired, message)
	} else {
		err = b.Update(ctx, r.WorkflowID, message)
	}
	switch {
	case !result.Changed:
		return "already being deleted", err
	case result.Detached:
		return "no longer managed; it is kept in Azure (its policy)", err
	}
	return "deletion requested" + plan.DeletionText(result.Deletion), err
}

// confirmDelete asks before a deletion. A query needs --yes without a terminal,
// because it may choose more resources than the user expects.
func (a *app) confirmDelete(records []backend.Record, how deleteOptions, s backend.Selection) error {
	what := cli.Count(len(records), "resource")
	q := question{
		lines: idLines(records), text: "Delete " + what + " in Azure?", yes: how.yes, required: s.IsQuery(),
		action: s.Flags() + " deletes " + what, unchanged: "nothing was deleted",
	}
	switch {
	case how.cascade && how.withData:
		q.text = "Delete " + what + " in Azure with everything in it, all data, and what needs it?"
	case how.cascade:
		q.text = "Delete " + what + " in Azure with everything in it and what needs it?"
	case how.withData:
		q.text = "Delete " + what + " in Azure with all data?"
	}
	return a.ask(q)
}
