package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/armature-io/armature/internal/text"
	"github.com/armature-io/armature/starter/internal/backend"
	"github.com/armature-io/armature/starter/internal/cli"
	"github.com/armature-io/armature/workflows"
	"github.com/spf13/cobra"
)

func (a *app) freezeCommand() *cobra.Command {
	var in workflows.Freeze
	c := &cobra.Command{
		Use:   "freeze [-l SELECTOR]",
		Short: "Stop every PUT and DELETE, of all resources or of those with labels",
		Long: `freeze keeps all workers from writing to Azure: within 5 s no PUT and no DELETE is
sent any more, not even after a restart, until unfreeze. Operations that ARM has
accepted continue, and so do reads; get and describe show what waits for the end of
the freeze.

` + cli.ExitHelp,
		Example: "  armature freeze --reason 'release 1.4 sees drift everywhere'\n  armature freeze -l stack=prod",
		Args:    cli.NoArgs("choose the resources with -l key=value"),
		RunE: func(c *cobra.Command, _ []string) error {
			return a.changeFreeze(c.Context(), in, freezer.Freeze, "frozen: no PUT and no DELETE is sent (within 5 s), reads continue; `armature unfreeze"+selectorFlag(in.Selector)+"` lifts the freeze", "already frozen")
		},
	}
	c.Flags().StringVar(&in.Reason, "reason", "", "why, for everyone who meets the freeze")
	c.Flags().StringVarP(&in.Selector, "selector", "l", "", "label selector: key=value,key=value (all of them); without it everything")
	a.completeFlag(c, "selector", a.completeLabels)
	return c
}

func (a *app) unfreezeCommand() *cobra.Command {
	var in workflows.Freeze
	c := &cobra.Command{
		Use:     "unfreeze [-l SELECTOR]",
		Short:   "Lift a freeze",
		Long:    "unfreeze lifts the freeze with exactly this selector. Waiting resources continue at\ntheir next try, within 3 minutes, or now with `armature reconcile`.\n\n" + cli.ExitHelp,
		Example: "  armature unfreeze\n  armature unfreeze -l stack=prod",
		Args:    cli.NoArgs("choose the freeze with -l key=value"),
		RunE: func(c *cobra.Command, _ []string) error {
			return a.changeFreeze(c.Context(), in, freezer.Unfreeze, "no longer frozen", "was not frozen")
		},
	}
	c.Flags().StringVarP(&in.Selector, "selector", "l", "", "the selector of the freeze; without it the freeze of everything")
	a.completeFlag(c, "selector", a.completeFreezes)
	return c
}

// changeFreeze sends one update and prints the result and the other freezes.
func (a *app) changeFreeze(
	ctx context.Context, in workflows.Freeze,
	send func(freezer, context.Context, workflows.Freeze) (workflows.FreezeResult, error), changed, unchanged string,
) error {
	if _, err := backend.ParseSelector(in.Selector); err != nil {
		return err
	}
	in.By = a.by
	b, err := a.connection(ctx)
	if err != nil {
		return err
	}
	result, err := send(b, ctx, in)
	if err != nil && !errors.Is(err, backend.ErrNotManaged) { // no freeze exists
		return err
	}
	if !result.Changed {
		changed = unchanged
	}
	a.printf("%s  %s\n", scopeText(in), changed)
	for _, freeze := range result.Frozen {
		if freeze.Selector != in.Selector {
			a.printf("  also frozen: %s\n", freezeText(freeze))
		}
	}
	return nil
}

// completeFreezes offers the selectors of the freezes.
func (a *app) completeFreezes(c *cobra.Command, _ []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
	ctx, cancel := context.WithTimeout(c.Context(), completionTimeout)
	defer cancel()
	b, err := a.connection(ctx)
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	freezes, _, _ := b.Freezes(ctx)
	var offers []cobra.Completion
	for _, freeze := range freezes {
		if freeze.Selector != "" {
			offers = append(offers, cobra.CompletionWithDesc(freeze.Selector, "by "+freeze.By))
		}
	}
	return offers, cobra.ShellCompDirectiveNoFileComp
}

// selectorFlag returns a selector as a flag of the command line.
func selectorFlag(selector string) string {
	if selector == "" {
		return ""
	}
	return " -l " + selector
}

// scopeText returns what a freeze applies to.
func scopeText(freeze workflows.Freeze) string { return cmp.Or(freeze.Selector, "everything") }

// freezeText returns one freeze in a sentence.
func freezeText(freeze workflows.Freeze) string {
	sentence := fmt.Sprintf("%s, by %s since %s", scopeText(freeze), freeze.By, text.Time(freeze.Since))
	if freeze.Reason != "" {
		sentence += ": " + freeze.Reason
	}
	return sentence
}

// noteFreezes notes the freezes beside a list. An error does not stop the list.
func (a *app) noteFreezes(freezes []workflows.Freeze, err error) {
	if err != nil {
		a.note("note: cannot read the freezes: %v", err)
	}
	for _, freeze := range freezes {
		a.note("note: frozen: %s; reads continue, no PUT and no DELETE is sent; `armature unfreeze%s` lifts the freeze", freezeText(freeze), selectorFlag(freeze.Selector))
	}
}
