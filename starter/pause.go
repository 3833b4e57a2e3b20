package main

import (
	"context"

	"github.com/armature-io/armature/workflows"
	"github.com/spf13/cobra"
)

func (a *app) pauseCommand() *cobra.Command {
	return a.pausing("pause", workflows.PauseUpdate, "Let operations end and start no step until resume",
		"paused", "is paused already")
}

// pausing is the command for pause and resume, which differ in words only.
func (a *app) pausing(name, update, short, changed, unchanged string) *cobra.Command {
	var (
		input    workflows.PauseInput
		selector string
	)
	c := &cobra.Command{
		Use:               name + " NAME|ID... | -l SELECTOR",
		Short:             short,
		Example:           "  armature " + name + " adx --reason INC-42",
		ValidArgsFunction: a.completeNames,
		RunE: func(c *cobra.Command, args []string) error {
			input.By = a.by
			b, err := a.sendNamed(c.Context(), selection{names: args, selector: selector}, func(b *backend, records []record) sender {
				return func(ctx context.Context, i int) (string, error) {
					var result workflows.PauseResult
					err := b.update(ctx, records[i].WorkflowID, message{name: update, input: input, result: &result})
					if !result.Changed {
						return unchanged, err
					}
					return changed, err
				}
			})
			if b != nil {
				b.close()
			}
			return err
		},
	}
	c.Flags().StringVar(&input.Reason, "reason", "", "why, for the history")
	c.Flags().StringVarP(&selector, "selector", "l", "", "label selector: key=value,key=value")
	return c
}
