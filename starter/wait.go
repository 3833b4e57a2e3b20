package main

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/armature-io/armature/manifest"
	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/workflows"
	"github.com/spf13/cobra"
)

// defaultTimeout bounds every wait unless --timeout says otherwise: a pipeline
// must end. Kusto clusters take about 15 minutes.
const defaultTimeout = 30 * time.Minute

// pollEvery is the time between two looks of a wait.
const pollEvery = time.Second

// goal is what a wait waits for.
type goal string

const (
	goalReady   goal = "ready"
	goalDeleted goal = "deleted"
)

// word is the goal in a sentence.
func (g goal) word() string {
	if g == goalReady {
		return "Ready"
	}
	return "deleted"
}

// awaited is one resource of a wait.
type awaited struct {
	record
	// generation and pass are the least that count; 0 = any.
	generation int64
	pass       int64
}

// awaitDesired awaits the resource of a manifest.
func awaitDesired(desired resource.Desired) awaited {
	w := await(desired.ID)
	for _, id := range desired.Needs() {
		w.Needs = append(w.Needs, workflows.WaitingKey(id))
	}
	return w
}

// await awaits a resource by its ID.
func await(id resource.ID) awaited {
	return awaited{record: record{WorkflowID: id.WorkflowID(), ID: id, Running: true}}
}

// awaitAll awaits what was found.
func awaitAll(records []record) []awaited {
	list := make([]awaited, len(records))
	for i, r := range records {
		list[i] = awaited{record: r}
	}
	return list
}

func (a *app) waitCommand() *cobra.Command {
	var (
		from    sources
		targets selection
		target  string
		timeout time.Duration
	)
	c := &cobra.Command{
		Use:   "wait [NAME|ID]... | -l SELECTOR | -f PATH...",
		Short: "Wait until resources are Ready or deleted",
		Long: `wait watches resources and ends when all are Ready (or deleted), when one of them
can only get there if somebody acts, or when the time is up. Without names it
watches everything that is managed. A terminal shows the tree of them as it
changes; elsewhere each change is a line.

` + exitHelp,
		Example: "  armature wait -f examples --timeout 20m\n  armature wait adx --for deleted\n  armature wait -l stack=prod",
		RunE: func(c *cobra.Command, args []string) error {
			g := goal(target)
			targets.names = args
			switch {
			case g != goalReady && g != goalDeleted:
				return among("for", target, []string{string(goalReady), string(goalDeleted)})
			case timeout < 0:
				return badInput("--timeout %s is negative; 0 means no limit", timeout)
			case len(from.files) > 0 && !targets.empty():
				return badInput("choose resources either by -f or by name and -l, not by both")
			}
			if err := errors.Join(from.check(), targets.check()); err != nil {
				return err
			}
			var set manifest.Set
			if len(from.files) > 0 {
				var err error
				if set, err = from.load(a); err != nil {
					return err
				}
			}
			return a.waitFor(c.Context(), set.Resources, targets, g, timeout)
		},
	}
	from.add(c.Flags())
	a.addChooser(c, &targets, "everything that is managed (the default)")
	c.Flags().StringVar(&target, "for", string(goalReady), "what to wait for: ready, deleted")
	a.completeFlag(c, "for", fixed(string(goalReady), string(goalDeleted)))
	c.Flags().DurationVar(&timeout, "timeout", defaultTimeout, "how long to wait; 0 = no limit")
	return c
}

func (a *app) waitFor(ctx context.Context, resources []resource.Desired, s selection, g goal, timeout time.Duration) error {
	b, err := a.connect(ctx, a)
	if err != nil {
		return err
	}
	defer b.close()
	var list []awaited
	for _, desired := range resources {
		list = append(list, awaitDesired(desired))
	}
	if len(resources) == 0 {
		records, err := b.targets(ctx, s)
		if err != nil {
			return err
		}
		if len(records) == 0 && s.selector != "" && g == goalReady {
			return failed("find resources with %s: none is managed, so none is Ready", s.selector)
		}
		list = awaitAll(records)
	}
	return a.wait(ctx, b, list, g, timeout)
}

// wait looks at every resource each pollEvery until all are settled. Nothing
// that it does touches a workflow, so it may be interrupted at any time.
func (a *app) wait(ctx context.Context, b *backend, list []awaited, g goal, timeout time.Duration) error {
	if len(list) == 0 {
		a.note("nothing is managed here, so there is nothing to wait for")
		return nil
	}
	var deadline <-chan time.Time
	if timeout > 0 {
		deadline = a.after(timeout)
	}
	begun := a.now()
	outcomes := make([]outcome, len(list))
	for i, w := range list {
		outcomes[i].view = view{Status: w.status(), Stale: true, known: w.record}
	}
	shown := newProgress(a, g)
	for {
		if err := a.look(ctx, b, list, outcomes, g); err != nil {
			return interrupted(err)
		}
		shown.show(outcomes)
		if settled(outcomes) {
			return verdict(a, outcomes, g, a.now().Sub(begun))
		}
		select {
		case <-ctx.Done():
			return interrupted(errInterrupted)
		case <-deadline:
			return verdict(a, outcomes, g, timeout)
		case <-a.after(pollEvery):
		}
	}
}

// verdict is the end of a wait: one sentence, and what did not reach the goal.
func verdict(a *app, outcomes []outcome, g goal, took time.Duration) error {
	var missing []string
	for _, o := range outcomes {
		if o.done {
			continue
		}
		line := described(o.view.ID) + "  " + summary(o.view, a.now())
		if o.hopeless != "" {
			line += " (" + o.hopeless + ")"
		}
		missing = append(missing, line)
	}
	if len(missing) == 0 {
		a.printf("%s after %s\n", reached(outcomes, g), span(took))
		return nil
	}
	return failed("%d of %s not %s after %s; `armature describe NAME` tells more:\n  %s",
		len(missing), count(len(outcomes), "resource"), g.word(), span(took), strings.Join(missing, "\n  "))
}

// summary is phase, reason and message in one line.
func summary(v view, now time.Time) string {
	phase := phaseWord(v)
	if v.Deleting && v.Condition.Ready && v.Operation == "" && !v.Gone {
		// The condition is from before the deletion, whose first pass has not
		// ended.
		return phase
	}
	c := v.condition(now)
	line := phase
	if c.Reason != "" {
		line += "  " + string(c.Reason)
	}
	if c.Message != "" {
		line += ": " + visible(strings.Join(strings.Fields(c.Message), " "))
	}
	return line
}

// interrupted says that a wait ended and nothing else did.
func interrupted(err error) error {
	if errors.Is(err, errInterrupted) {
		return failed("interrupted: only the waiting ended, everything goes on by itself; `armature wait` waits again")
	}
	return err
}
