package starter

import (
	"errors"
	"fmt"
	"strings"

	"github.com/armature-io/armature/docs"
	"github.com/armature-io/armature/internal/nearest"
	"github.com/armature-io/armature/resource"
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
		Use:   "explain TYPE[@VERSION][.PATH] | REASON",
		Short: "Describe a resource type, a property, or the reason of a condition",
		Long: `explain describes what Azure publishes about a resource type: its properties with
their kinds, flags, allowed values and bounds, required ones first, and its scopes,
names, children, actions and api-versions. Without @VERSION it describes the newest
stable api-version that a PUT can use.

A path goes deeper: properties.routes[].properties. Where a mapping has several
forms, [kind=X] selects one. The data is part of the CLI and has no descriptions; it
needs neither Temporal nor Azure.

A reason (Held, ContainsData) or an error code of Azure (QuotaExceeded) is explained as in
docs/troubleshooting.md: its meaning, who must act, what to do, and when it is retried.

wide lists all values, all api-versions and the read-only properties. json and yaml
are {type, version, path, resource, field}; a field has name, kind, required,
readOnly, writeOnly, secret, values, otherValues, min, max, pattern and properties.`,
		Example: `  armature explain Microsoft.Storage/storageAccounts
  armature explain Microsoft.Storage/storageAccounts.properties.networkAcls
  armature explain 'Microsoft.Network/routeTables@2023-05-01.properties.routes[].properties'
  armature explain 'Microsoft.Resources/deploymentScripts[kind=AzureCLI].properties'
  armature explain ContainsData`,
		ValidArgsFunction: completeQuery,
		Args:              oneArgument("a type or a reason, for example Microsoft.Storage/storageAccounts"),
		RunE: func(_ *cobra.Command, args []string) error {
			if reason, found := docs.FindReason(args[0]); found {
				return a.explainReason(reason, output)
			}
			query, err := author.ParseQuery(args[0])
			if near := nearest.Match(args[0], reasonNames()); err != nil && near != "" {
				return cli.BadInput("%q is neither a type nor a reason; did you mean %s?", args[0], near)
			}
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

// reasonNames returns the reasons of conditions.
func reasonNames() []string {
	var names []string
	for _, info := range resource.Reasons() {
		names = append(names, string(info.Reason))
	}
	return names
}

// explainReason prints the paragraph about a reason.
func (a *app) explainReason(r docs.Reason, output cli.Format) error {
	if output.IsMachine() {
		return output.Write(a.out, r)
	}
	a.printf("%s\n\n", r.Reason)
	for _, line := range []struct{ label, text string }{{"means", r.Means}, {"who acts", r.Acts}, {"do", r.Do}, {"retry", r.Retry}} {
		if line.text != "" && line.text != "-" {
			a.printf("%s", author.Paragraph(line.label, line.text, a.lineWidth()))
		}
	}
	return nil
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
