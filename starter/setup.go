package main

import (
	"context"
	"errors"
	"time"

	"github.com/armature-io/armature/searchattr"
	"github.com/armature-io/armature/starter/internal/cli"
	"github.com/armature-io/armature/workflows"
	"github.com/spf13/cobra"
)

// registrationTimeout bounds how long setup waits until the server accepts the
// attributes that it registered.
const registrationTimeout = time.Minute

func (a *app) setupCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "setup",
		Short: "Register the search attributes in the Temporal namespace",
		Long:  "setup registers the search attributes that workflows write. It is safe to repeat.",
		Args:  cli.NoArgs(""),
		RunE:  func(c *cobra.Command, _ []string) error { return a.setup(c.Context()) },
	}
}

func (a *app) setup(ctx context.Context) error {
	b, err := a.connection(ctx)
	if err != nil {
		return err
	}
	registered, err := searchattr.Register(ctx, b.operator, b.namespace, workflows.SearchAttributes())
	_, mismatch := errors.AsType[*searchattr.TypeError](err)
	switch {
	case searchattr.Denied(err):
		return cli.Failed("register search attributes in namespace %s: permission denied by Temporal; "+
			"ask an administrator of the namespace to run `armature setup`", b.namespace)
	case mismatch:
		return cli.Failed("%w", err)
	case err != nil:
		return cli.Failed("%w; try again", err)
	}
	if len(registered.Added) > 0 && b.counter != nil {
		// Without this, an apply right afterwards would be refused.
		known, cancel := context.WithTimeout(ctx, registrationTimeout)
		defer cancel()
		if err := searchattr.WaitKnown(known, b.counter, b.namespace, workflows.SearchAttributes()); err != nil {
			return cli.Failed("%w; they are registered, and the server needs more time before it accepts an apply", err)
		}
	}
	for _, name := range registered.Existing {
		a.printf("%s  existing\n", name)
	}
	for _, name := range registered.Added {
		a.printf("%s  added\n", name)
	}
	return nil
}
