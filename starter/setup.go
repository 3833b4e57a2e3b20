package main

import (
	"context"
	"errors"
	"time"

	"github.com/armature-io/armature/searchattr"
	"github.com/armature-io/armature/workflows"
	"github.com/spf13/cobra"
)

// knownTimeout bounds how long setup waits until the server takes what it
// registered.
const knownTimeout = time.Minute

func (a *app) setupCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "setup",
		Short: "Register the search attributes in the Temporal namespace",
		Long:  "setup registers the search attributes that workflows write. It is safe to repeat.",
		Args:  none(""),
		RunE: func(c *cobra.Command, _ []string) error {
			b, err := a.connect(c.Context(), a)
			if err != nil {
				return err
			}
			defer b.close()
			done, err := searchattr.Register(c.Context(), b.operator, b.namespace, workflows.SearchAttributes())
			var mismatch *searchattr.TypeError
			switch {
			case searchattr.Denied(err):
				return failed("register search attributes in namespace %s: Temporal refuses, because these credentials may not; "+
					"ask an administrator of the namespace to run `armature setup`", b.namespace)
			case errors.As(err, &mismatch):
				return failed("%w", err)
			case err != nil:
				return failed("%w; try again", err)
			}
			if len(done.Added) > 0 && b.counter != nil {
				// Else an apply right afterwards would be refused.
				known, cancel := context.WithTimeout(c.Context(), knownTimeout)
				defer cancel()
				if err := searchattr.WaitKnown(known, b.counter, b.namespace, workflows.SearchAttributes()); err != nil {
					return failed("%w; they are registered, and the server needs some more time before it takes an apply", err)
				}
			}
			for _, name := range done.Existing {
				a.printf("%s  existing\n", name)
			}
			for _, name := range done.Added {
				a.printf("%s  added\n", name)
			}
			return nil
		},
	}
}
