package main

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/armature-io/armature/starter/internal/backend"
	"github.com/armature-io/armature/starter/internal/cli"
	"github.com/armature-io/armature/starter/internal/screen"
	"github.com/armature-io/armature/workflows"
	"github.com/spf13/cobra"
)

// phases returns the values of --phase.
func phases() []string {
	return []string{
		string(workflows.PhasePending), string(workflows.PhaseBlocked), string(workflows.PhaseOperating), string(workflows.PhaseReady),
		string(workflows.PhaseNotReady), string(workflows.PhaseFailed), string(workflows.PhasePaused), string(workflows.PhaseDeleting), backend.PhaseStuck,
	}
}

func (a *app) getCommand() *cobra.Command {
	var (
		targets watched
		how     display
		phase   []string
	)
	c := &cobra.Command{
		Use:   "get [NAME|ID]... | -l SELECTOR",
		Short: "List managed resources and their state",
		Long: `get lists managed resources: all, or those chosen by name, resource ID or label
selector. When no worker responds, it uses Temporal's search attributes and says so.
A narrow terminal hides columns, but never phase and reason; wide shows every
column.

json and yaml are a list of resources with everything known about each: id, name,
apiVersion, owner, policy, labels, generation, phase, condition, waitingFor,
nextTry, differences, decisions and more; empty fields are omitted. With --watch
every change is one line of JSON, or one YAML document.

` + cli.ExitHelp,
		Example: "  armature get\n  armature get adx adx/telemetry -o wide\n  armature get -l stack=prod,team=data -o json\n  armature get --phase Blocked,Failed --watch",
		RunE: func(c *cobra.Command, args []string) error {
			for _, p := range phase {
				if err := cli.CheckOneOf("phase", p, phases()); err != nil {
					return err
				}
			}
			targets.Names = args
			if err := targets.Check(); err != nil {
				return err
			}
			return a.show(c.Context(), how, func(ctx context.Context, b *connection) (frame, error) {
				return a.getFrame(ctx, b, &targets, phase, how.output)
			})
		},
	}
	a.addSelection(c, &targets.Selection, "every managed resource (the default)")
	a.addDisplay(c, &how)
	c.Flags().StringSliceVar(&phase, "phase", nil, "only these phases: "+strings.Join(phases(), ", "))
	a.completeFlag(c, "phase", fixed(phases()...))
	return c
}

// getFrame returns one list.
func (a *app) getFrame(ctx context.Context, b *connection, targets *watched, phase []string, output cli.Format) (frame, error) {
	views, err := targets.views(ctx, b, false)
	if err != nil {
		return frame{}, err
	}
	final, chosen := targets.isOver(views), len(views)
	if len(phase) > 0 {
		views = slices.DeleteFunc(views, func(v backend.View) bool {
			return !slices.ContainsFunc(phase, func(p string) bool { return strings.EqualFold(p, v.PhaseName()) })
		})
	}
	freezes, _, freezesErr := b.Freezes(ctx)
	render := func(a *app) error {
		a.noteStale(views)
		a.noteFreezes(freezes, freezesErr)
		if output.IsMachine() {
			return output.Write(a.out, screen.Items(views))
		}
		if len(views) == 0 {
			a.noteNothing(targets.Selection, phase, chosen)
			return nil
		}
		a.printTable(views, output == cli.FormatWide)
		return nil
	}
	return frame{render: render, lines: func(a *app) []logLine { return logLines(a, views) }, final: final}, nil
}

// noteNothing notes why a list is empty. chosen is the number of resources before
// --phase removed some.
func (a *app) noteNothing(s backend.Selection, phase []string, chosen int) {
	switch {
	case chosen > 0 && s.Selector != "":
		a.note("no managed resource with the labels %s is %s (of %d with these labels)", s.Selector, strings.Join(phase, " or "), chosen)
	case chosen > 0:
		a.note("no managed resource is %s", strings.Join(phase, " or "))
	case s.Selector != "":
		a.note("no managed resource has the labels %s", s.Selector)
	default:
		a.note("no resources are managed; `armature apply -f PATH` adds some")
	}
}

// printTable writes one line for each view; on a terminal as much of it as fits.
func (a *app) printTable(views []backend.View, wide bool) {
	painter := a.painter()
	switch width, _ := a.size(); {
	case wide:
		a.printf("%s", painter.WideTable(views))
	case a.terminal:
		a.printf("%s", painter.FittingTable(views, width))
	default:
		a.printf("%s", painter.Table(views))
	}
}

// logLines returns views as lines of a log, in the form of a wait.
func logLines(a *app, views []backend.View) []logLine {
	lines := make([]logLine, len(views))
	for i, v := range views {
		name := v.DisplayName()
		if !v.ID.IsZero() {
			name = cli.KindAndName(v.ID)
		}
		lines[i] = logLine{subject: name, key: screen.ChangeKey(v), text: name + "  " + screen.Summary(v, a.now())}
	}
	return lines
}

// noteStale notes why views are not from their workflows: no worker responds, or one
// does and fails.
func (a *app) noteStale(views []backend.View) {
	var taskQueues []string
	stuck := 0
	for _, v := range views {
		taskQueue := cmp.Or(v.Record.TaskQueue, a.taskQueue)
		switch {
		case !v.Stale || v.Unmanaged:
		case v.Record.Stuck != "":
			stuck++
		case !slices.Contains(taskQueues, taskQueue):
			taskQueues = append(taskQueues, taskQueue)
		}
	}
	slices.Sort(taskQueues)
	for _, taskQueue := range taskQueues {
		a.note("note: %v (shown from search attributes)", &backend.NoWorkerError{TaskQueue: taskQueue})
	}
	if stuck > 0 {
		a.note("note: %s stuck: a worker takes the workflow task and fails; read its log (shown from search attributes)", cli.CountAre(stuck, "resource"))
	}
}
