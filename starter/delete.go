package starter

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/starter/internal/backend"
	"github.com/armature-io/armature/starter/internal/cli"
	"github.com/armature-io/armature/starter/internal/plan"
	"github.com/armature-io/armature/starter/internal/project"
	"github.com/armature-io/armature/starter/internal/wait"
	"github.com/armature-io/armature/workflows"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// deleteOptions are the flags of a deletion.
type deleteOptions struct {
	consent plan.Consent
	// abort takes deletions back.
	abort bool
	yes   bool
	wait  waitOptions
}

// input returns the request for one resource.
func (how deleteOptions) input() workflows.DeleteInput {
	return workflows.DeleteInput{Cascade: how.consent.Cascade, EndScope: how.consent.EndScope, WithData: how.consent.WithData}
}

// addConsent adds the flags with which a user allows a deletion.
func addConsent(flags *pflag.FlagSet, to *plan.Consent) {
	flags.BoolVar(&to.Cascade, "cascade", false, "also delete everything in the resource, managed or not")
	flags.BoolVar(&to.EndScope, "end-scope", false, "allow to delete the alias of a subscription, which cancels the subscription, and management groups")
	flags.BoolVar(&to.KeepGoing, "keep-going", false, "delete the rest if a resource may not be deleted")
	flags.BoolVar(&to.WithData, "with-data", false, "also delete data that ARM does not list: rows, blobs, messages, images")
}

