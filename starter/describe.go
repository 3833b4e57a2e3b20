package main

import (
	"context"
	"errors"

	"github.com/spf13/cobra"
)

func (a *app) describeCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "describe NAME|ID...",
		Short: "Tell on one screen where a resource stands and why",
		Long: `describe tells the condition, the verdict in words, whom the resource waits for
since when, the next try, the last differences and the last decisions.`,
		Example:           "  armature describe adx/telemetry",
		Args:              cobra.MinimumNArgs(1),
		ValidArgsFunction: a.completeNames,
		RunE: func(c *cobra.Command, args []string) error {
			b, err := a.connect(c.Context(), a)
			if err != nil {
				return err
			}
			defer b.close()
			return a.describe(c.Context(), b, args)
		},
	}
}

func (a *app) describe(ctx context.Context, b *backend, names []string) error {
	records, err := b.targets(ctx, selection{names: names})
	if err != nil {
		return err
	}
	views, err := (&viewer{reader: b}).described(ctx, records)
	if err != nil {
		return err
	}
	for i, v := range views {
		if i > 0 {
			a.printf("\n")
		}
		p := page{view: v, workflowID: records[i].WorkflowID, namespace: b.namespace, now: a.now(), app: a}
		a.printf("%s", p.render())
	}
	a.noteStale(views)
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
