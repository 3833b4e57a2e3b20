package starter

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/armature-io/armature/activities"
	"github.com/armature-io/armature/internal/regular"
	"github.com/armature-io/armature/manifest"
	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/starter/internal/backend"
	"github.com/armature-io/armature/starter/internal/cli"
	"github.com/armature-io/armature/starter/internal/plan"
	"github.com/armature-io/armature/starter/internal/project"
	"github.com/armature-io/armature/workflows"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// exitChanges is plan's exit code for "there are changes". The code of its errors is
// always cli.ExitFailed, so that no script confuses the two.
const exitChanges = 2

const planExitHelp = `Exit codes of plan:
  0  no changes
  2  changes, or a resource that is blocked
  1  an error: bad flags or manifests, Temporal or Azure unreachable, a refused read
  130, 143, 141  ended by SIGINT (Ctrl-C), by SIGTERM, or by the end of the output's reader`

// maxParallelDryRuns bounds concurrent dry runs.
const maxParallelDryRuns = 16

// planOptions are the flags of a plan.
type planOptions struct {
	prune  project.Prune
	output cli.Format
	file   string
	// page is the file of the plan as HTML.
	page string
	// whole is set if the manifests are whole folders.
	whole bool
	// deletes plans a deletion of the selected resources. consent is what the user allows in
	// it, or in a prune.
	deletes bool
	consent plan.Consent
	depth   activities.PlanDepth
}

