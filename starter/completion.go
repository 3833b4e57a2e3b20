package main

import (
	"context"
	"time"

	"github.com/spf13/cobra"
)

// completionTimeout is how long a shell waits for names after Tab.
const completionTimeout = 2 * time.Second

func (a *app) completionCommand() *cobra.Command {
	return &cobra.Command{
		Use:       "completion bash|zsh|fish|powershell",
		Short:     "Print the completion script of a shell",
		Long:      "completion prints a script that completes commands, flags and the names of managed\nresources.",
		Example:   "  source <(armature completion bash)",
		ValidArgs: []string{"bash", "zsh", "fish", "powershell"},
		Args:      cobra.MatchAll(cobra.ExactArgs(1), cobra.OnlyValidArgs),
		RunE: func(c *cobra.Command, args []string) error {
			switch args[0] {
			case "bash":
				return c.Root().GenBashCompletionV2(a.out, true)
			case "zsh":
				return c.Root().GenZshCompletion(a.out)
			case "fish":
				return c.Root().GenFishCompletion(a.out, true)
			}
			return c.Root().GenPowerShellCompletionWithDesc(a.out)
		},
	}
}

// completeNames offers the names of managed resources; a Temporal that is out of
// reach offers none.
func (a *app) completeNames(c *cobra.Command, _ []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
	ctx := c.Context()
	if ctx == nil {
		ctx = context.Background()
	}
	ctx, cancel := context.WithTimeout(ctx, completionTimeout)
	defer cancel()
	b, err := a.connect(ctx, a)
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	defer b.close()
	records, err := b.running(ctx, "")
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	names := make([]cobra.Completion, len(records))
	for i, r := range records {
		names[i] = cobra.CompletionWithDesc(r.called(), r.ID.Type())
	}
	return names, cobra.ShellCompDirectiveNoFileComp
}
