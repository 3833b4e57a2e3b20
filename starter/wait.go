package starter

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/armature-io/armature/manifest"
	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/starter/internal/backend"
	"github.com/armature-io/armature/starter/internal/cli"
	"github.com/armature-io/armature/starter/internal/project"
	"github.com/armature-io/armature/starter/internal/screen"
	"github.com/armature-io/armature/starter/internal/wait"
	"github.com/spf13/cobra"
)

// defaultTimeout bounds a wait without --timeout, because a pipeline must end. Kusto
// clusters take about 15 minutes.
const defaultTimeout = 30 * time.Minute

// waitOptions are the flags of a command that can wait for its result.
type waitOptions struct {
	on      bool
	timeout time.Duration
}

func (w *waitOptions) add(c *cobra.Command, help string) {
	c.Flags().BoolVar(&w.on, "wait", false, help)
	addTimeout(c, &w.timeout, "how long --wait waits")
}

// addTimeout adds --timeout, which wrapErrors checks.
func addTimeout(c *cobra.Command, timeout *time.Duration, help string) {
	c.Flags().DurationVar(timeout, "timeout", defaultTimeout, help+"; 0 = no limit")
}

func (a *app) waitCommand() *cobra.Command {
	var (
		from    project.Flags
		targets backend.Selection
		target  string
		timeout time.Duration
	)
	c := &cobra.Command{
		Use:   "wait [NAME|ID]... | -l SELECTOR | -f PATH...",
		Short: "Wait until resources are Ready or deleted",
		Long: `wait watches resources and ends when all are Ready (or deleted), when time helps
none of the others, or after --timeout. Time does not help a resource that needs a
person (a missing secret, an approval, refused content, a pause, a freeze, an owner that
does not exist and nobody manages), or that waits only for such a resource; wait then ends with exit code 1 and names who must
act. A state that is retried within minutes is tried once more first, and has to
last for half a minute. Without names it watches every managed resource. A terminal shows a tree of the resources;
elsewhere each change is a line.

` + cli.ExitHelp,
		Example: "  armature wait -f examples --timeout 20m\n  armature wait adx --for deleted\n  armature wait -l stack=prod",
		RunE: func(c *cobra.Command, args []string) error {
			g := wait.Goal(target)
			targets.Names = args
			switch {
			case g != wait.Ready && g != wait.Deleted:
				return cli.CheckOneOf("for", target, []string{string(wait.Ready), string(wait.Deleted)})
			case len(from.Files) > 0 && !targets.IsEmpty():
				return errFilesAndTargets()
			}
			if err := errors.Join(from.Check(), targets.Check()); err != nil {
				return err
			}
			var set manifest.Set
			if len(from.Files) > 0 {
				var err error
				loader := a.loader()
				loader.HasKey = nil // nothing is sent
				if set, err = from.Load(c.Context(), loader); err != nil {
					return err
				}
			}
			return a.waitFor(c.Context(), set.Resources, targets, g, timeout)
		},
	}
	from.Add(c)
	a.addSelection(c, &targets, "every managed resource (the default)")
	c.Flags().StringVar(&target, "for", string(wait.Ready), "what to wait for: ready, deleted")
	a.completeFlag(c, "for", fixed(string(wait.Ready), string(wait.Deleted)))
	addTimeout(c, &timeout, "how long to wait")
	return c
}

func (a *app) waitFor(ctx context.Context, resources []resource.Desired, s backend.Selection, g wait.Goal, timeout time.Duration) error {
	b, err := a.connection(ctx)
	if err != nil {
		return err
	}
	records := recordsOf(resources)
	if len(records) == 0 {
		if records, err = backend.Targets(ctx, b, s); err != nil {
			return err
		}
		if len(records) == 0 && s.Selector != "" && g == wait.Ready {
			return s.NoMatch()
		}
	}
	return a.wait(ctx, b, wait.All(records), g, timeout)
}

// wait polls the resources until all are settled. It only reads, so it may be
// interrupted at any time.
func (a *app) wait(ctx context.Context, b *connection, list []wait.Resource, g wait.Goal, timeout time.Duration) error {
	if len(list) == 0 {
		a.note("no resources are managed, so there is nothing to wait for")
		return nil
	}
	_, err := a.follow(ctx, b, list, g, timeout)
	return err
}

