package main

import (
	"context"
	"slices"
	"time"

	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/workflows"
	"github.com/spf13/cobra"
)

// deletion is what the user asked for.
type deletion struct {
	cascade bool
	yes     bool
	wait    bool
	timeout time.Duration
}

func (a *app) deleteCommand() *cobra.Command {
	var (
		from    sources
		targets selection
		d       deletion
	)
	c := &cobra.Command{
		Use:   "delete NAME|ID... | -l SELECTOR | -f PATH...",
		Short: "Delete resources in Azure and end their workflows",
		Long: `delete asks the workflows to delete their resources; each ends when Azure no
longer has the resource. What is not managed is not touched, unless -f names its
manifest. A resource that still holds others is not deleted (reason
WaitingForDependents or ContainsUnmanaged) until they are gone, or with --cascade.
What refers to it from elsewhere is never deleted with it.
` + "`armature why NAME`" + ` tells what a deletion waits for.

A terminal is asked first. Elsewhere names, IDs and -f are taken at their word,
and -l and --all need --yes.

` + exitHelp,
		Example: "  armature delete -f examples --wait\n  armature delete adx/telemetry\n  armature delete -l stack=old --yes",
		RunE: func(c *cobra.Command, args []string) error {
			targets.names = args
			switch {
			case d.timeout < 0:
				return badInput("--timeout %s is negative; 0 means no limit", d.timeout)
			case len(from.files) > 0 && !targets.empty():
				return badInput("choose resources either by -f or by name and -l, not by both")
			case len(from.files) == 0 && targets.empty():
				return badInput("name the resources, or choose them with -l key=value, -f PATH or --all; `armature get` lists them")
			case len(from.files) == 0:
				if err := from.check(); err != nil {
					return err
				}
				return a.deleteNamed(c.Context(), targets, d)
			}
			set, err := from.load(a)
			if err != nil {
				return err
			}
			return a.deleteManifests(c.Context(), set.Resources, d)
		},
	}
	from.add(c.Flags())
	a.addChooser(c, &targets, "everything that is managed")
	c.Flags().BoolVar(&d.cascade, "cascade", false, "delete also what the resource holds, managed or not")
	c.Flags().BoolVarP(&d.yes, "yes", "y", false, "do not ask")
	c.Flags().BoolVar(&d.wait, "wait", false, "wait until everything is gone")
	c.Flags().DurationVar(&d.timeout, "timeout", defaultTimeout, "how long --wait waits; 0 = no limit")
	return c
}

func (a *app) deleteNamed(ctx context.Context, s selection, d deletion) error {
	var expected []awaited
	b, err := a.sendNamed(ctx, s, func(b *backend, records []record) (sender, error) {
		expected = awaitAll(records)
		ids := make([]resource.ID, len(records))
		for i, r := range records {
			ids[i] = r.ID
		}
		return func(ctx context.Context, i int) (string, error) {
			return a.sendDelete(d, func(m message) error { return b.update(ctx, records[i].WorkflowID, m) }, nil)
		}, a.confirm(ids, d, s)
	})
	if b != nil {
		defer b.close()
	}
	if err != nil || !d.wait {
		return err
	}
	return a.wait(ctx, b, expected, goalDeleted, d.timeout)
}

// deleteManifests deletes what manifests name, dependents first: the workflows
// hold that order too, but one that is not managed yet would look unmanaged to
// its owner.
func (a *app) deleteManifests(ctx context.Context, resources []resource.Desired, d deletion) error {
	slices.Reverse(resources)
	expected := make([]awaited, len(resources))
	records := make([]record, len(resources))
	for i, desired := range resources {
		expected[i] = awaitDesired(desired)
		records[i] = expected[i].record
	}
	if err := a.confirm(idsOf(resources), d, selection{}); err != nil {
		return err
	}
	b, err := a.connect(ctx, a)
	if err != nil {
		return err
	}
	defer b.close()
	err = a.sendWaves(ctx, idsOf(resources), deletionWaves(records), parallel, func(ctx context.Context, i int) (string, error) {
		desired := resources[i]
		return a.sendDelete(d, func(m message) error { return b.updateWithStart(ctx, desired, m) }, &desired)
	})
	if err != nil || !d.wait {
		return err
	}
	return a.wait(ctx, b, expected, goalDeleted, d.timeout)
}

// sendDelete sends one DeleteUpdate and answers in words.
func (a *app) sendDelete(d deletion, send func(message) error, desired *resource.Desired) (string, error) {
	var result workflows.DeleteResult
	input := workflows.DeleteInput{Cascade: d.cascade, By: a.by, Desired: desired}
	err := send(message{name: workflows.DeleteUpdate, input: input, result: &result})
	switch {
	case !result.Changed:
		return "is being deleted already", err
	case result.Detached:
		return "no longer managed; it stays in Azure (its policy)", err
	}
	return "deleting", err
}

// confirm asks on a terminal; elsewhere the command itself is the answer, unless
// it names nothing: labels and --all may hit more than somebody meant.
func (a *app) confirm(ids []resource.ID, d deletion, s selection) error {
	q := question{yes: d.yes, must: s.several(), verb: s.words() + " deletes " + count(len(ids), "resource"), kept: "nothing was deleted"}
	for _, id := range ids {
		q.lines = append(q.lines, id.String())
	}
	q.text = "Delete " + count(len(ids), "resource") + " in Azure"
	if d.cascade {
		q.text += " with everything in it and what needs it"
	}
	q.text += "?"
	return a.ask(q)
}
