package starter

import (
	"context"
	"errors"
	"path/filepath"
	"strings"

	"github.com/armature-io/armature/manifest"
	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/starter/internal/cli"
	"github.com/armature-io/armature/starter/internal/convert"
	"github.com/armature-io/armature/starter/internal/importer"
	"github.com/armature-io/armature/starter/internal/project"
	"github.com/spf13/cobra"
)

// convertOptions are the flags of convert.
type convertOptions struct {
	options   convert.Options
	from      string
	output    string
	printOnly bool
}

func (a *app) convertCommand() *cobra.Command {
	var how convertOptions
	c := &cobra.Command{
		Use:   "convert --from FORMAT PATH...",
		Short: "Write manifests from the files of other tools",
		Long: `convert writes manifests from the files of other tools, and prints how the old tool
lets go of the resources. It reads files only, and neither Temporal nor Azure, except
for --from ids.

  bicep-snapshot   the output of bicep snapshot
  azapi            a folder of Terraform with resources of the provider azapi
  terraform-state  a state of Terraform or OpenTofu with resources of azapi
  aso              manifests of Azure Service Operator: files, or folders of them
  ids              any text with resource IDs: az resource list, a state of azurerm,
                   an export of Pulumi. A worker reads the resources, as for import

What cannot be converted is a fault with its place in the source, and nothing is
written. Secrets become placeholders, {$secret: env:NAME}; their values are neither
written nor printed. The manifests adopt what exists as it is, so that their first
apply writes nothing. docs/adopt.md describes what each format becomes.

` + cli.ExitHelp,
		Example: "  armature convert --from bicep-snapshot main.snapshot.json -o stack\n" +
			"  armature convert --from aso cluster.yaml --subscription 11111111-2222-3333-4444-555555555555 -o stack\n" +
			"  az resource list -g shop | armature convert --from ids - -o stack",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return errors.New("convert needs the file or folder to convert")
			}
			return nil
		},
		RunE: func(c *cobra.Command, args []string) error {
			if err := how.check(); err != nil {
				return err
			}
			how.options.Stdin = a.in
			if how.options.From == convert.IDs {
				return a.convertIDs(c.Context(), how, args)
			}
			return a.convert(how, args)
		},
	}
	flags := c.Flags()
	flags.StringVar(&how.from, "from", "", "format of the files: "+strings.Join(convert.Formats(), ", "))
	flags.StringVarP(&how.output, "output", "o", "-", "folder for one file of each resource group (ids: of each resource), or - for standard output")
	flags.StringVar(&how.options.Subscription, "subscription", "", "subscription (GUID) of what the files name without one")
	addReconcile(c, &how.options.Adopt, &how.options.Policy, string(resource.AdoptAsIs))
	flags.StringVar(&how.options.Credential, "credential", "", "reconcile.credential of the manifests; for ids also to read with")
	flags.BoolVar(&how.printOnly, "print-ids", false, "with --from ids: print the IDs and read nothing")
	// A flag has one completer, so the registration never fails.
	_ = c.RegisterFlagCompletionFunc("from", cobra.FixedCompletions(convert.Formats(), cobra.ShellCompDirectiveNoFileComp))
	return c
}

// check checks the flags and sets the format.
func (how *convertOptions) check() error {
	if how.from == "" {
		return cli.BadInput("convert needs --from with the format of the files: %s", strings.Join(convert.Formats(), ", "))
	}
	err := cli.CheckOneOf("from", how.from, convert.Formats())
	if err == nil {
		err = checkReconcile(&how.options.Adopt, &how.options.Policy)
	}
	if err != nil {
		return err
	}
	how.options.From = convert.Format(strings.ToLower(how.from))
	if how.printOnly && how.options.From != convert.IDs {
		return cli.BadInput("--print-ids is for --from ids; leave it out")
	}
	if s := how.options.Subscription; s != "" {
		if _, err := resource.ParseID("/subscriptions/" + s); err != nil || !convert.IsGUID(s) {
			return cli.BadInput("--subscription %q is not a GUID; write it like 11111111-2222-3333-4444-555555555555", s)
		}
	}
	return nil
}

// convert writes the manifests of files.
func (a *app) convert(how convertOptions, paths []string) error {
	result, err := convert.Convert(how.options, paths...)
	if err != nil {
		return conversionError(err)
	}
	for _, note := range result.Notes {
		a.note("%s", note)
	}
	if how.output == "-" {
		a.printf("%s", result.Stream())
	} else if err := a.writeFiles(how.output, result.Files); err != nil {
		return err
	}
	if len(result.Secrets) > 0 {
		a.note("%s: set the variable on the workers, or name another source of the secret in the manifest:", cli.CountOf(len(result.Secrets), "secret is a placeholder", "secrets are placeholders"))
		for _, secret := range result.Secrets {
			a.note("  %s  %s of %s", secret.Variable, cli.OneLine(secret.Path), secret.Resource)
		}
	}
	a.release(result.Release)
	return nil
}

// conversionError returns the error for files with faults.
func conversionError(err error) error {
	issues, ok := errors.AsType[manifest.Issues](err)
	if !ok {
		return cli.Failed("%w", err)
	}
	lines := project.IssueLines(issues, "fix these first")
	return cli.BadInput("cannot convert, nothing was written (%s):\n  %s", cli.Count(len(issues), "issue"), strings.Join(lines, "\n  "))
}

// writeFiles writes the files into a folder.
func (a *app) writeFiles(folder string, files []convert.File) error {
	for _, file := range files {
		path := filepath.Join(folder, file.Name)
		if err := convert.WriteNew(folder, path, file.Text); err != nil {
			return err
		}
		a.printf("%s  %s\n", path, cli.Count(file.Count, "manifest"))
	}
	return nil
}

// release prints how the old tool lets go.
func (a *app) release(lines []string) {
	if len(lines) == 0 {
		return
	}
	a.note("After the first apply, let the old tool go; until then both keep the resources:")
	for _, line := range lines {
		a.note("  %s", line)
	}
}

// convertIDs has a worker read the resources of IDs.
func (a *app) convertIDs(ctx context.Context, how convertOptions, paths []string) error {
	found, err := convert.FindIDs(how.options, paths...)
	if err != nil {
		return conversionError(err)
	}
	for _, note := range found.Notes {
		a.note("%s", note)
	}
	if how.printOnly {
		for _, id := range found.IDs {
			a.printf("%s\n", id)
		}
		return nil
	}
	o := how.options
	err = a.importIDs(ctx, found.IDs, how.output, importer.Reconcile{Credential: o.Credential, Adopt: o.Adopt, Policy: o.Policy})
	if err == nil {
		a.release(found.Release)
	}
	return err
}
