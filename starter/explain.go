package starter

import (
	"errors"
	"fmt"
	"strings"

	"github.com/armature-io/armature/starter/internal/author"
	"github.com/armature-io/armature/starter/internal/cli"
	"github.com/spf13/cobra"
)

func (a *app) explainCommand() *cobra.Command {
	var (
		output              cli.Format
		versions, recursive bool
	)
	c := &cobra.Command{
		Use:   "explain TYPE[@VERSION][.PATH]",
		Short: "Describe a resource type or a property: kinds, values, bounds, what is required",
		Long: `explain describes what Azure publishes about a resource type: its properties with
their kinds, flags, allowed values and bounds, required ones first, and its scopes,
names, children, actions and api-versions. Without @VERSION it describes the newest
stable api-version that a PUT can use.

A path goes deeper: properties.routes[].properties. Where a mapping has several
forms, [kind=X] selects one. The data is part of the CLI and has no descriptions; it
needs neither Temporal nor Azure.

wide lists all values, all api-versions and the read-only properties. json and yaml
are {type, version, path, resource, field}; a field has name, kind, required,
readOnly, writeOnly, secret, values, otherValues, min, max, pattern and properties.`,
		Example: `  armature explain Microsoft.Storage/storageAccounts
  armature explain Microsoft.Storage/storageAccounts.properties.networkAcls
  armature explain 'Microsoft.Network/routeTables@2023-05-01.properties.routes[].properties'
  armature explain 'Microsoft.Resources/deploymentScripts[kind=AzureCLI].properties'`,
		ValidArgsFunction: completeQuery,
		Args:              oneArgument("a type, for example Microsoft.Storage/storageAccounts"),
		RunE: func(_ *cobra.Command, args []string) error {
			query, err := author.ParseQuery(args[0])
			if err != nil {
				return lookupError(err)
			}
			switch {
			case versions && !output.IsMachine():
				a.printf("%s\n", strings.Join(author.VersionsOf(query.Type).All, "\n"))
				return nil
			case versions:
				return output.Write(a.out, author.VersionsOf(query.Type))
			case recursive && output.IsMachine():
				return cli.BadInput("--recursive cannot be combined with -o %s; leave one of them out", output)
			case recursive:
				text, err := author.Tree(query)
				a.printf("%s", text)
				return lookupError(err)
			}
			page, err := author.Explain(query)
			if err != nil {
				return lookupError(err)
			}
			if output.IsMachine() {
				return output.Write(a.out, page)
			}
			a.printf("%s", page.Text(author.Layout{Width: a.lineWidth(), Wide: output == cli.FormatWide}))
			return nil
		},
	}
	c.Flags().BoolVar(&versions, "versions", false, "list the api-versions of the type only, newest first")
	c.Flags().BoolVar(&recursive, "recursive", false, "list the properties of all levels, without values and bounds")
	cli.AddFormat(c, &output)
	return c
}

// oneArgument refuses a command line without exactly one argument; what names it.
func oneArgument(what string) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		if len(args) != 1 {
			return fmt.Errorf("%s takes one argument, %s; found %d", c.Name(), what, len(args))
		}
		return nil
	}
}

// lookupError returns an error of a lookup with its exit code: a name that is not published
// failed, a text that cannot be read is bad input.
func lookupError(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, author.ErrUnknown):
		return cli.Failed("%w", err)
	}
	return cli.BadInput("%w", err)
}
