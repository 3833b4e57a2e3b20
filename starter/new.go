package starter

import (
	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/starter/internal/author"
	"github.com/armature-io/armature/starter/internal/cli"
	"github.com/armature-io/armature/types"
	"github.com/spf13/cobra"
)

func (a *app) newCommand() *cobra.Command {
	var name, version string
	c := &cobra.Command{
		Use:   "new TYPE[@VERSION]",
		Short: "Print a manifest of a type with its required properties",
		Long: `new prints a manifest with the required properties of a resource type, its location
and its owner. Placeholders have the right kind, bounds and pattern; comments list
the allowed values. Secrets are {$secret: env:NAME}. The manifest validates as it is.
Without a version it has the newest stable api-version that a PUT can use.`,
		Example: `  armature new Microsoft.Storage/storageAccounts --name mystackdata > storage.yaml
  armature new Microsoft.Network/virtualNetworks/subnets --api-version 2023-09-01`,
		ValidArgsFunction: completeCreatable,
		Args:              oneArgument("a type, for example Microsoft.Storage/storageAccounts"),
		RunE: func(_ *cobra.Command, args []string) error {
			shape, err := shapeOf(args[0], version)
			if err != nil {
				return err
			}
			if name != "" {
				if err := resource.CheckSegment(name); err != nil {
					return cli.BadInput("--name %q: %w", name, err)
				}
				for _, finding := range shape.CheckName(name) {
					a.note("warning: the name %s %s", name, finding.Message)
				}
			}
			text, err := author.Skeleton(shape, name)
			if err != nil {
				return cli.Failed("%w", err)
			}
			a.printf("%s", text)
			return nil
		},
	}
	c.Flags().StringVar(&name, "name", "", "name of the resource (default: a placeholder within the published bounds)")
	c.Flags().StringVar(&version, "api-version", "", "api-version (default: the newest stable one)")
	// A flag has one completer, so the registration never fails.
	_ = c.RegisterFlagCompletionFunc("api-version", completeVersion)
	return c
}

// shapeOf returns the shape of TYPE[@VERSION]; version is stated instead of @VERSION.
func shapeOf(text, version string) (*types.Shape, error) {
	query, err := author.ParseQuery(text)
	switch {
	case err != nil:
		return nil, lookupError(err)
	case len(query.Path) > 0:
		return nil, cli.BadInput("%s: a manifest is of a type, not of a property; leave out .%s", text, query.Path)
	case version != "" && query.Version != "":
		return nil, cli.BadInput("the api-version is stated twice; leave out @%s or --api-version", query.Version)
	}
	if version != "" {
		query, err = author.ParseQuery(query.Type + "@" + version)
		switch {
		case err != nil:
			return nil, lookupError(err)
		case len(query.Path) > 0:
			return nil, cli.BadInput("--api-version %q is not an api-version; write one like %s", version, query.Version)
		}
	}
	if query.Version == "" {
		query.Version = types.Newest(query.Type)
	}
	return types.Lookup(query.Type, query.Version), nil
}
