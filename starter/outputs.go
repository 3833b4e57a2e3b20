package starter

import (
	"context"
	"strings"

	"github.com/armature-io/armature/starter/internal/backend"
	"github.com/armature-io/armature/starter/internal/cli"
	"github.com/armature-io/armature/starter/internal/screen"
	"github.com/armature-io/armature/workflows"
	"github.com/spf13/cobra"
)

func (a *app) outputsCommand() *cobra.Command {
	var targets backend.Selection
	format := screen.OutputTable
	c := &cobra.Command{
		Use:   "outputs [NAME|ID... | -l SELECTOR | -f PATH...]",
		Short: "Print the outputs that manifests declare",
		Long: `outputs has a worker read managed resources and prints the values that their manifests
declare under outputs: host names, endpoints, identities. Secrets are never outputs.

json is a mapping of all values; env are assignments for a shell, azd those of the Azure
Developer CLI, and github lines for the file that $GITHUB_OUTPUT names. An output
without a value is an error, and then nothing is printed.

` + cli.ExitHelp,
		Example: "  armature outputs -l stack=prod\n  eval \"$(armature outputs -l stack=prod -o env)\"\n  armature outputs -l stack=prod -o github >> \"$GITHUB_OUTPUT\"",
		RunE: func(c *cobra.Command, _ []string) error {
			return a.outputs(c.Context(), targets, format)
		},
	}
	a.addTargets(c, &targets, "every managed resource, as without a name")
	c.Flags().VarP(&format, "output", "o", "output format: "+strings.Join(screen.OutputFormats(), ", "))
	a.completeFlag(c, "output", fixed(screen.OutputFormats()...))
	return c
}

func (a *app) outputs(ctx context.Context, targets backend.Selection, format screen.OutputFormat) error {
	b, err := a.connection(ctx)
	if err != nil {
		return err
	}
	records, err := backend.Targets(ctx, b, targets)
	if err != nil {
		return err
	}
	values, err := backend.ReadOutputs(ctx, b, records, backend.NewRunID(workflows.ImportIDPrefix))
	if err != nil {
		return err
	}
	for _, v := range values {
		if v.Problem != "" {
			return cli.Failed("%s of %s has no value: %s", v.Name, v.Resource.Short(), v.Problem)
		}
	}
	if len(values) == 0 {
		a.note("no manifest declares outputs; add outputs: {HOST: properties.x} to one")
	}
	return format.Write(a.out, values)
}