func (a *app) deleteCommand() *cobra.Command {
	var (
		from    project.Flags
		targets backend.Selection
		how     deleteOptions
		// planFile replaces all of them.
		planFile string
	)
	c := &cobra.Command{
		Use:        "delete NAME|ID... | -l SELECTOR | -f PATH...",
		SuggestFor: []string{"destroy", "remove", "rm"},
		Short:      "Delete resources in Azure and stop managing them",
		Long: `delete asks first, for all chosen resources, everything that can be asked: their
policies, data, management locks, deny assignments and the rights of the credential,
contents that nobody manages, and managed resources elsewhere that need them. If one of
them may not be deleted, or a question has no answer, nothing is deleted, and a table
names each refusal with its remedy. --keep-going deletes the rest: not what a refused
resource needs, and not the lock that protects it. No flag overrides policy protect.
` + "`armature plan --delete`" + ` shows the same table and deletes nothing.

Then it requests the deletions from the workflows; each workflow ends when Azure no
longer has the resource. Resources that are not managed are deleted only with -f and
their manifest. --cascade includes what is in a resource, managed or not, and --with-data
data that ARM does not list (rows, blobs, messages, images); a prune includes neither.
` + "`armature why NAME`" + ` shows what a deletion waits for.

Until a DELETE was sent, apply takes a deletion back, and so does delete --abort,
which changes nothing else; both also take back what --cascade requested and has
not sent. forget ends only the management. With -f a deletion uses the api-version
of the manifest, so a wrong or retired one is mended by deleting again.

On a terminal it asks first. Elsewhere names, IDs and -f need no confirmation; -l
and --all need --yes. --plan-file FILE deletes exactly the resources of a plan
(` + "`armature plan --delete --out FILE`" + `), and nothing if one of them, its contents, locks or
dependents differ by now.

` + cli.ExitHelp,
		Example: "  armature delete -f examples --with-data --wait\n  armature delete adx/telemetry --with-data\n  armature delete -l stack=old --yes\n  armature delete --plan-file old.plan --wait\n  armature delete --abort adx",
		RunE: func(c *cobra.Command, args []string) error {
			targets.Names = args
			if err := how.checkAbort(); err != nil {
				return err
			}
			if planFile != "" {
				if err := checkPlanFile(c.Flags(), args); err != nil {
					return err
				}
				return a.deletePlanned(c.Context(), planFile, how)
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
	addConsent(c.Flags(), &how.consent)
	c.Flags().StringVar(&planFile, "plan-file", "", "delete exactly the resources of the plan in this `file` (armature plan --delete --out)")
	c.Flags().BoolVar(&how.abort, "abort", false, "take back deletions for which no DELETE was sent")
	c.Flags().BoolVarP(&how.yes, "yes", "y", false, "do not ask")
	a.addSigningKey(c)
	how.wait.add(c, "wait until every resource is deleted")
	return c
}

// deletePlanFlags are the flags that can be combined with --plan-file.
var deletePlanFlags = map[string]bool{"plan-file": true, "wait": true, "timeout": true, "task-queue": true, "worker-timeout": true, "yes": true}

// checkPlanFile returns an error for what would change a plan.
func checkPlanFile(flags *pflag.FlagSet, args []string) error {
	err := checkOtherFlags(flags, deletePlanFlags)
	if err == nil && len(args) > 0 {
		err = cli.BadInput("--plan-file names the resources; omit %q", args[0])
	}
	return err
}

func (a *app) deleteNamed(ctx context.Context, s backend.Selection, how deleteOptions) error {
	var p plan.Plan
	var with accompanied
	err := a.sendSelected(ctx, request{
		targets: s, ends: true, goal: wait.Deleted, wait: how.wait,
		confirm: func(ctx context.Context, b *connection, records []backend.Record) (sent []backend.Record, err error) {
			d := deletion{records: records, consent: how.consent}
			if p, err = d.plan(ctx, b); err != nil {
				return nil, err
			}
			if sent, err = a.agree(p, d, how, s); err == nil {
				with, err = a.accompany(ctx, b, p)
			}
			return sent, err
		},
		send: func(ctx context.Context, b *connection, w *wait.Resource) (string, error) {
			return a.sendDelete(ctx, b, w.Record, with.request(w.ID, how.input()), s.Selector)
		},
	})
	return cmp.Or(err, keptError(p))
}

// deleteManifests deletes the resources of manifests.
func (a *app) deleteManifests(ctx context.Context, resources []resource.Desired, how deleteOptions) error {
	b, err := a.connection(ctx)
	if err != nil {
		return err
	}
	slices.Reverse(resources)
	d := deletion{records: recordsOf(resources), specs: specsOf(resources), consent: how.consent}
	p, err := d.plan(ctx, b)
	if err != nil {
		return err
	}
	return a.deleteAgreed(ctx, b, p, d, how, backend.Selection{})
}

// deleteAgreed deletes the resources of a plan, dependents first. The workflows keep that
// order too, but a resource that is not managed yet would look unmanaged to its owner.
func (a *app) deleteAgreed(ctx context.Context, b *connection, p plan.Plan, d deletion, how deleteOptions, s backend.Selection) error {
	records, err := a.agree(p, d, how, s)
	if err != nil {
		return err
	}
	with, err := a.accompany(ctx, b, p)
	if err != nil {
		return err
	}
	err = a.sendWaves(ctx, records, project.DeletionOrder(records), backend.MaxParallel, func(ctx context.Context, i int) (string, error) {
		input := with.request(records[i].ID, how.input())
		if spec := d.specs[records[i].ID.Key()]; spec != nil {
			input.Desired, input.APIVersion = spec, spec.APIVersion
		}
		return a.sendDelete(ctx, b, records[i], input, "")
	})
	if err == nil && how.wait.on {
		err = a.wait(ctx, b, wait.All(records), wait.Deleted, how.wait.timeout)
	}
	return cmp.Or(err, keptError(p))
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
func (a *app) confirmDelete(p plan.Plan, records []backend.Record, how deleteOptions, s backend.Selection) error {
	what := cli.Count(len(records), "resource")
	q := question{
		text: "Delete " + what + " in Azure?", yes: how.yes, required: s.IsQuery(),
		action: s.Flags() + " deletes " + what, unchanged: "nothing was deleted",
	}
	switch {
	case how.consent.Cascade && how.consent.WithData:
		q.text = "Delete " + what + " in Azure with everything in it, all data, and what needs it?"
	case how.consent.Cascade:
		q.text = "Delete " + what + " in Azure with everything in it and what needs it?"
	case how.consent.WithData:
		q.text = "Delete " + what + " in Azure with all data?"
	}
	if !p.Refused() {
		q.lines = strings.Split(strings.TrimSpace(p.Text(false, a.painter().Ink)), "\n")
	}
	return a.ask(q)
}