func (a *app) planCommand() *cobra.Command {
	var (
		from      project.Flags
		how       planOptions
		preflight bool
	)
	c := &cobra.Command{
		Use:        "plan -f PATH... | --delete NAME|ID...|-l SELECTOR|-f PATH",
		SuggestFor: []string{"diff", "preview"},
		Short:      "Show what apply or delete would change",
		Long: `plan asks a worker what a pass would do with each manifest: create, update (each
path with its old and new value, and what the PUT removes), nothing, or wait for
other resources. It sends no PUT and no DELETE, and does not touch running
workflows. With --prune -l SELECTOR it also lists what apply --prune would delete, with
resource IDs. With --target NAME it plans a part of the manifests, as apply does.
With --out FILE it writes the plan for apply --plan-file: the manifests, without any
secret. Like apply it first checks the manifests against the published resource
types; ` + "`armature validate`" + ` does that alone. Of what a pass would create, the
worker also checks location and api-version with the list of the provider: a
location that the subscription does not offer is an error, an api-version that is
not listed a warning.

For a whole folder, one line names the managed resources of the environment, or with the
labels of -l, that have no manifest; with --prune the plan shows their deletion, and
refuses what apply --prune refuses; with --keep-going it plans the rest.

With --preflight the worker also asks ARM, and ARM the provider, whether they would accept
each PUT: values, names that are taken, policies, quotas. It sends the complete body and
writes nothing. What ARM objects to is an error, with the property and the line of the
manifest. "ARM found nothing" is no proof: ARM checks more when a PUT arrives. The last line
counts the resources that ARM was asked about, that it was not asked about (each says why:
for example a value that is not known before another resource exists), and those of a type
that ARM does not support.

With --delete it shows what ` + "`armature delete`" + ` would do with the same resources and flags:
what is deleted, falls with others, is kept or refused and why, which data is lost and how
Azure restores it, and which managed resources elsewhere need them. --out FILE writes
that plan for delete --plan-file.

A change that Azure refuses to an existing resource is replace (-/+): an apply sends it and
is refused. The plan names the losses, the order and why Armature would not replace it;
` + "`armature reconcile --recreate`" + ` replaces it.

Settings that an apply changes in a managed resource are shown too: policy, interval,
labels, ignored paths, api-version and the others of the manifest. Where nothing else
changes, the action is configure: an apply then writes nothing to Azure by itself.

table omits resources that are in sync; wide lists them too, and the bodies of resources
to create. json and yaml are {verdict, summary, findings, resources, digest}: the verdict is
no changes, changes, refused, failed or no plan; a finding of the manifests has file, line,
severity, rule, path and message; a resource has id, name, action (create, update, replace,
configure, none, blocked, error; delete, falls, kept, refused, absent), message, warnings,
settings, differences and what the PUT removes, or loss, refusals and facts of its
deletion. markdown is for a comment on a pull request: it is shorter than 65,000 characters,
and counts what it leaves out. html is one page without script; --page FILE writes it
beside another output. All but table and wide also report manifests with faults, for which
there is no plan. The digest is that of the plan file.

` + planExitHelp,
		Example: "  armature plan -f examples\n  armature plan -f stack --prune -l stack=prod -o json\n  armature plan -f stack --out stack.plan\n  armature plan --delete -l stack=old -o markdown",
		RunE: func(c *cobra.Command, args []string) error {
			return withPlanExitCode(func() error {
				switch {
				case how.deletes && preflight:
					return cli.BadInput("--preflight asks about PUTs, and --delete plans none; omit one")
				case how.deletes:
					return a.planDelete(c, args, from, how)
				case preflight:
					how.depth = activities.PlanPreflight
				}
				switch {
				case how.consent != plan.Consent{KeepGoing: how.consent.KeepGoing && how.prune.On}:
					return cli.BadInput("--cascade, --with-data, --end-scope and --keep-going allow a deletion; add --delete")
				case len(args) > 0:
					return cli.BadInput("plan takes no arguments without --delete, found %q; pass manifests with -f PATH; see `%s --help`", args[0], c.CommandPath())
				case len(from.Files) == 0:
					return cli.BadInput("plan needs -f PATH (a file, a folder, or - for stdin)")
				}
				if err := how.prune.CheckChoice(false, from.HasTarget()); err != nil {
					return err
				}
				set, err := from.LoadValid(c.Context(), a.loader())
				if issues, invalid := errors.AsType[manifest.Issues](err); invalid {
					return cmp.Or(a.showNoPlan(issues, how), err)
				}
				if err != nil {
					return err
				}
				how.whole = from.AreWhole()
				return a.plan(c.Context(), set, how)
			}())
		},
	}
	c.SetFlagErrorFunc(func(c *cobra.Command, err error) error { return cli.Failed("%s", cli.FlagErrorText(c, err)) })
	from.Add(c)
	from.AddTarget(c)
	from.AddValidation(c)
	how.prune.AddChoice(c.Flags(), "also show what apply --prune would delete (needs -l)")
	a.completeFlag(c, "selector", a.completeLabels)
	cli.AddFormats(c, &how.output, plan.Formats())
	c.Flags().BoolVar(&how.deletes, "delete", false, "plan the deletion of NAME..., -l or -f")
	addConsent(c.Flags(), &how.consent)
	c.Flags().BoolVar(&preflight, "preflight", false, "also ask ARM whether it would accept each PUT, without sending one")
	c.Flags().StringVar(&how.page, "page", "", "also write the plan as one HTML page to a `file`")
	c.Flags().StringVar(&how.file, "out", "", "write the plan to a `file`, for apply --plan-file or delete --plan-file")
	return c
}

// planDelete plans the deletion of the resources that the arguments and flags choose.
func (a *app) planDelete(c *cobra.Command, args []string, from project.Flags, how planOptions) error {
	s := backend.Selection{Names: args, Selector: how.prune.Selector}
	switch {
	case how.prune.On || len(how.prune.In) > 0:
		return cli.BadInput("--delete and --prune cannot be combined; --prune shows what an apply deletes")
	case len(from.Files) > 0 && !s.IsEmpty():
		return errFilesAndTargets()
	case len(from.Files) == 0:
		if err := cmp.Or(from.Check(), checkTargets(s)); err != nil {
			return err
		}
		return a.planDeletions(c.Context(), s, manifest.Set{}, how)
	}
	set, err := from.Load(c.Context(), a.loader())
	if err != nil {
		return err
	}
	return a.planDeletions(c.Context(), s, set, how)
}

// errChanges ends a plan with changes. It prints nothing.
var errChanges = &cli.ExitError{Code: exitChanges, Err: errors.New("")}

