package main

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"runtime/debug"
	"strings"
	"time"

	"github.com/armature-io/armature/manifest"
	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/workflows"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// sources are the flags that name manifests.
type sources struct {
	files         []string
	resourceGroup string
	subscription  string
}

func (s *sources) add(flags *pflag.FlagSet) {
	flags.StringArrayVarP(&s.files, "filename", "f", nil, "manifest `file`, folder, or - for stdin (repeatable)")
	flags.StringVar(&s.resourceGroup, "resource-group", "", "resource group of manifests without owner")
	flags.StringVar(&s.subscription, "subscription", "", "subscription (GUID) of manifests without owner")
}

// check refuses flags that act on manifests where none are read.
func (s *sources) check() error {
	switch {
	case len(s.files) > 0:
		return nil
	case s.resourceGroup != "":
		return badInput("--resource-group is for manifests; give -f PATH too, or leave it out")
	case s.subscription != "":
		return badInput("--subscription is for manifests; give -f PATH too, or leave it out")
	}
	return nil
}

// load reads the manifests. All their faults are one error, and nothing was
// started.
func (s *sources) load(a *app) (manifest.Set, error) {
	before := debug.SetGCPercent(loadGC)
	defer func() {
		debug.SetGCPercent(before)
		runtime.GC() // the trees make room for what comes next
	}()
	set, err := manifest.Load(manifest.Options{ResourceGroup: s.resourceGroup, Subscription: s.subscription, Stdin: a.in}, s.files...)
	var faults manifest.Faults
	switch {
	case errors.As(err, &faults):
		return manifest.Set{}, badInput("refuse the manifests, nothing was started (%s):\n  %s", count(len(faults), "fault"), strings.Join(faultLines(faults), "\n  "))
	case err != nil:
		return manifest.Set{}, badInput("refuse the manifests, nothing was started: %w", err)
	}
	return set, nil
}

// loadGC is the garbage collector's percentage while manifests are read, when
// their trees are most of what the command ever holds: with a thousand bodies of
// 5 KB it takes a fifth more time and a third less memory than Go's 100.
const loadGC = 25

// faultsShown is how many faults of manifests are told: more is another file than
// was meant.
const faultsShown = 25

// faultLines are the first faults, one a line.
func faultLines(faults manifest.Faults) []string {
	var lines []string
	for i, fault := range faults {
		if i == faultsShown {
			return append(lines, fmt.Sprintf("… and %d more; mend these first", len(faults)-i))
		}
		lines = append(lines, fault.String())
	}
	return lines
}

// application is what the user asked for.
type application struct {
	once    bool
	wait    bool
	timeout time.Duration
	prune   pruning
}

func (a *app) applyCommand() *cobra.Command {
	var (
		from     sources
		how      application
		planFile string
	)
	c := &cobra.Command{
		Use:   "apply -f PATH...",
		Short: "Send manifests to their workflows, which make Azure match",
		Long: `apply checks all manifests first; a fault in one means that nothing is started.
Then each resource gets a durable workflow, or its workflow gets the new spec.
It is safe to repeat: what is unchanged stays as it is. Everything is started at
once; owners, references and dependsOn order what follows.

With --prune -l SELECTOR it then deletes what has the labels of the selector and
no manifest any more. All manifests must have these labels.

With --plan-file FILE it applies exactly what plan --out FILE showed. It plans once
more first, and starts nothing when anything is different by now.

` + exitHelp,
		Example: "  armature apply -f examples --wait\n  armature apply -f stack --prune -l stack=prod\n" +
			"  armature plan -f stack --out stack.plan; armature apply --plan-file stack.plan --wait\n" +
			"  cat db.yaml | armature apply -f - --resource-group rg1 --subscription 11111111-2222-3333-4444-555555555555",
		Args: none("manifests are given with -f PATH"),
		RunE: func(c *cobra.Command, _ []string) error {
			if how.timeout < 0 {
				return badInput("--timeout %s is negative; 0 means no limit", how.timeout)
			}
			if planFile != "" {
				return a.applyPlan(c.Context(), c.Flags(), planFile, how)
			}
			if len(from.files) == 0 {
				return badInput("apply needs -f PATH (a file, a folder, or - for stdin)")
			}
			if err := how.prune.check(how.once); err != nil {
				return err
			}
			set, err := from.load(a)
			if err != nil {
				return err
			}
			return a.apply(c.Context(), set, how)
		},
	}
	from.add(c.Flags())
	c.Flags().BoolVar(&how.once, "once", false, "end when Ready, keep nothing managed")
	c.Flags().BoolVar(&how.wait, "wait", false, "wait until everything is Ready")
	c.Flags().DurationVar(&how.timeout, "timeout", defaultTimeout, "how long --wait waits; 0 = no limit")
	c.Flags().StringVar(&planFile, "plan-file", "", "apply exactly the plan in this `file` (armature plan --out)")
	how.prune.add(c.Flags())
	a.completeFlag(c, "selector", a.completeLabels)
	return c
}

func (a *app) apply(ctx context.Context, set manifest.Set, how application) error {
	if err := how.prune.checkLabels(set); err != nil {
		return err
	}
	b, err := a.connect(ctx, a)
	if err != nil {
		return err
	}
	defer b.close()
	stale, err := how.prune.find(ctx, a, b, set)
	if err != nil {
		return err
	}
	return a.start(ctx, b, set.Resources, stale, how)
}

// start sends the specs, then deletes what is stale, and waits where it is to.
func (a *app) start(ctx context.Context, b *backend, resources []resource.Desired, stale []record, how application) error {
	results := make([]workflows.ApplyResult, len(resources))
	err := a.sendAll(ctx, idsOf(resources), parallelStarts, func(ctx context.Context, i int) (string, error) {
		input := workflows.ApplyInput{Desired: resources[i], Once: how.once, By: a.by}
		err := b.updateWithStart(ctx, resources[i], message{name: workflows.ApplyUpdate, input: input, result: &results[i]})
		return applied(results[i]), err
	})
	if err != nil {
		return how.prune.skipped(stale, err)
	}
	if err := a.prune(ctx, b, stale); err != nil || !how.wait {
		return err
	}
	expected := make([]awaited, len(resources))
	for i, desired := range resources {
		expected[i] = awaitDesired(desired)
		expected[i].generation = results[i].Generation
	}
	if err := a.wait(ctx, b, expected, goalReady, how.timeout); err != nil || len(stale) == 0 {
		return err
	}
	return a.wait(ctx, b, awaitAll(stale), goalDeleted, how.timeout)
}

// parallelStarts bounds the workflows that are started at one time: more would
// only wait for the worker, up to the deadline of the call.
const parallelStarts = 16

func idsOf(resources []resource.Desired) []resource.ID {
	ids := make([]resource.ID, len(resources))
	for i, desired := range resources {
		ids[i] = desired.ID
	}
	return ids
}
