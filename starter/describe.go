package main

import (
	"context"
	"errors"

	"github.com/spf13/cobra"
)

func (a *app) describeCommand() *cobra.Command {
	var (
		targets watched
		how     showing
	)
	c := &cobra.Command{
		Use:   "describe NAME|ID... | -l SELECTOR",
		Short: "Tell on one screen where a resource stands and why",
		Long: `describe tells the condition, the verdict in words, whom the resource waits for
since when, the next try, the last differences and the last decisions. wide cuts
nothing off; json and yaml are the list that get writes, with workflowId and
namespace.

` + exitHelp,
		Example: "  armature describe adx/telemetry\n  armature describe adx --watch\n  armature describe -l stack=prod -o yaml",
		RunE: func(c *cobra.Command, args []string) error {
			targets.names = args
			switch err := targets.check(); {
			case err != nil:
				return err
			case targets.empty():
				return badInput("name the resources, or choose them with -l key=value or --all; `armature get` lists them")
			}
			return a.show(c.Context(), how, func(ctx context.Context, b *backend) (frame, error) {
				views, err := targets.views(ctx, b, true)
				if err != nil {
					return frame{}, err
				}
				if len(views) == 0 {
					return frame{}, noneChosen(targets.selection)
				}
				render := func(a *app) error { return a.describe(b.namespace, targets.records, views, how.output) }
				return frame{render: render, ended: targets.over(views)}, nil
			})
		},
	}
	a.addChooser(c, &targets.selection, "everything that is managed")
	a.addShowing(c, &how)
	return c
}

// noneChosen says that a selection hit nothing.
func noneChosen(s selection) error {
	if s.selector == "" {
		return failed("nothing is managed here; `armature apply -f PATH` begins")
	}
	return failed("find resources with %s: none is managed; `armature get` lists what is, with -o json its labels too", s.selector)
}

// pageShown is a page for machines.
type pageShown struct {
	shown
	WorkflowID string `json:"workflowId"`
	Namespace  string `json:"namespace"`
}

func (a *app) describe(namespace string, records []record, views []view, output format) error {
	a.noteStale(views)
	if output.machine() {
		out := make([]pageShown, len(views))
		for i, v := range shownOf(views) {
			out[i] = pageShown{shown: v, WorkflowID: records[i].WorkflowID, Namespace: namespace}
		}
		return a.write(output, out)
	}
	for i, v := range views {
		if i > 0 {
			a.printf("\n")
		}
		p := page{view: v, workflowID: records[i].WorkflowID, namespace: namespace, now: a.now(), app: a, wide: output == formatWide}
		a.printf("%s", p.render())
	}
	return nil
}

// needManaged refuses targets whose workflow ended: a message to them would
// reach nobody.
func needManaged(records []record) error {
	var errs []error
	for _, r := range records {
		if !r.Running {
			errs = append(errs, failed("find %s: it is not managed (its workflow ended: %s); nothing was started", r.called(), r.Ended))
		}
	}
	if len(errs) == 0 {
		return nil
	}
	return &fault{code: exitFailed, err: errors.Join(errs...)}
}
