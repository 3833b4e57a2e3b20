package starter

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/armature-io/armature/manifest"
	"github.com/armature-io/armature/starter/internal/cli"
	"github.com/armature-io/armature/starter/internal/project"
	"github.com/spf13/cobra"
	"go.yaml.in/yaml/v3"
)

func (a *app) renderCommand() *cobra.Command {
	var from project.Flags
	c := &cobra.Command{
		Use:   "render -f PATH...",
		Short: "Print manifests with the values of an environment",
		Long: `render prints the manifests as apply reads them: with the parameters of armature.yaml,
its texts, and the patches, labels and credential of the environment in place. What
Armature reads later stays as it is written: $ref, $secret, and texts with observed values.

It reads files and nothing else; a comment names what has no manifest there and is left
open. The output can be applied: armature render --env prod -f stack | armature apply
-f -. Manifests without owner then need --resource-group and --subscription, which the
first line of the output repeats.`,
		Example: "  armature render -f stack --env prod\n  armature render -f stack --env dev --param sku=S1",
		Args:    cli.NoArgs("pass manifests with -f PATH"),
		RunE: func(*cobra.Command, []string) error {
			if len(from.Files) == 0 {
				return cli.BadInput("render needs -f PATH (a file, a folder, or - for stdin)")
			}
			rendered, err := from.Render(a.in)
			if issues, ok := errors.AsType[manifest.Issues](err); ok {
				return cli.BadInput("%w", issues.Of(manifest.SeverityFault))
			} else if err != nil {
				return err
			}
			return a.printRendered(rendered)
		},
	}
	from.Add(c)
	return c
}

// printRendered prints manifests as YAML documents, each after its place.
func (a *app) printRendered(rendered manifest.RenderedSet) error {
	var text bytes.Buffer
	if rendered.ResourceGroup != "" || rendered.Subscription != "" {
		fmt.Fprintf(&text, "# Manifests without owner:%s%s\n", flagText("resource-group", rendered.ResourceGroup), flagText("subscription", rendered.Subscription))
	}
	for i, m := range rendered.Manifests {
		if i > 0 {
			text.WriteString("---\n")
		}
		fmt.Fprintf(&text, "# %s\n", m.Source)
		for _, open := range m.Open {
			fmt.Fprintf(&text, "# open: %s\n", open.Text())
		}
		cli.QuoteNodes(m.Document)
		encoder := yaml.NewEncoder(&text)
		encoder.SetIndent(2)
		if err := encoder.Encode(m.Document); err != nil {
			return fmt.Errorf("write %s: %w", m.Source, err)
		}
	}
	a.printf("%s", cli.EscapeYAML(text.Bytes()))
	return nil
}

// flagText returns " --name value", "" without a value.
func flagText(name, value string) string {
	if value == "" {
		return ""
	}
	return " --" + name + " " + value
}
