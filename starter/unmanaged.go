package starter

import (
	"context"

	"github.com/armature-io/armature/activities"
	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/starter/internal/backend"
	"github.com/armature-io/armature/starter/internal/cli"
	"github.com/armature-io/armature/starter/internal/coverage"
	"github.com/armature-io/armature/starter/internal/importer"
	"github.com/spf13/cobra"
)

// unmanagedOptions are the flags of unmanaged.
type unmanagedOptions struct {
	output cli.Format
	ignore coverage.Ignore
	// fails is --exit-code.
	fails bool
	// folder is where the manifests are written, "" for none.
	folder    string
	overwrite bool
	reconcile importer.Reconcile
}

const unmanagedExitHelp = `Exit codes of unmanaged:
  0  the report is complete; with --exit-code also: nothing is unmanaged
  2  with --exit-code: something is unmanaged
  1  an error: bad flags, Temporal unreachable, a resource or list that could not be read
  130, 143, 141  ended by SIGINT (Ctrl-C), by SIGTERM, or by the end of the output's reader`

func (a *app) unmanagedCommand() *cobra.Command {
	var (
		how        unmanagedOptions
		ignoreFile string
	)
	c := &cobra.Command{
		Use:        "unmanaged SCOPE...",
		SuggestFor: []string{"coverage"},
		Short:      "List Azure resources that have no workflow",
		Long: `unmanaged has a worker walk through scopes as import does, and lists the resources that
exist and have no workflow of Armature, with the coverage in percent: the managed
resources among those that should be managed. A scope is the ID of a subscription, a
management group, a resource group or another resource. It changes nothing in Azure.

Left out are resources that need no manifest, as in an import, and children that come
and go with a managed parent: built-in children, settings, and items of its manifest.

The file ` + coverage.IgnoreFile + ` of the working directory, or --ignore FILE, has patterns of
resources that need no workflow, each on a line: an ID (/subscriptions/*/resourceGroups/tmp-*),
a type (Microsoft.Insights/*) or a name (tmp-*). They include everything below; ! takes
back, and the last pattern that matches decides. Ignored resources are counted apart. A
pattern that matches no unmanaged resource is named on stderr.

table lists unmanaged resources; wide lists ignored and skipped ones too, with IDs and
reasons. json and yaml are {scopes, summary, coverage, unmanaged, ignored, skipped,
notRead, notListed, unusedPatterns}. markdown is for a comment. docs/adopt.md
describes them.

--import DIR writes manifests of the unmanaged resources into a folder, as import does.

` + unmanagedExitHelp,
		Example: "  armature unmanaged /subscriptions/11111111-2222-3333-4444-555555555555\n" +
			"  armature unmanaged /subscriptions/11111111-2222-3333-4444-555555555555/resourceGroups/rg1 --exit-code -o markdown\n" +
			"  armature unmanaged /subscriptions/11111111-2222-3333-4444-555555555555 --import stack --adopt as-is --policy observe",
		RunE: func(c *cobra.Command, args []string) error {
			return withPlanExitCode(func() error {
				inputs, err := how.inputs(c, args)
				if err != nil {
					return err
				}
				if c.Flags().Changed("ignore") && ignoreFile == "" {
					return cli.BadInput("--ignore is empty; is a shell variable not set?")
				}
				if how.ignore, err = coverage.ReadIgnore(ignoreFile); err != nil {
					return err
				}
				return a.unmanaged(c.Context(), inputs, how)
			}())
		},
	}
	c.SetFlagErrorFunc(func(c *cobra.Command, err error) error { return cli.Failed("%s", cli.FlagErrorText(c, err)) })
	cli.AddFormats(c, &how.output, coverage.Formats())
	flags := c.Flags()
	flags.StringVar(&ignoreFile, "ignore", "", "`file` with patterns of resources that need no workflow (default "+coverage.IgnoreFile+", if it exists)")
	flags.BoolVar(&how.fails, "exit-code", false, "exit with 2 if something is unmanaged")
	flags.StringVar(&how.folder, "import", "", "write manifests of the unmanaged resources into a `folder`")
	flags.BoolVar(&how.overwrite, "overwrite", false, "with --import: replace files in the folder whose resource differs in Azure")
	addReconcile(c, &how.reconcile.Adopt, &how.reconcile.Policy, "")
	flags.StringVar(&how.reconcile.Credential, "credential", "", "credential of the worker's config to read with, also for the manifests")
	return c
}

