package starter

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/armature-io/armature/internal/payload"
	"github.com/armature-io/armature/starter/internal/backend"
	"github.com/armature-io/armature/starter/internal/cli"
	"github.com/armature-io/armature/starter/internal/screen"
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
the freeze. It needs no encryption key, no signing key, no token and no worker: without
a key it leaves author and reason out of an encrypted namespace. freeze asks each worker that polls the task queue to confirm it, and names
those that have not after 3 s: the freeze is in force all the same.

` + cli.ExitHelp,
		Example: "  armature freeze --reason 'release 1.4 sees drift everywhere'\n  armature freeze -l stack=prod",
		Args:    cli.NoArgs("choose the resources with -l key=value"),
		RunE: func(c *cobra.Command, _ []string) error {
			return a.changeFreeze(c.Context(), in, a.freeze, freezer.ConfirmFreeze, "frozen: no PUT and no DELETE is sent (within 5 s), reads continue; `armature unfreeze"+cli.SelectorFlag(in.Selector)+"` lifts the freeze", "already frozen")
		},
	}
	addReason(c, &in.Reason, "why, for everyone who meets the freeze")
	c.Flags().StringVarP(&in.Selector, "selector", "l", "", "label selector: key=value,key=value (all of them); without it everything")
	a.completeFlag(c, "selector", a.completeLabels)
	return c
}

func (a *app) unfreezeCommand() *cobra.Command {
	var in workflows.Freeze
	c := &cobra.Command{
		Use:     "unfreeze [-l SELECTOR]",
		Short:   "Lift a freeze",
		Long:    "unfreeze lifts the freeze with exactly this selector. Where there is none and\neverything is frozen, it releases the resources with these labels, and the rest\nstays frozen. Waiting resources continue at their next try, within 3 minutes, or now\nwith `armature reconcile`. It needs no encryption key. Workers that write signed specs\nonly demand a signature (--signing-key).\n\n" + cli.ExitHelp,
		Example: "  armature unfreeze\n  armature unfreeze -l stack=prod",
		Args:    cli.NoArgs("choose the freeze with -l key=value"),
		RunE: func(c *cobra.Command, _ []string) error {
			return a.changeFreeze(c.Context(), in, a.unfreeze, nil, "no longer frozen", "was not frozen")
		},
	}
	c.Flags().StringVarP(&in.Selector, "selector", "l", "", "the selector of the freeze, or labels to release; without it the freeze of everything")
	a.completeFlag(c, "selector", a.completeFreezes)
	a.addSigningKey(c)
	return c
}

func (a *app) freeze(ctx context.Context, b *connection, in workflows.Freeze) (workflows.FreezeResult, error) {
	return b.Freeze(ctx, in) //nolint:wrapcheck // the backend says what failed
}

func (a *app) unfreeze(ctx context.Context, b *connection, in workflows.Freeze) (workflows.FreezeResult, error) {
	key, err := a.signer(b)
	if err != nil {
		return workflows.FreezeResult{}, err
	}
	return b.Unfreeze(ctx, in, key) //nolint:wrapcheck // the same
}

// brakeKeysTimeout bounds reading the encryption keys for a freeze or unfreeze.
const brakeKeysTimeout = 5 * time.Second

// brakeConnection returns the connection for a freeze or unfreeze. Keys that cannot be read
// stop neither; author and reason are left out then.
func (a *app) brakeConnection(ctx context.Context, in *workflows.Freeze) (*connection, error) {
	deadline, cancel := context.WithTimeout(ctx, brakeKeysTimeout)
	defer cancel()
	if _, err := a.payloads(deadline); err != nil {
		a.note("note: author and reason are left out: %v", err)
		a.converters = payload.Clear()
		in.By, in.Reason = "", ""
	}
	return a.connection(ctx)
}

// changeFreeze sends one update and prints the result and the other freezes.
func (a *app) changeFreeze(
	ctx context.Context, in workflows.Freeze,
	send func(context.Context, *connection, workflows.Freeze) (workflows.FreezeResult, error),
	confirm func(freezer, context.Context, workflows.Freeze) (backend.Confirmation, error), changed, unchanged string,
) error {
	if _, err := backend.ParseSelector(in.Selector); err != nil {
		return err
	}
	in.By = a.by
	b, err := a.brakeConnection(ctx, &in)
	if err != nil {
		return err
	}
	result, err := send(ctx, b, in)
	if err != nil && !errors.Is(err, backend.ErrNotManaged) { // no freeze exists
		return err
	}
	switch {
	case !result.Changed:
		changed = unchanged
	case screen.IsReleased(in, result.Frozen):
		changed = "released: its resources are written again; the rest stays frozen"
	}
	a.printf("%s  %s\n", screen.FreezeScope(in), changed)
	if result.Unnamed {
		a.note("note: author and reason are left out: the namespace is encrypted, and no key is configured here")
	}
	for _, freeze := range result.Frozen {
		if freeze.Selector != in.Selector {
			a.printf("  also frozen: %s\n", screen.FreezeText(freeze))
		}
	}
	if confirm == nil {
		return nil
	}
	confirmation, err := confirm(b, ctx, in)
	a.printf("%s", confirmation.Text())
	if note := confirmation.Note(err); note != "" {
		a.note("note: %s", note)
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
		offers = cli.Offer(offers, freeze.Selector, strings.TrimSpace(screen.FreezeAuthor(freeze)))
	}
	return offers, cobra.ShellCompDirectiveNoFileComp
}

// noteFreezes notes the freezes beside a list. An error does not stop the list.
func (a *app) noteFreezes(freezes []workflows.Freeze, err error) {
	if err != nil {
		a.note("note: cannot read the freezes: %v", err)
	}
	for _, freeze := range freezes {
		a.note("note: frozen: %s; reads continue, no PUT and no DELETE is sent; `armature unfreeze%s` lifts the freeze", screen.FreezeText(freeze), cli.SelectorFlag(freeze.Selector))
	}
}