// withPlanExitCode gives every error of plan the same exit code.
func withPlanExitCode(err error) error {
	if err == nil || errors.Is(err, errChanges) {
		return err
	}
	return &cli.ExitError{Code: cli.ExitFailed, Err: err}
}

func (a *app) plan(ctx context.Context, set manifest.Set, how planOptions) error {
	if err := how.prune.CheckLabels(set); err != nil {
		return err
	}
	b, err := a.connection(ctx)
	if err != nil {
		return err
	}
	stale, _, err := how.prune.Stale(ctx, b, set)
	if err != nil {
		return err
	}
	p, err := makePlan(ctx, b, set, deletion{records: stale, consent: how.consent}, how.depth)
	if err != nil {
		return err
	}
	p.Findings = set.Warnings
	if how.whole {
		orphans, of, err := how.prune.Orphans(ctx, b, set)
		if err != nil {
			return err
		}
		p.SetOrphans(orphans, of)
	}
	return a.savePlan(p, how, "apply")
}

// showNoPlan writes the document of manifests with faults. The error lists them for people.
func (a *app) showNoPlan(issues manifest.Issues, how planOptions) error {
	p := plan.None(issues)
	if err := savePage(p, how.page); err != nil || how.output.IsText() {
		return err
	}
	return p.Show(a.out, how.output, a.painter().Ink) //nolint:wrapcheck // the writer of the command knows its errors
}

// savePage writes a plan as HTML to a file, if it has a name.
func savePage(p plan.Plan, path string) error {
	if path == "" {
		return nil
	}
	page, err := p.HTML()
	if err == nil {
		err = regular.Create(path, []byte(page))
	}
	if err != nil {
		return cli.Failed("write the page: %w; name a file that is new, or a page to replace", err)
	}
	return nil
}

// savePlan writes a plan to the files of --out, for a command, and --page, and prints it.
func (a *app) savePlan(p plan.Plan, how planOptions, command string) error {
	if err := savePage(p, how.page); err != nil {
		return err
	}
	if how.file == "" {
		return a.showPlan(p, how.output, "planned")
	}
	if why := p.CannotWrite(); why != "" {
		err := a.showPlan(p, how.output, "planned")
		a.note("%s was not written: %s", how.file, why)
		return err
	}
	digest, err := p.Write(how.file, a.by, a.now())
	if err != nil {
		return err
	}
	a.note("the plan is in %s (%s); `armature %s --plan-file %s` does exactly that unless something changes first", how.file, digest, command, how.file)
	return a.showPlan(p, how.output, "planned")
}

// showPlan prints a plan and returns the error with its exit code.
func (a *app) showPlan(p plan.Plan, output cli.Format, verb string) error {
	if err := p.Show(a.out, output, a.painter().Ink); err != nil {
		return err
	}
	if output.IsText() {
		a.linkPage("", p.IDs()...)
	}
	return planError(p, verb)
}

// planError returns the error with the exit code of a plan, nil if it has no changes.
func planError(p plan.Plan, verb string) error {
	switch p.Verdict() {
	case plan.VerdictFailed:
		return cli.Failed("%s could not be %s, see above", cli.Count(p.Errors(), "resource"), verb)
	case plan.VerdictRefused:
		return cli.Failed("%s refused, see above", cli.CountAre(p.Summary[plan.ActionRefused], "resource"))
	case plan.VerdictChanges:
		return errChanges
	}
	return nil
}

