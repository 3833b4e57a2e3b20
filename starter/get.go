package main

import (
	"context"

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
	for _, v := range views {
		if v.Stale && !v.Gone {
			a.note("note: %v (shown from search attributes)", &noWorkerError{taskQueue: a.taskQueue})
			break
		}
	}
	return views, nil
}
