package main

import (
	"context"

	"github.com/armature-io/armature/workflows"
	"github.com/spf13/cobra"
)

func (a *app) pauseCommand() *cobra.Command {
	return a.pausing("pause", workflows.PauseUpdate, "Let operations end and start no step until resume",
		`pause lets what Azure has accepted end and starts no step of the resource until
resume; a deletion goes on. It holds single resources for as long as it takes; to
stop every write of many at once there is freeze.`,
		"paused", "is paused already")
}

// pausing is the command for pause and resume, which differ in words only.
func (a *app) pausing(name, update, short, long, changed, unchanged string) *cobra.Command {
	var (
		input   workflows.PauseInput
		targets selection
	)
	c := &cobra.Command{
		Use:     name + " NAME|ID... | -l SELECTOR",
		Short:   short,
		Long:    long + "\n\n" + exitHelp,
		Example: "  armature " + name + " adx --reason INC-42\n  armature " + name + " -l stack=prod",
		RunE: func(c *cobra.Command, args []string) error {
			input.By = a.by
			targets.names = args
			b, err := a.sendNamed(c.Context(), targets, func(b *backend, records []record) (sender, error) {
				return func(ctx context.Context, i int) (string, error) {
					var result workflows.PauseResult
					err := b.update(ctx, records[i].WorkflowID, message{name: update, input: input, result: &result})
					if !result.Changed {
						return unchanged, err
					}
					return changed, err
				}, nil
			})
			if b != nil {
				b.close()
			}
			return err
		},
	}
	c.Flags().StringVar(&input.Reason, "reason", "", "why, for the history")
	a.addChooser(c, &targets, "everything that is managed")
	return c
}
