package starter

import (
	"cmp"
	"context"

	"github.com/armature-io/armature/activities"
	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/starter/internal/backend"
	"github.com/armature-io/armature/starter/internal/cli"
	"github.com/armature-io/armature/starter/internal/importer"
	"github.com/spf13/cobra"
)

// importOptions are the flags of an import.
type importOptions struct {
	apiVersion, query string
	children          bool
	reconcile         importer.Reconcile
	output, report    string
	overwrite         bool
	defaults          bool
}

func (a *app) importCommand() *cobra.Command {
	var (
		how     importOptions
		targets backend.Selection
	)
	c := &cobra.Command{
		Use:   "import ID[@API-VERSION]... | NAME... | -l SELECTOR | -f PATH... | --query KQL [SCOPE...]",
		Short: "Write manifests of existing Azure resources",
		Long: `import has a worker read resources and writes a manifest of each: every property
that can be set, without read-only properties and without secrets, which a comment
names. It changes nothing in Azure, and a plan of the result is in sync. Without an
api-version it uses the newest stable one that the subscription offers. Names, -l
and --all choose managed resources; these are read with the api-version of their
manifest.

A subscription, or --children, imports everything in it: child resources of all
published types at all levels, locks, role assignments, policies and diagnostic
settings. The last lines on stderr account for everything that Azure lists: what was
imported, what was skipped and why, and what could not be listed or read.

A second import into the same folder keeps the files: it adds what is new, and names
what differs. docs/adopt.md describes it.

` + cli.ExitHelp,
		Example: "  armature import /subscriptions/11111111-2222-3333-4444-555555555555 --adopt as-is --policy observe -o stack\n" +
			"  armature import /subscriptions/11111111-2222-3333-4444-555555555555/resourceGroups/rg1 --children -o stack\n" +
			"  armature import --query \"resources | where tags.team == 'shop'\" --children -o stack\n" +
			"  armature import -l stack=prod -o copy",
		RunE: func(c *cobra.Command, args []string) error {
			inputs, err := how.inputs(&targets, args, c.Flags().Changed("query"))
			if err != nil {
				return err
			}
			return a.importResources(c.Context(), inputs, targets, how)
		},
	}
	a.addTargets(c, &targets, "every managed resource")
	flags := c.Flags()
	flags.StringVar(&how.apiVersion, "api-version", "", "api-version of IDs without one, and of what is in them where the types do not name one")
	flags.BoolVar(&how.children, "children", false, "also import everything in them, at all levels")
	flags.StringVar(&how.query, "query", "", "import what a query of Azure Resource Graph finds; the IDs are then its scope: subscriptions or management groups")
	addReconcile(c, &how.reconcile.Adopt, &how.reconcile.Policy, "")
	flags.StringVar(&how.reconcile.Credential, "credential", "", "credential of the worker's config to read with, also for the manifests")
	flags.StringVarP(&how.output, "output", "o", "-", "folder for one file each, or - for standard output")
	flags.BoolVar(&how.overwrite, "overwrite", false, "replace files in the folder whose resource differs in Azure")
	flags.BoolVar(&how.defaults, "with-defaults", false, "also write values that are defaults of the services")
	flags.StringVar(&how.report, "report", "", "new file for what became of each resource, as JSON")
	return c
}

// inputs returns the inputs for IDs and for the query; what else is named stays in targets.
func (how *importOptions) inputs(targets *backend.Selection, args []string, isQuery bool) ([]activities.ImportResourceInput, error) {
	if targets.IsEmpty() && !isQuery {
		return nil, cli.BadInput("name what to import: a resource ID or a subscription, for managed resources a name, -l key=value or --all, or a --query")
	}
	err := targets.Check()
	if err == nil {
		err = checkReconcile(&how.reconcile.Adopt, &how.reconcile.Policy)
	}
	if err != nil {
		return nil, err
	}
	inputs, names, err := importer.ParseArgs(args, how.apiVersion, how.children)
	if len(args) > 0 {
		targets.Names = names // the rest are IDs
	}
	if err != nil || !isQuery {
		return inputs, err
	}
	if !targets.IsEmpty() {
		return nil, cli.BadInput("--query cannot be combined with managed resources; leave names, -l and --all out")
	}
	return importer.Query(how.query, inputs)
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
			inputs = append(inputs, activities.ImportResourceInput{ID: r.ID, APIVersion: cmp.Or(how.apiVersion, r.APIVersion), Contents: importer.Contents(r.ID, how.children)})
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
	reads := importer.Reads{From: b, Credential: how.reconcile.Credential, APIVersion: how.apiVersion, Defaults: how.defaults, Progress: a.note, Named: backend.WithName}
	found, err := reads.All(ctx, append(inputs, managed...), how.children || how.query == "" && importer.IsDeep(inputs))
	if err != nil {
		return err
	}
	if found.Defaults > 0 {
		a.note("%s left out; --with-defaults writes them", cli.CountOf(found.Defaults, "default value of the services is", "default values of the services are"))
	}
	if found.Owned > 0 {
		a.note("%s left out, and comments in the manifests name them", cli.CountOf(found.Owned, "value of another owner is", "values of other owners are"))
	}
	if found.Unread > 0 {
		a.note("%s not read for lack of a right, and comments in the manifests name them", cli.CountOf(found.Unread, "part of a resource was", "parts of resources were"))
	}
	manifests, unlinked := importer.Manifests(found.Found, how.reconcile)
	if unlinked != nil {
		a.note("the manifests have IDs in place of names: %s", cli.OneLine(unlinked.Error()))
	}
	folder := importer.Folder{Path: how.output, Overwrite: how.overwrite, Note: a.note}
	written, err := folder.WriteOrPrint(manifests, func(text string) { a.printf("%s", text) }, func(name, path string) { a.printf("%s  %s\n", name, path) })
	if err != nil {
		return err
	}
	return importer.Conclude(append(found.Outcomes, written...), how.report, a.note)
}

// importIDs imports the resources that a conversion has found.
func (a *app) importIDs(ctx context.Context, ids []resource.ID, output string, how importer.Reconcile) error {
	var inputs []activities.ImportResourceInput
	for _, id := range ids {
		inputs = append(inputs, activities.ImportResourceInput{ID: id})
	}
	return a.importResources(ctx, inputs, backend.Selection{}, importOptions{output: output, reconcile: how})
}
