package main

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/armature-io/armature/workflows"
	"github.com/spf13/cobra"
)

// phases are what --phase takes, as the list shows them.
func phases() []string {
	return []string{
		string(workflows.PhasePending), string(workflows.PhaseBlocked), string(workflows.PhaseOperating), string(workflows.PhaseReady),
		string(workflows.PhaseNotReady), string(workflows.PhaseFailed), string(workflows.PhasePaused), string(workflows.PhaseDeleting),
	}
}

func (a *app) getCommand() *cobra.Command {
	var (
		targets watched
		how     showing
		phase   []string
	)
	c := &cobra.Command{
		Use:   "get [NAME|ID]... | -l SELECTOR",
		Short: "List managed resources and where they stand",
		Long: `get lists managed resources: all, or those named by name, by resource ID or by
label selector. When no worker answers, it shows what the search attributes
tell, and says so. On a narrow terminal columns are left out, never phase and
reason; wide has all of them.

json and yaml are a list of resources with all that is known of each: id, name,
apiVersion, owner, policy, labels, generation, phase, condition, waitingFor,
nextTry, differences, decisions and more; what is empty is left out. With --watch
every change is one line of JSON, or one YAML document.

` + exitHelp,
		Example: "  armature get\n  armature get adx adx/telemetry -o wide\n  armature get -l stack=prod,team=data -o json\n  armature get --phase Blocked,Failed --watch",
		RunE: func(c *cobra.Command, args []string) error {
			for _, word := range phase {
				if err := among("phase", word, phases()); err != nil {
					return err
				}
			}
			targets.names = args
			if err := targets.check(); err != nil {
				return err
			}
			return a.show(c.Context(), how, func(ctx context.Context, b *backend) (frame, error) {
				return a.getFrame(ctx, b, &targets, phase, how.output)
			})
		},
	}
	a.addChooser(c, &targets.selection, "everything that is managed (the default)")
	a.addShowing(c, &how)
	c.Flags().StringSliceVar(&phase, "phase", nil, "only these phases: "+strings.Join(phases(), ", "))
	a.completeFlag(c, "phase", fixed(phases()...))
	return c
}

// getFrame is one list.
func (a *app) getFrame(ctx context.Context, b *backend, targets *watched, phase []string, output format) (frame, error) {
	views, err := targets.views(ctx, b, false)
	if err != nil {
		return frame{}, err
	}
	ended := targets.over(views)
	if len(phase) > 0 {
		views = slices.DeleteFunc(views, func(v view) bool {
			return !slices.ContainsFunc(phase, func(word string) bool { return strings.EqualFold(word, phaseWord(v)) })
		})
	}
	frozen, frozenErr := b.frozen(ctx)
	render := func(a *app) error {
		a.noteStale(views)
		a.noteFrozen(frozen, frozenErr)
		switch {
		case output.machine():
			return a.write(output, shownOf(views))
		case len(views) == 0 && targets.selector != "":
			a.note("nothing that is managed has the labels %s", targets.selector)
			return nil
		case len(views) == 0 && len(phase) > 0:
			a.note("nothing that is managed is %s", strings.Join(phase, " or "))
			return nil
		}
		return a.table(views, output == formatWide)
	}
	return frame{render: render, lines: func(a *app) []changed { return changes(a, views) }, ended: ended}, nil
}

// changes are the lines of a log of views: as a wait writes them.
func changes(a *app, views []view) []changed {
	lines := make([]changed, len(views))
	for i, v := range views {
		name := v.called()
		if !v.ID.IsZero() {
			name = described(v.ID)
		}
		lines[i] = changed{of: name, is: changeKey(outcome{view: v}), text: name + "  " + summary(v, a.now())}
	}
	return lines
}

// noteStale says beside the output why a view is not from its workflow: no
// worker answers, or one does and fails.
func (a *app) noteStale(views []view) {
	var queues []string
	stuck := 0
	for _, v := range views {
		queue := cmp.Or(v.known.TaskQueue, a.taskQueue)
		switch {
		case !v.Stale || v.Gone:
		case v.known.Stuck != "":
			stuck++
		case !slices.Contains(queues, queue):
			queues = append(queues, queue)
		}
	}
	slices.Sort(queues)
	for _, queue := range queues {
		a.note("note: %v (shown from search attributes)", &noWorkerError{taskQueue: queue})
	}
	if stuck > 0 {
		a.note("note: %s stuck: the worker takes its workflow task and fails; its log says why (shown from search attributes)", isAre(stuck, "resource"))
	}
}

// isAre is "1 resource is", "2 resources are".
func isAre(n int, noun string) string {
	if n == 1 {
		return count(n, noun) + " is"
	}
	return count(n, noun) + " are"
}
