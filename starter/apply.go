package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
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
	flags.StringArrayVarP(&s.files, "filename", "f", nil, "manifest file, folder, or - for stdin (repeatable)")
	flags.StringVar(&s.resourceGroup, "resource-group", "", "resource group of manifests without owner")
	flags.StringVar(&s.subscription, "subscription", "", "subscription (GUID) of manifests without owner")
}

// load reads the manifests. All their faults are one error, and nothing was
// started.
func (s *sources) load(a *app) ([]resource.Desired, error) {
	set, err := manifest.Load(manifest.Options{ResourceGroup: s.resourceGroup, Subscription: s.subscription, Stdin: a.in}, s.files...)
	var faults manifest.Faults
	switch {
	case errors.As(err, &faults):
		return nil, badInput("refuse the manifests, nothing was started (%s):\n  %s",
			count(len(faults), "fault"), strings.ReplaceAll(faults.Error(), "\n", "\n  "))
	case err != nil:
		return nil, badInput("refuse the manifests, nothing was started: %w", err)
	}
	return set.Resources, nil
}

func (a *app) applyCommand() *cobra.Command {
	var (
		from    sources
		once    bool
		wait    bool
		timeout time.Duration
	)
	c := &cobra.Command{
		Use:   "apply -f PATH...",
		Short: "Send manifests to their workflows, which make Azure match",
		Long: `apply checks all manifests first; a fault in one means that nothing is started.
Then each resource gets a durable workflow, or its workflow gets the new spec.
It is safe to repeat: what is unchanged stays as it is.

` + exitHelp,
		Example: "  armature apply -f examples --wait\n  cat db.yaml | armature apply -f - --resource-group rg1 --subscription 11111111-2222-3333-4444-555555555555",
		Args:    cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if len(from.files) == 0 {
				return badInput("apply needs -f PATH (a file, a folder, or - for stdin)")
			}
			if timeout < 0 {
				return badInput("--timeout %s is negative; 0 means no limit", timeout)
			}
			resources, err := from.load(a)
			if err != nil {
				return err
			}
			return a.apply(c.Context(), resources, once, wait, timeout)
		},
	}
	from.add(c.Flags())
	c.Flags().BoolVar(&once, "once", false, "end when Ready, keep nothing managed")
	c.Flags().BoolVar(&wait, "wait", false, "wait until everything is Ready")
	c.Flags().DurationVar(&timeout, "timeout", defaultTimeout, "how long --wait waits; 0 = no limit")
	return c
}

func (a *app) apply(ctx context.Context, resources []resource.Desired, once, wait bool, timeout time.Duration) error {
	b, err := a.connect(ctx, a)
	if err != nil {
		return err
	}
	defer b.close()
	results := make([]workflows.ApplyResult, len(resources))
	ids := make([]resource.ID, len(resources))
	for i, desired := range resources {
		ids[i] = desired.ID
	}
	err = a.sendAll(ctx, ids, parallel, func(ctx context.Context, i int) (string, error) {
		input := workflows.ApplyInput{Desired: resources[i], Once: once, By: a.by}
		err := b.updateWithStart(ctx, resources[i], message{name: workflows.ApplyUpdate, input: input, result: &results[i]})
		return applied(results[i]), err
	})
	if err != nil || !wait {
		return err
	}
	expected := make([]awaited, len(resources))
	for i, desired := range resources {
		expected[i] = await(desired.ID)
		expected[i].generation = results[i].Generation
	}
	return a.wait(ctx, b, expected, goalReady, timeout)
}

// applied is the answer in words.
func applied(result workflows.ApplyResult) string {
	word := "configured"
	switch {
	case !result.Changed:
		word = "unchanged"
	case result.Generation == 1:
		word = "created"
	}
	return fmt.Sprintf("%s (generation %d)", word, result.Generation) + untilResume(result.Paused)
}

// untilResume says that an answer changes nothing yet.
func untilResume(paused bool) string {
	if !paused {
		return ""
	}
	return "; it is paused: nothing starts until `armature resume`"
}

// sendAll sends one message for each resource, in order and at most limit at a
// time, and prints one line for each answer, as they come. A refusal is a line
// of its own and stops nothing; any other error (no worker, no Temporal) ends it.
func (a *app) sendAll(ctx context.Context, ids []resource.ID, limit int, send func(ctx context.Context, i int) (string, error)) error {
	var printing sync.Mutex
	done, refusals := 0, 0
	err := each(ctx, len(ids), limit, func(ctx context.Context, i int) error {
		answer, err := send(ctx, i)
		printing.Lock()
		defer printing.Unlock()
		var refusal *refusedError
		switch name := described(ids[i]); {
		case errors.As(err, &refusal):
			refusals++
			a.note("%s  refused: %s", name, refusal.text)
		case err != nil:
			return wrapName(name, err)
		default:
			done++
			a.printf("%s  %s\n", name, answer)
		}
		return nil
	})
	switch {
	case errors.Is(err, errInterrupted):
		return failed("interrupted: %d of %d were sent and go on by themselves; repeat the command for the rest", done, len(ids))
	case err != nil:
		return err
	case refusals > 0:
		return failed("%d of %s refused, see above; what was not refused goes on", refusals, count(len(ids), "resource"))
	}
	return nil
}

// wrapName says of which resource an error speaks and keeps its exit code.
func wrapName(name string, err error) error {
	if errors.Is(err, errInterrupted) {
		return err
	}
	return &fault{code: exitCode(asFault(err)), err: fmt.Errorf("%s: %w", name, err)}
}

// count is "1 fault", "2 faults".
func count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
