package starter

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
		string(workflows.PhaseNotReady), string(workflows.PhaseFailed), string(workflows.PhasePaused), string(workflows.PhaseDeleting), backend.PhaseStuck, backend.PhaseUnreadable,
	}
}

func (a *app) getCommand() *cobra.Command {
	var (
		targets backend.Chosen
		how     display
	)
	c := &cobra.Command{
		Use:        "get [NAME|ID]... | -l SELECTOR | -f PATH...",
		SuggestFor: []string{"list", "ls", "status"},
		Short:      "List managed resources and their state",
		Long: `get lists managed resources: all, or those chosen by name, resource ID, label
selector, phase, reason or resource group. It reads what their workflows wrote into
Temporal and needs no worker. A narrow terminal hides columns, but never phase and
reason; wide shows every column.

json and yaml are a list of resources with everything known about each: id, name,
apiVersion, owner, policy, labels, generation, phase, condition, waitingFor,
nextTry, differences, decisions and more; empty fields are omitted. With --watch
every change is one line of JSON, or one YAML document. These and wide ask the
workflow of each resource, for at most 50; of more they show what the table has,
with retryWithin, the longest time to the next try, instead of nextTry.

` + cli.ExitHelp,
		Example: "  armature get\n  armature get adx adx/telemetry -o wide\n  armature get -l stack=prod,team=data -o json\n  armature get --phase Blocked,Failed --watch",
		RunE: func(c *cobra.Command, _ []string) error {
			for i, p := range targets.Where.Phases {
				if err := cli.CheckOneOf("phase", p, phases()); err != nil {
					return err
				}
				known := slices.IndexFunc(phases(), func(phase string) bool { return strings.EqualFold(phase, p) })
				targets.Where.Phases[i] = phases()[known]
			}
			if err := targets.Check(); err != nil {
				return err
			}
			return a.show(c.Context(), how, func(ctx context.Context, b *connection) (frame, error) {
				return a.getFrame(ctx, b, &targets, how)
			})
		},
	}
	a.addTargets(c, &targets.Selection, "every managed resource (the default)")
	a.addDisplay(c, &how)
	c.Flags().StringSliceVar(&targets.Where.Phases, "phase", nil, "only these phases: "+strings.Join(phases(), ", "))
	c.Flags().StringSliceVar(&targets.Where.Reasons, "reason", nil, "only these reasons, as the list shows them")
	c.Flags().StringVarP(&targets.Where.Group, "group", "g", "", "only this resource group, as the manifests write it")
	a.completeFlag(c, "phase", fixed(phases()...))
	a.completeFlag(c, "reason", completeReasons)
	return c
}

// getFrame returns one list.
func (a *app) getFrame(ctx context.Context, b *connection, targets *backend.Chosen, how display) (frame, error) {
	details := how.output.IsMachine() || how.output == cli.FormatWide
	views, asked, err := targets.Listed(ctx, b, details, how.watch)
	if err != nil {
		return frame{}, err
	}
	final, where := targets.IsOver(views), targets.Where
	views = slices.DeleteFunc(views, func(v backend.View) bool { return !where.Matches(v, a.now()) })
	freezes, _, freezesErr := b.Freezes(ctx)
	unserved := backend.Unserved(views, a.taskQueue, func(queue string) bool { return b.Polled(ctx, queue) })
	render := func(a *app) error {
		if details && !asked {
			a.note("note: %d resources: decisions, differences and what they wait for are left out of lists of more than %d", len(views), backend.MaxAsked)
		}
		a.noteStale(views)
		for _, taskQueue := range unserved {
			a.note("note: %v (shown as the workflows wrote it before)", &backend.NoWorkerError{TaskQueue: taskQueue})
		}
		a.noteFreezes(freezes, freezesErr)
		if how.output.IsMachine() {
			return how.output.Write(a.out, screen.Items(views))
		}
		if len(views) == 0 {
			a.noteNothing(targets.Selection)
			return nil
		}
		a.printTable(views, how.output == cli.FormatWide)
		if !how.watch {
			a.linkPage(targets.Selector, idsOf(views)...)
		}
		return nil
	}
	return frame{render: render, lines: func(a *app) []logLine { return logLines(a, views) }, final: final}, nil
}

// noteNothing notes why a list is empty.
func (a *app) noteNothing(s backend.Selection) {
	condition := s.Where.String()
	switch {
	case condition != "" && s.Selector != "":
		a.note("no managed resource with the labels %s is %s", s.Selector, condition)
	case condition != "":
		a.note("no managed resource is %s", condition)
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

// noteStale notes why views may be old: no worker responds or serves their task queues, or
// one does and fails.
func (a *app) noteStale(views []backend.View) {
	var taskQueues []string
	var unreadable []backend.Record
	stuck, running := 0, 0
	for _, v := range views {
		taskQueue := cmp.Or(v.Record.TaskQueue, a.taskQueue)
		switch {
		case !v.Stale || v.Unmanaged:
		case v.Record.Unreadable != "":
			unreadable = append(unreadable, v.Record)
		case v.Record.Stuck != "":
			stuck++
		case !v.Record.StepSince.IsZero():
			running++
		case !slices.Contains(taskQueues, taskQueue):
			taskQueues = append(taskQueues, taskQueue)
		}
	}
	if text := backend.DescribeUnreadable(unreadable); text != "" {
		a.note("note: %s; %s", text, backend.TerminateAdvice)
	}
	slices.Sort(taskQueues)
	for _, taskQueue := range taskQueues {
		a.note("note: %v (shown from search attributes)", &backend.NoWorkerError{TaskQueue: taskQueue})
	}
	if running > 0 {
		a.note("note: workers run a step of %s and respond after it (shown from search attributes)", cli.Count(running, "resource"))
	}
	if stuck > 0 {
		a.note("note: %s stuck: a worker takes the workflow task and fails; read its log (shown from search attributes)", cli.CountAre(stuck, "resource"))
	}
}
