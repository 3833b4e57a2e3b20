package starter

import (
	"context"

	"github.com/armature-io/armature/starter/internal/backend"
	"github.com/armature-io/armature/starter/internal/cli"
	"github.com/armature-io/armature/starter/internal/wait"
	"github.com/armature-io/armature/workflows"
	"github.com/spf13/cobra"
)

func (a *app) pauseCommand() *cobra.Command {
	return a.pauseOrResume("pause", workflows.PauseUpdate, "Start no step until resume; operations in progress end",
		`pause lets operations that Azure has accepted end and starts no other step of the
resource until resume; a deletion continues. It stops single resources for any
time; freeze stops every write of many at once.`,
		"paused", "already paused")
}

func (a *app) resumeCommand() *cobra.Command {
	return a.pauseOrResume("resume", workflows.ResumeUpdate, "End a pause and start a pass now",
		"resume ends a pause and starts a pass now. A resource that is not paused does not\nchange.",
		"resumed", "was not paused")
}

// pauseOrResume returns the command for pause or resume. changed and unchanged are the
// results for the user.
func (a *app) pauseOrResume(name, update, short, long, changed, unchanged string) *cobra.Command {
	var (
		input   workflows.PauseInput
		targets backend.Selection
	)
	c := &cobra.Command{
		Use:     name + " NAME|ID... | -l SELECTOR | -f PATH...",
		Short:   short,
		Long:    long + "\n\n" + cli.ExitHelp,
		Example: "  armature " + name + " adx --reason INC-42\n  armature " + name + " -l stack=prod",
		RunE: func(c *cobra.Command, _ []string) error {
			input.By = a.by
			return a.sendSelected(c.Context(), request{targets: targets, send: func(ctx context.Context, b *connection, w *wait.Resource) (string, error) {
				var result workflows.PauseResult
				err := b.Update(ctx, w.WorkflowID, backend.Message{Name: update, Input: input, Result: &result})
				if !result.Changed {
					return unchanged, err
				}
				return changed, err
			}})
		},
	}
	addReason(c, &input.Reason, "why, for the history")
	a.addTargets(c, &targets, "every managed resource")
	return c
}
