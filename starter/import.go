package main

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/armature-io/armature/activities"
	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/starter/internal/backend"
	"github.com/armature-io/armature/starter/internal/batch"
	"github.com/armature-io/armature/starter/internal/cli"
	"github.com/armature-io/armature/starter/internal/importer"
	"github.com/spf13/cobra"
)

// importOptions are the flags of an import.
type importOptions struct {
	apiVersion string
	children   bool
	reconcile  importer.Reconcile
	output     string
}

func (a *app) importCommand() *cobra.Command {
	var (
		how     importOptions
		targets backend.Selection
	)
	c := &cobra.Command{
		Use:   "import ID[@API-VERSION]... | NAME... | -l SELECTOR",
		Short: "Write manifests of existing Azure resources",
		Long: `import has a worker read resources and writes a manifest of each: every property
that can be set, without read-only properties and without secrets, which a comment
names. It changes nothing, and a plan of the result is in sync. Without an
api-version it uses the newest stable one that the subscription offers. Names, -l
and --all choose managed resources; these are read with the api-version of their
manifest.

` + cli.ExitHelp,
		Example: "  armature import /subscriptions/11111111-2222-3333-4444-555555555555/resourceGroups/rg1 --children -o stack\n" +
			"  armature import -l stack=prod -o copy",
		RunE: func(c *cobra.Command, args []string) error {
			targets.Names = args
			if targets.IsEmpty() {
				return cli.BadInput("name what to import: a resource ID, or for managed resources a name, -l key=value or --all")
			}
			if err := targets.Check(); err != nil {
				return err
			}
			inputs, names, err := importer.ParseArgs(args, how.apiVersion, how.children)
			if err != nil {
				return err
			}
			targets.Names = names
			return a.importResources(c.Context(), inputs, targets, how)
		},
	}
	a.addSelection(c, &targets, "every managed resource")
	c.Flags().StringVar(&how.apiVersion, "api-version", "", "api-version of IDs without one, and of their children")
	c.Flags().BoolVar(&how.children, "children", false, "also import the resources in them that Azure lists (one level, not every type)")
	c.Flags().StringVar(&how.reconcile.Credential, "credential", "", "credential of the worker's config to read with, also for the manifests")
	c.Flags().StringVarP(&how.output, "output", "o", "-", "folder for one file each, or - for standard output")
	return c
}

// managedInputs returns the inputs for managed resources.
func (how importOptions) managedInputs(ctx context.Context, b *connection, targets backend.Selection) ([]activities.ImportResourceInput, error) {
	if targets.IsEmpty() {
		return nil, nil
	}
	records, err := backend.Targets(ctx, b, targets)
	if err != nil {
		if cli.ExitCode(err) == cli.ExitFailed && len(targets.Names) > 0 {
			err = cli.Failed("%w; use the resource ID to import a resource that is not managed", err)
		}
		return nil, err
	}
	if len(records) == 0 {
		return nil, targets.NoMatch()
	}
	var inputs []activities.ImportResourceInput
	for _, r := range records {
		if !r.ID.IsZero() {
			inputs = append(inputs, activities.ImportResourceInput{ID: r.ID, APIVersion: cmp.Or(how.apiVersion, r.APIVersion), Children: how.children})
		}
	}
	return inputs, nil
}

func (a *app) importResources(ctx context.Context, inputs []activities.ImportResourceInput, targets backend.Selection, how importOptions) error {
	b, err := a.connection(ctx)
	if err != nil {
		return err
	}
	managed, err := how.managedInputs(ctx, b, targets)
	if err != nil {
		return err
	}
	reads := importer.Reads{From: b, Credential: how.reconcile.Credential, APIVersion: how.apiVersion, Note: a.note, Named: batch.WithName}
	results, failures, err := reads.All(ctx, append(inputs, managed...))
	if err != nil {
		return err
	}
	slices.SortFunc(results, func(x, y activities.ImportResourceResult) int { return strings.Compare(x.ID.Key(), y.ID.Key()) })
	results, manifests, refused := importer.Manifests(results, how.reconcile)
	for _, err := range refused {
		failures++
		a.note("%v", err)
	}
	if how.output == "-" {
		a.printf("%s", strings.Join(manifests, "---\n"))
	} else if err := importer.WriteFiles(how.output, results, manifests, func(name, path string) { a.printf("%s  %s\n", name, path) }); err != nil {
		return err
	}
	if failures > 0 {
		return cli.Failed("%s could not be imported, see above", cli.Count(failures, "resource"))
	}
	return nil
}

// importIDs imports the resources that a conversion has found.
func (a *app) importIDs(ctx context.Context, ids []resource.ID, output string, how importer.Reconcile) error {
	var inputs []activities.ImportResourceInput
	for _, id := range ids {
		inputs = append(inputs, activities.ImportResourceInput{ID: id})
	}
	return a.importResources(ctx, inputs, backend.Selection{}, importOptions{output: output, reconcile: how})
}
