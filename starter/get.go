package main

import (
	"cmp"
	"context"
	"slices"

	"github.com/spf13/cobra"
)

func (a *app) getCommand() *cobra.Command {
	var (
		output   string
		selector string
	)
	c := &cobra.Command{
		Use:   "get [NAME|ID]...",
		Short: "List managed resources and where they stand",
		Long: `get lists managed resources: all, or those named by name, by resource ID or by
label selector. When no worker answers, it shows what the search attributes
tell, and says so.`,
		Example:           "  armature get\n  armature get adx adx/telemetry -o wide\n  armature get -l stack=prod,team=data -o json",
		ValidArgsFunction: a.completeNames,
		RunE: func(c *cobra.Command, args []string) error {
			show, known := outputs[output]
			if !known {
				return badInput("output format %q is not known; allowed are table, wide, json, yaml", output)
			}
			views, err := a.getViews(c.Context(), selection{names: args, selector: selector})
			if err != nil {
				return err
			}
			return show(a, views)
		},
	}
	c.Flags().StringVarP(&output, "output", "o", "table", "output format: table, wide, json, yaml")
	c.Flags().StringVarP(&selector, "selector", "l", "", "label selector: key=value,key=value")
	_ = c.RegisterFlagCompletionFunc("output", cobra.FixedCompletions([]string{"table", "wide", "json", "yaml"}, cobra.ShellCompDirectiveNoFileComp))
	return c
}

func (a *app) getViews(ctx context.Context, s selection) ([]view, error) {
	b, err := a.connect(ctx, a)
	if err != nil {
		return nil, err
	}
	defer b.close()
	records, err := b.targets(ctx, s)
	if err != nil {
		return nil, err
	}
	views, err := (&viewer{reader: b}).views(ctx, records)
	if err != nil {
		return nil, err
	}
	a.noteStale(views)
	a.noteFrozen(ctx, b)
	return views, nil
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