// inputs returns the reads of the scopes, and checks the flags of --import.
func (how *unmanagedOptions) inputs(c *cobra.Command, args []string) ([]activities.ImportResourceInput, error) {
	if len(args) == 0 {
		return nil, cli.BadInput("name the scope: the ID of a subscription, a management group, a resource group or another resource; see `%s --help`", c.CommandPath())
	}
	if c.Flags().Changed("import") && (how.folder == "" || how.folder == "-") {
		return nil, cli.BadInput("--import needs a folder, found %q; `armature import` writes to standard output", how.folder)
	}
	for _, name := range []string{"adopt", "policy", "overwrite"} {
		if how.folder == "" && c.Flags().Changed(name) {
			return nil, cli.BadInput("--%s is about manifests, and none is written; add --import DIR", name)
		}
	}
	if err := checkReconcile(&how.reconcile.Adopt, &how.reconcile.Policy); err != nil {
		return nil, err
	}
	inputs, names, err := importer.ParseArgs(args, "", true)
	if err == nil && len(names) > 0 {
		err = cli.BadInput("%q is no scope; a scope is a resource ID and begins with a slash, for example /subscriptions/GUID/resourceGroups/NAME", names[0])
	}
	return inputs, err
}

func (a *app) unmanaged(ctx context.Context, inputs []activities.ImportResourceInput, how unmanagedOptions) error {
	b, err := a.connection(ctx)
	if err != nil {
		return err
	}
	records, err := backend.Running(ctx, b, "")
	if err != nil {
		return err
	}
	workflows := map[string]bool{}
	for _, r := range records {
		workflows[r.WorkflowID] = r.IsManaged()
	}
	reads := importer.Reads{From: b, Credential: how.reconcile.Credential, ByManifest: true, Progress: a.note, Named: backend.WithName}
	found, err := reads.All(ctx, inputs, true)
	if err != nil {
		return err
	}
	var scopes []resource.ID
	for _, in := range inputs {
		scopes = append(scopes, in.ID)
	}
	report := coverage.New(scopes, found, func(id resource.ID) bool { return workflows[id.WorkflowID()] }, how.ignore)
	if err := report.Show(a.out, how.output); err != nil {
		return err
	}
	for _, note := range report.Notes() {
		a.note("%s", note)
	}
	if err := a.importUnmanaged(report, how); err != nil {
		return err
	}
	switch {
	case report.Summary.NotRead > 0:
		return cli.Failed("%s could not be read, see above; the coverage may be lower", cli.Count(report.Summary.NotRead, "resource or list"))
	case how.fails && report.Summary.Unmanaged > 0:
		return errChanges
	}
	return nil
}

// importUnmanaged writes manifests of the unmanaged resources into the folder of --import. The
// names of the files are on stderr if the output is a document.
func (a *app) importUnmanaged(report coverage.Report, how unmanagedOptions) error {
	if how.folder == "" || report.Summary.Unmanaged == 0 {
		return nil
	}
	manifests, unlinked := importer.Manifests(report.Found(), how.reconcile)
	if unlinked != nil {
		a.note("the manifests have IDs in place of names: %s", cli.OneLine(unlinked.Error()))
	}
	say := a.note
	if how.output.IsText() {
		say = func(format string, args ...any) { a.printf(format+"\n", args...) }
	}
	folder := importer.Folder{Path: how.folder, Overwrite: how.overwrite, Note: a.note}
	written, err := folder.WriteOrPrint(manifests, func(string) {}, func(name, path string) { say("%s  %s", name, path) })
	if err != nil {
		return err
	}
	return importer.Conclude(written, "", a.note)
}
