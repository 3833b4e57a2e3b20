package starter

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/starter/internal/backend"
	"github.com/armature-io/armature/starter/internal/cli"
	"github.com/spf13/cobra"
)

// completionTimeout is how long a shell waits for names after Tab.
const completionTimeout = 2 * time.Second

// completer offers what can be completed at the cursor.
type completer = func(c *cobra.Command, args []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective)

func (a *app) completionCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "completion bash|zsh|fish|powershell",
		Short: "Print the completion script of a shell",
		Long: `completion prints a script that completes commands, flags and their values, and
the names and labels of managed resources, and resource types, api-versions and
properties. If Temporal does not respond within 2 s, names and labels are not offered.
The script of Bash switches off Bash's completion of host names after an @ (shopt -u
hostcomplete), because an @ precedes the api-version of a type.`,
		Example:   "  source <(armature completion bash)",
		ValidArgs: []string{"bash", "zsh", "fish", "powershell"},
		Args: func(c *cobra.Command, args []string) error {
			if len(args) != 1 || !slices.Contains(c.ValidArgs, args[0]) {
				return fmt.Errorf("completion takes one shell, found %q; allowed are %s", strings.Join(args, " "), strings.Join(c.ValidArgs, ", "))
			}
			return nil
		},
		RunE: func(c *cobra.Command, args []string) error {
			switch args[0] {
			case "bash":
				// Bash ends a word at @, which precedes the api-version of a type, to
				// complete host names.
				a.printf("shopt -u hostcomplete\n")
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

// completeFlag registers the completer of a flag. Each flag has one, so it never
// fails.
func (a *app) completeFlag(c *cobra.Command, flag string, offers completer) {
	_ = c.RegisterFlagCompletionFunc(flag, offers)
}

// fixed offers the values of an enum.
func fixed(values ...string) completer {
	return cobra.FixedCompletions(values, cobra.ShellCompDirectiveNoFileComp)
}

// completeReasons offers the reasons of conditions with their meaning.
func completeReasons(*cobra.Command, []string, string) ([]cobra.Completion, cobra.ShellCompDirective) {
	var offers []cobra.Completion
	for _, info := range resource.Reasons() {
		offers = cli.Offer(offers, string(info.Reason), info.Meaning)
	}
	return offers, cobra.ShellCompDirectiveNoFileComp
}

// completeNames offers the names of managed resources that are not typed yet.
func (a *app) completeNames(c *cobra.Command, args []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
	var names []cobra.Completion
	records := a.completions(c)
	for i, name := range backend.RecordNames(records) {
		if !slices.Contains(args, name) {
			names = cli.Offer(names, name, records[i].ID.Type())
		}
	}
	return names, cobra.ShellCompDirectiveNoFileComp
}

// completeLabels offers the labels of managed resources, also after a comma.
func (a *app) completeLabels(c *cobra.Command, _ []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
	before := typed[:strings.LastIndex(typed, ",")+1]
	counts := map[string]int{}
	for _, r := range a.completions(c) {
		for _, label := range r.Labels {
			counts[label]++
		}
	}
	var offers []cobra.Completion
	for label, n := range counts {
		key, _, _ := strings.Cut(label, "=")
		if before == "" || !strings.Contains(","+before, ","+key+"=") {
			offers = cli.Offer(offers, before+label, cli.Count(n, "resource"))
		}
	}
	slices.Sort(offers)
	return offers, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
}

// completions returns the managed resources, none if Temporal does not respond in
// time: a shell must not hang and cannot show an error.
func (a *app) completions(c *cobra.Command) []backend.Record {
	ctx, cancel := context.WithTimeout(c.Context(), completionTimeout)
	defer cancel()
	b, err := a.connection(ctx)
	if err != nil {
		return nil
	}
	records, _ := backend.Running(ctx, b, "")
	return records
}
