package starter

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/armature-io/armature/activities"
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
	// whole is set if the manifests are whole folders.
	whole bool
	// deletes plans a deletion of the selected resources, which the user consents to.
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
labels of -l, that have no manifest; with --prune the plan shows their deletion.

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

Settings that an apply changes in a managed resource are shown too: policy, interval,
labels, ignored paths, api-version and the others of the manifest. Where nothing else
changes, the action is configure: an apply then writes nothing to Azure by itself.

table omits resources that are in sync; wide lists them too, and the bodies of resources
to create. json and yaml are {resources, summary}: of each resource id, name, action
(create, update, configure, none, delete, blocked or error), message, warnings,
settings, differences and what the PUT removes; of the summary the number of resources
for each action. markdown is for a comment on a pull request: it is shorter than 65,000
characters, and counts what it leaves out.

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
				case how.consent != plan.Consent{}:
					return cli.BadInput("--cascade, --with-data and --end-scope allow a deletion; add --delete")
				case len(args) > 0:
					return cli.BadInput("plan takes no arguments without --delete, found %q; pass manifests with -f PATH; see `%s --help`", args[0], c.CommandPath())
				case len(from.Files) == 0:
					return cli.BadInput("plan needs -f PATH (a file, a folder, or - for stdin)")
				}
				if err := how.prune.CheckChoice(false, from.HasTarget()); err != nil {
					return err
				}
				set, err := from.LoadValid(c.Context(), a.loader())
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
		return a.planDeletions(c.Context(), s, nil, how)
	}
	set, err := from.Load(c.Context(), a.loader())
	if err != nil {
		return err
	}
	return a.planDeletions(c.Context(), s, set.Resources, how)
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
	p, err := makePlan(ctx, b, set, how.prune, how.depth)
	if err != nil {
		return err
	}
	if how.whole {
		orphans, of, err := how.prune.Orphans(ctx, b, set)
		if err != nil {
			return err
		}
		p.SetOrphans(orphans, of)
	}
	if how.file != "" && p.Errors() == 0 {
		if err := p.Write(how.file, set, a.by, a.now()); err != nil {
			return err
		}
		a.note("the plan is in %s; `armature apply --plan-file %s` applies it unless resources change first", how.file, how.file)
	}
	err = a.showPlan(p, how.output, "planned")
	if how.file != "" && p.Errors() > 0 {
		a.note("%s was not written: a plan with errors cannot be applied", how.file)
	}
	return err
}

// showPlan prints a plan and returns the error with its exit code.
func (a *app) showPlan(p plan.Plan, output cli.Format, verb string) error {
	if err := p.Show(a.out, output, a.painter().Ink); err != nil {
		return err
	}
	switch {
	case p.Errors() > 0:
		return cli.Failed("%s could not be %s, see above", cli.Count(p.Errors(), "resource"), verb)
	case p.HasChanges():
		return errChanges
	}
	return nil
}

// makePlan plans the manifests to a depth, and what a prune would delete.
func makePlan(ctx context.Context, b *connection, set manifest.Set, pruning project.Prune, depth activities.PlanDepth) (plan.Plan, error) {
	stale, _, err := pruning.Stale(ctx, b, set)
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
	p := plan.New(set.Resources, results, stale)
	p.NameDeletions(ctx, b)
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
	b, err := a.connection(ctx)
	if err != nil {
		return err
	}
	changed, err := a.countStale(ctx, b, file)
	if err != nil {
		return err
	}
	stale, staleLines, err := checkDeletions(ctx, b, file.Deletions)
	if err != nil {
		return err
	}
	for _, line := range staleLines {
		a.note("%s", line)
	}
	if n := changed + len(staleLines); n > 0 {
		return cli.Failed("plan of %s by %s is stale: %s changed since it was made (see above); nothing was started, plan again",
			file.Created.Format(time.RFC3339), cli.OneLine(file.By), cli.Count(n, "resource"))
	}
	var resources []resource.Desired
	for _, spec := range file.Resources {
		if spec.Action == activities.PlanBlocked {
			a.note("%s  skipped: it was blocked in the plan", cli.KindAndName(spec.Desired.ID))
			how.skipped = append(how.skipped, spec.Desired)
			continue
		}
		resources = append(resources, spec.Desired)
	}
	return a.start(ctx, b, resources, stale, how)
}

// countStale plans once more, prints what differs from the file, and counts it.
func (a *app) countStale(ctx context.Context, b *connection, file plan.File) (int, error) {
	now, err := makePlan(ctx, b, file.Set(), project.Prune{}, activities.PlanCompare)
	if err != nil {
		return 0, err
	}
	n := 0
	for i, spec := range file.Resources {
		if !spec.IsStale(now.Resources[i]) {
			continue
		}
		if n++; n == 1 {
			a.note("changed since the plan:")
		}
		a.note("%s  was planned to be %s", cli.KindAndName(spec.Desired.ID), spec.PlannedAction())
		a.printf("%s", now.Resources[i].Text(a.painter().Ink))
	}
	return n, nil
}

// checkDeletions returns the records of what is to be deleted, and a line for each that
// changed since the plan.
func checkDeletions(ctx context.Context, b *connection, deletions []plan.Deletion) (stale []backend.Record, lines []string, err error) {
	for _, deletion := range deletions {
		if deletion.Action != activities.PlanDelete {
			continue
		}
		r, err := b.Record(ctx, deletion.ID.WorkflowID())
		if err != nil && !errors.Is(err, backend.ErrNotManaged) {
			return nil, nil, backend.WithName(cli.KindAndName(deletion.ID), err)
		}
		if line := deletion.Staleness(r, err); line != "" {
			lines = append(lines, line)
		} else {
			stale = append(stale, r)
		}
	}
	return stale, lines, nil
}
