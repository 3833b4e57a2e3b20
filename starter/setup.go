package starter

import (
	"context"
	"errors"
	"maps"
	"slices"
	"time"

	"github.com/armature-io/armature/internal/searchattr"
	"github.com/armature-io/armature/starter/internal/backend"
	"github.com/armature-io/armature/starter/internal/cli"
	"github.com/armature-io/armature/workflows"
	"github.com/spf13/cobra"
	enumspb "go.temporal.io/api/enums/v1"
)

// registrationTimeout bounds how long setup waits until the server accepts the
// attributes that it registered.
const registrationTimeout = time.Minute

func (a *app) setupCommand() *cobra.Command {
	var webUI string
	c := &cobra.Command{
		Use:   "setup",
		Short: "Register the search attributes in the Temporal namespace",
		Long: `setup registers the search attributes that workflows write. It is safe to repeat. Where
the namespace refuses it, as on Temporal Cloud, setup checks what exists and prints
the command and the Terraform resources that register the rest.

With --web-ui it also prints the addresses of five lists in the Temporal Web UI: resources
that are not ready, that need a person, that are frozen or held, that are being deleted, and
those of a label. Their queries can be edited there.`,
		Example: "  armature setup\n  armature setup --web-ui https://temporal.example.com",
		Args:    cli.NoArgs(""),
		RunE: func(c *cobra.Command, _ []string) error {
			b, err := a.connection(c.Context())
			if err != nil {
				return err
			}
			if err := a.setup(c.Context(), b); err != nil {
				return err
			}
			a.printWebLists(webUI, b.namespace)
			return nil
		},
	}
	a.addWebUI(c, &webUI)
	return c
}

func (a *app) setup(ctx context.Context, b *connection) error {
	registered, err := searchattr.Register(ctx, b.operator, b.namespace, workflows.SearchAttributes())
	_, mismatch := errors.AsType[*searchattr.TypeError](err)
	switch {
	case searchattr.Denied(err):
		return a.explainRegistration(ctx, b)
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

// explainRegistration says what is missing in a namespace that refuses the registration, and
// how an administrator adds it: Temporal Cloud has tools of its own for that.
func (a *app) explainRegistration(ctx context.Context, b *connection) error {
	attributes := workflows.SearchAttributes()
	names, err := searchattr.Missing(ctx, b.operator, b.namespace, attributes)
	switch _, mismatch := errors.AsType[*searchattr.TypeError](err); {
	case mismatch:
		return cli.Failed("%w", err)
	case err == nil && len(names) == 0:
		a.printf("the %d search attributes exist\n", len(attributes))
		return nil
	case err == nil:
		maps.DeleteFunc(attributes, func(name string, _ enumspb.IndexedValueType) bool { return !slices.Contains(names, name) })
	}
	a.printf("%s", backend.CloudRegistration(b.namespace, attributes))
	return cli.Failed("register search attributes in namespace %s: permission denied by Temporal; an administrator of the namespace "+
		"runs `armature setup`, or on Temporal Cloud the command above or its Terraform resources", b.namespace)
}