// follow is wait with the last states of the resources.
func (a *app) follow(ctx context.Context, b *connection, list []wait.Resource, g wait.Goal, timeout time.Duration) ([]wait.Outcome, error) {
	var deadline <-chan time.Time
	if timeout > 0 {
		deadline = a.after(timeout)
	}
	begun := a.now()
	follower := wait.Follow(b, list, g, a.now)
	outcomes := follower.Outcomes
	progress := progress{app: a, goal: g, list: list, last: map[int]string{}}
	for {
		if err := follower.Round(ctx); err != nil {
			return outcomes, interrupted(err)
		}
		progress.show(outcomes)
		hopeless, err := follower.IsHopeless(ctx)
		if err != nil {
			return outcomes, interrupted(err)
		}
		if hopeless || follower.IsSettled() {
			return outcomes, a.concludeWait(outcomes, g, a.now().Sub(begun))
		}
		select {
		case <-ctx.Done():
			return outcomes, interrupted(backend.ErrInterrupted)
		case <-deadline:
			return outcomes, a.concludeWait(outcomes, g, timeout)
		case <-a.after(wait.PollInterval):
		}
	}
}

// concludeWait ends a wait: with one sentence, or with the resources that did not
// reach the goal.
func (a *app) concludeWait(outcomes []wait.Outcome, g wait.Goal, took time.Duration) error {
	var missing []string
	var ids []resource.ID
	useless := ", and waiting longer does not help"
	for _, o := range outcomes {
		if o.Done {
			continue
		}
		line := cli.KindAndName(o.View.ID) + "  " + screen.Summary(o.View, a.now())
		if o.Blocker != "" {
			line += " (" + o.Blocker + ")"
		}
		missing, ids = append(missing, line), append(ids, o.View.ID)
	}
	if len(missing) == 0 {
		a.printf("%s after %s\n", wait.Reached(outcomes, g), cli.Span(took))
		return nil
	}
	if slices.ContainsFunc(outcomes, func(o wait.Outcome) bool { return !o.IsSettled() }) {
		useless = ""
	}
	a.linkPage("", ids...)
	return cli.Failed("%d of %s not %s after %s%s; `armature describe NAME` shows more:\n  %s",
		len(missing), cli.Count(len(outcomes), "resource"), g.Adjective(), cli.Span(took), useless, strings.Join(missing, "\n  "))
}

// interrupted returns the error for Ctrl-C in a wait.
func interrupted(err error) error {
	if errors.Is(err, backend.ErrInterrupted) {
		return cli.Failed("interrupted: only the wait ended, the workflows continue; `armature wait` waits again")
	}
	return err
}

// progress shows a wait: a tree on a terminal, elsewhere one line for each change.
type progress struct {
	app  *app
	goal wait.Goal
	list []wait.Resource
	// last has the key of the last line by position.
	last  map[int]string
	block screen.Block
}

func (p *progress) show(outcomes []wait.Outcome) {
	if p.app.terminal {
		p.draw(outcomes)
		return
	}
	for i, o := range outcomes {
		key := screen.ChangeKey(o.View) + o.Blocker + o.Pending
		if p.last[i] == key {
			continue
		}
		isKnown := p.last[i] == "" && o.Done && p.list[i].IsUnchanged()
		p.last[i] = key
		if isKnown {
			continue // the apply has counted it
		}
		state := screen.Summary(o.View, p.app.now())
		switch {
		case o.Pending != "":
			state = o.View.PhaseName() + "  " + o.Pending
		case o.Done && p.goal == wait.Deleted && !o.View.Deleted:
			state = o.View.PhaseName() // the condition is older than the deletion
		}
		p.app.printf("%s  %s  %s\n", cli.Clock(p.app.now(), p.app.now()), cli.KindAndName(o.View.ID), state)
	}
}

func (p *progress) draw(outcomes []wait.Outcome) {
	list, done := make([]screen.Progress, len(outcomes)), 0
	for i, o := range outcomes {
		list[i] = o.Progress
		if o.Done {
			done++
		}
	}
	width, height := p.app.size()
	lines := p.app.painter().Tree(list, width, height)
	p.block.Draw(p.app.out, p.app.ink, append(lines, fmt.Sprintf("%d of %d %s", done, len(outcomes), p.goal.Adjective())))
}
