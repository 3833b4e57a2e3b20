package main

import (
	"context"
	"slices"
	"time"

	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/starter/internal/backend"
	"github.com/armature-io/armature/starter/internal/cli"
	"github.com/armature-io/armature/workflows"
	"github.com/spf13/cobra"
)

// deleteOptions are the flags of a deletion.
type deleteOptions struct {
	cascade bool
	yes     bool
	wait    bool
	timeout time.Duration
}

func (a *app) deleteCommand() *cobra.Command {
	var (
		from    sources
		targets backend.Selection
		how     deleteOptions
	)
	c := &cobra.Command{
		Use:   "delete NAME|ID... | -l SELECTOR | -f PATH...",
		Short: "Delete resources in Azure and stop managing them",
		Long: `delete requests the deletion of resources from their workflows; each workflow ends
when Azure no longer has the resource. Resources that are not managed are deleted
only with -f and their manifest. A resource that contains others is not deleted
(reason WaitingForDependents or ContainsUnmanaged) until these are gone, or with
--cascade. Resources elsewhere that refer to it are never deleted with it.
` + "`armature why NAME`" + ` shows what a deletion waits for.

On a terminal it asks first. Elsewhere names, IDs and -f need no confirmation; -l
and --all need --yes.

` + cli.ExitHelp,
		Example: "  armature delete -f examples --wait\n  armature delete adx/telemetry\n  armature delete -l stack=old --yes",
		RunE: func(c *cobra.Command, args []string) error {
			targets.Names = args
			switch {
			case len(from.files) > 0 && !targets.IsEmpty():
				return errFilesAndTargets()
			case len(from.files) == 0 && targets.IsEmpty():
				return cli.BadInput("name the resources, or choose them with -l key=value, -f PATH or --all; `armature get` lists them")
			case len(from.files) == 0:
				if err := from.check(); err != nil {
					return err
				}
				return a.deleteNamed(c.Context(), targets, how)
			}
			set, err := from.load(a)
			if err != nil {
				return err
			}
			return a.deleteManifests(c.Context(), set.Resources, how)
		},
	}
	from.add(c.Flags())
	a.addSelection(c, &targets, "every managed resource")
	c.Flags().BoolVar(&how.cascade, "cascade", false, "also delete everything in the resource, managed or not")
	c.Flags().BoolVarP(&how.yes, "yes", "y", false, "do not ask")
	c.Flags().BoolVar(&how.wait, "wait", false, "wait until every resource is deleted")
	addTimeout(c, &how.timeout, "how long --wait waits")
	return c
}

func (a *app) deleteNamed(ctx context.Context, s backend.Selection, how deleteOptions) error {
	var expected []awaited
	b, err := a.sendNamed(ctx, s, func(b *connection, records []backend.Record) (sender, error) {
		expected = awaitAll(records)
		return func(ctx context.Context, i int) (string, error) {
			return a.sendDelete(how, func(m backend.Message) error { return b.Update(ctx, records[i].WorkflowID, m) }, nil)
		}, a.confirmDelete(records, how, s)
	})
	if b != nil {
		defer b.close()
	}
	if err != nil || !how.wait {
		return err
	}
	return a.wait(ctx, b, expected, goalDeleted, how.timeout)
}

// deleteManifests deletes the resources of manifests, dependents first. The workflows
// keep that order too, but a resource that is not managed yet would look unmanaged to
// its owner.
func (a *app) deleteManifests(ctx context.Context, resources []resource.Desired, how deleteOptions) error {
	slices.Reverse(resources)
	expected := awaitDesired(resources)
	records := recordsOf(expected)
	if err := a.confirmDelete(records, how, backend.Selection{}); err != nil {
		return err
	}
	b, err := a.connection(ctx)
	if err != nil {
		return err
	}
	defer b.close()
	err = a.sendWaves(ctx, records, deletionOrder(records), backend.MaxParallel, func(ctx context.Context, i int) (string, error) {
		desired := resources[i]
		return a.sendDelete(how, func(m backend.Message) error { return b.UpdateWithStart(ctx, desired, m) }, &desired)
	})
	if err != nil || !how.wait {
		return err
	}
	return a.wait(ctx, b, expected, goalDeleted, how.timeout)
}

// sendDelete sends one DeleteUpdate and returns the result as text.
func (a *app) sendDelete(how deleteOptions, send func(backend.Message) error, desired *resource.Desired) (string, error) {
	var result workflows.DeleteResult
	input := workflows.DeleteInput{Cascade: how.cascade, By: a.by, Desired: desired}
	err := send(backend.Message{Name: workflows.DeleteUpdate, Input: input, Result: &result})
	switch {
	case !result.Changed:
		return "already being deleted", err
	case result.Detached:
		return "no longer managed; it is kept in Azure (its policy)", err
	}
	return "deletion requested", err
}

// confirmDelete asks before a deletion. A query needs --yes without a terminal,
// because it may choose more resources than the user expects.
func (a *app) confirmDelete(records []backend.Record, how deleteOptions, s backend.Selection) error {
	what := cli.Count(len(records), "resource")
	q := question{
		lines: idLines(records), text: "Delete " + what + " in Azure?", yes: how.yes, required: s.IsQuery(),
		action: s.Flags() + " deletes " + what, unchanged: "nothing was deleted",
	}
	if how.cascade {
		q.text = "Delete " + what + " in Azure with everything in it and what needs it?"
	}
	return a.ask(q)
}

// deletionOrder returns the positions of records in waves: first the records that no
// other one needs, then those that only these need, and so on. Records that need each
// other in a cycle come last, together.
func deletionOrder(records []backend.Record) [][]int {
	positions := make(map[string]int, len(records))
	for i, r := range records {
		positions[r.Key()] = i
	}
	dependents := make([]int, len(records))
	needs := make([][]int, len(records))
	for i, r := range records {
		for _, key := range r.NeedKeys() {
			if at, known := positions[key]; known && at != i {
				dependents[at]++
				needs[i] = append(needs[i], at)
			}
		}
	}
	var waves [][]int
	ordered := make([]bool, len(records))
	for {
		var wave []int
		for i := range records {
			if dependents[i] == 0 && !ordered[i] {
				wave = append(wave, i)
			}
		}
		if len(wave) == 0 {
			break
		}
		waves = append(waves, wave)
		for _, i := range wave {
			ordered[i] = true
			for _, at := range needs[i] {
				dependents[at]--
			}
		}
	}
	var cycle []int
	for i := range records {
		if !ordered[i] {
			cycle = append(cycle, i)
		}
	}
	if len(cycle) > 0 {
		waves = append(waves, cycle)
	}
	return waves
}
