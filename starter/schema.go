package starter

import (
	"github.com/armature-io/armature/manifest"
	"github.com/armature-io/armature/starter/internal/author"
	"github.com/armature-io/armature/starter/internal/cli"
	"github.com/spf13/cobra"
)

func (a *app) schemaCommand() *cobra.Command {
	var (
		paths []string
		all   bool
	)
	c := &cobra.Command{
		Use:   "schema -f PATH... | --all",
		Short: "Print a JSON Schema of manifests for editors",
		Long: `schema prints a JSON Schema (draft-07) of manifests: their own fields, and the bodies
of the resource types and api-versions that the files and folders use. Editors that
read JSON Schema report misspelt properties while a manifest is written, and complete
properties and values. With --all it has the newest api-version of every type instead,
without descriptions: 5 MB, which editors read slowly.

` + "`armature init`" + ` writes the schema and the settings of an editor.`,
		Example: "  armature schema -f my-stack > .armature/schema.json\n  armature schema --all > manifests.schema.json",
		Args:    cli.NoArgs("pass manifests with -f PATH"),
		RunE: func(*cobra.Command, []string) error {
			switch {
			case all == (len(paths) > 0):
				return cli.BadInput("schema needs either -f PATH (a file or a folder) or --all")
			case all:
				return a.printSchema(author.AllUses(), false)
			}
			documents, err := manifest.Documents(paths...)
			if err != nil {
				return cli.BadInput("%w", err)
			}
			return a.printSchema(author.UsesOf(documents), true)
		},
	}
	c.Flags().StringSliceVarP(&paths, "file", "f", nil, "manifests: `files` or folders; repeatable")
	c.Flags().BoolVar(&all, "all", false, "the newest api-version of every type, without descriptions")
	return c
}

func (a *app) printSchema(uses []author.Use, descriptions bool) error {
	text, err := author.WriteSchema(uses, descriptions)
	if err != nil {
		return err
	}
	a.printf("%s", cli.EscapeJSON(text))
	return nil
}
