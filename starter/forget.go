package starter

import (
	"context"

	"github.com/armature-io/armature/starter/internal/backend"
	"github.com/armature-io/armature/starter/internal/cli"
	"github.com/armature-io/armature/starter/internal/wait"
	"github.com/armature-io/armature/workflows"
	"github.com/spf13/cobra"
)

func (a *app) forgetCommand() *cobra.Command {
	var (
		input   workflows.ForgetInput
		targets backend.Selection
		yes     bool
	)
	c := &cobra.Command{
		Use:   "forget NAME|ID... | -l SELECTOR | -f PATH...",
		Short: "Stop managing resources and leave them in Azure as they are",
		Long: `forget ends the management of resources and sends nothing to Azure, in any state: while
a deletion is stuck, with a wrong api-version, while paused or frozen. An operation
that Azure has accepted continues there. What is in a forgotten resource stays
managed. apply manages the resource again.

With -l or --all it asks first (--yes answers; it is needed without a terminal).

` + cli.ExitHelp,
		Example: "  armature forget adx --reason \"moved to another team\"\n  armature forget -l stack=old --yes",
		RunE: func(c *cobra.Command, _ []string) error {
			input.By = a.by
			return a.sendSelected(c.Context(), request{
				targets: targets, ends: true,
				confirm: func(_ context.Context, _ *connection, records []backend.Record) ([]backend.Record, error) {
					what := cli.Count(len(records), "resource")
					return records, a.ask(question{
						lines: idLines(records), yes: yes || !targets.IsQuery(), required: true, text: "Stop managing " + what + "?",
						action: "forget " + targets.Flags() + " ends the management of " + what, unchanged: "nothing was sent",
					})
				},
				send: func(ctx context.Context, b *connection, w *wait.Resource) (string, error) {
					var result workflows.ForgetResult
					err := b.Update(ctx, w.WorkflowID, backend.Message{Name: workflows.ForgetUpdate, Input: input, Result: &result})
					if result.Busy {
						return "no longer managed once the request in progress has ended; it is left as it is in Azure", err
					}
					return "no longer managed; it is left as it is in Azure", err
				},
			})
		},
	}
	addReason(c, &input.Reason, "why, for the history")
	a.addTargets(c, &targets, "every managed resource")
	c.Flags().BoolVarP(&yes, "yes", "y", false, "do not ask")
	return c
}