// makePlan plans the manifests to a depth, and the deletions of a prune.
func makePlan(ctx context.Context, b *connection, set manifest.Set, pruned deletion, depth activities.PlanDepth) (plan.Plan, error) {
	pruned.applied = specsOf(set.Resources)
	deletables, err := pruned.ask(ctx, b)
	if err != nil {
		return plan.Plan{}, err
	}
	results := make([]activities.PlanResourceResult, len(set.Resources))
	run := backend.NewRunID(workflows.PlanIDPrefix)
	err = backend.ForEach(ctx, len(results), maxParallelDryRuns, func(ctx context.Context, i int) error {
		desired := set.Resources[i]
		var err error
		results[i], err = b.Plan(ctx, fmt.Sprintf("%s:%d", run, i+1), activities.PlanResourceInput{
			Desired: desired, Together: plan.DependenciesIn(desired, set), Depth: depth,
		})
		return backend.WithName(cli.KindAndName(desired.ID), err)
	})
	switch {
	case errors.Is(err, backend.ErrInterrupted):
		return plan.Plan{}, cli.Failed("interrupted; a plan changes nothing")
	case err != nil:
		return plan.Plan{}, err
	}
	p := plan.New(set.Resources, results, deletables, pruned.consent)
	p.WarnOfOtherPlaces(ctx, b)
	if depth == activities.PlanPreflight {
		p.SetPreflight(set)
	}
	return p, nil
}

// planFileFlags are the flags of apply that can be combined with --plan-file.
var planFileFlags = map[string]bool{"plan-file": true, "wait": true, "timeout": true, "task-queue": true, "worker-timeout": true, "yes": true, "output": true}

// checkOtherFlags returns an error for a flag that --plan-file does not allow.
func checkOtherFlags(flags *pflag.FlagSet, allowed map[string]bool) error {
	var other string
	flags.Visit(func(f *pflag.Flag) {
		if !allowed[f.Name] {
			other = f.Name
		}
	})
	if other != "" {
		return cli.BadInput("--plan-file cannot be combined with --%s; omit it", other)
	}
	return nil
}

// applyPlan applies exactly the plan of a file, or nothing.
func (a *app) applyPlan(ctx context.Context, flags *pflag.FlagSet, path string, how applyOptions) error {
	if err := checkOtherFlags(flags, planFileFlags); err != nil {
		return err
	}
	file, err := plan.ReadFile(path)
	if err != nil {
		return err
	}
	set := file.Set()
	if len(set.Resources) == 0 {
		return cli.BadInput("%s is the plan of a deletion; run `armature delete --plan-file %s`", path, path)
	}
	b, err := a.connection(ctx)
	if err != nil {
		return err
	}
	pruned, now, err := planAgain(ctx, b, file)
	if err != nil {
		return err
	}
	if err := a.checkStale(file, now, "nothing was started"); err != nil {
		return err
	}
	if now.Refused() {
		a.printf("%s", now.Text(false, a.painter().Ink))
	}
	var resources []resource.Desired
	for _, step := range file.Steps {
		switch {
		case step.Facts != nil:
		case step.Action == activities.PlanBlocked:
			a.note("%s  skipped: it was blocked in the plan", cli.KindAndName(step.Resource()))
			how.skipped = append(how.skipped, *step.Desired)
		default:
			resources = append(resources, *step.Desired)
		}
	}
	how.prune.KeepGoing, how.kept = file.Consent.KeepGoing, keptError(now)
	return a.start(ctx, b, resources, pruned.sent(now), how)
}

// checkStale returns an error if a new plan differs from that of a file, and prints the
// differences. unchanged says that nothing was done.
func (a *app) checkStale(file plan.File, now plan.Plan, unchanged string) error {
	changes := file.Changes(now)
	if len(changes) == 0 {
		a.note("the plan %s of %s by %s is still true", file.Digest, file.Created.Format(time.RFC3339), cli.OneLine(file.By))
		return nil
	}
	a.note("changed since the plan:")
	for _, change := range changes {
		for _, text := range change.Texts {
			a.note("%s  %s", cli.OneLine(cli.KindAndName(change.ID)), cli.OneLine(text))
		}
		if !change.Row.ID.IsZero() {
			a.printf("%s", change.Row.Text(a.painter().Ink))
		}
	}
	return cli.Failed("the plan %s of %s by %s is stale: %s changed since it was made (see above); %s, plan again",
		file.Digest, file.Created.Format(time.RFC3339), cli.OneLine(file.By), cli.Count(len(changes), "resource"), unchanged)
}
