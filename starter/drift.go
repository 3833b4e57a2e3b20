package starter

import (
	"context"
	"errors"

	"github.com/armature-io/armature/activities"
	"github.com/armature-io/armature/manifest"
	"github.com/armature-io/armature/starter/internal/backend"
	"github.com/armature-io/armature/starter/internal/cli"
	"github.com/armature-io/armature/starter/internal/plan"
	"github.com/armature-io/armature/starter/internal/report"
	"github.com/armature-io/armature/types"
	"github.com/armature-io/armature/workflows"
	"github.com/spf13/cobra"
)

func (a *app) driftCommand() *cobra.Command {
	var (
		targets backend.Selection
		set     manifest.Set
		output  cli.Format
		foreign bool
	)
	c := &cobra.Command{
		Use:   "drift [NAME|ID... | -l SELECTOR | -f PATH...]",
		Short: "Show where Azure differs from the recorded specs",
		Long: `drift asks a worker to read managed resources, all of them without a name or
selector, and to compare each with the spec that Temporal records: what a pass would
create or update, path by path. It needs no manifests, sends no PUT and no DELETE, and
does not touch running workflows. After a restore of Temporal's database it shows what
the restored specs would change, while writes are frozen.

table omits resources that are in sync; wide lists them too. json, yaml, markdown and html
are those of plan. junit is XML for test reports: each resource is a test case, which fails
if it differs. sarif is SARIF 2.1.0 for code scanning, with a result for each difference.
With -f both name the file and the line of the manifest.

--foreign also lists values that no manifest contains and that changed since the last PUT
of Armature: an added identity, an opened firewall, a local user. Lists, items of lists and
identities that are gone are "removed". None of this is corrected.

` + driftExitHelp,
		Example: "  armature drift\n  armature drift -l stack=prod -o wide\n  armature drift adx/telemetry -o json\n  armature drift -f stack -o junit > drift.xml",
		RunE: func(c *cobra.Command, _ []string) error {
			return withPlanExitCode(a.drift(c.Context(), targets, set, output, foreign))
		},
	}
	c.SetFlagErrorFunc(func(c *cobra.Command, err error) error { return cli.Failed("%s", cli.FlagErrorText(c, err)) })
	a.addTargetsIn(c, &targets, "every managed resource, as without a name", &set)
	choose := c.PreRunE
	c.PreRunE = func(c *cobra.Command, args []string) error { return withPlanExitCode(choose(c, args)) }
	cli.AddFormats(c, &output, append(plan.Formats(), string(report.JUnit), string(report.SARIF)))
	c.Flags().BoolVar(&foreign, "foreign", false, "also list values that no manifest contains; finding one is a difference")
	return c
}

const driftExitHelp = `Exit codes of drift:
  0  no differences
  2  differences, or a resource that is blocked
  1  an error: bad flags, Temporal or Azure unreachable, a refused read`

func (a *app) drift(ctx context.Context, targets backend.Selection, set manifest.Set, output cli.Format, foreign bool) error {
	b, err := a.connection(ctx)
	if err != nil {
		return err
	}
	records, err := backend.Targets(ctx, b, targets)
	switch {
	case err != nil:
		return err
	case len(records) == 0:
		return targets.NoMatch()
	}
	p, err := plan.Drift(ctx, b, records, backend.NewRunID(workflows.PlanIDPrefix))
	switch {
	case errors.Is(err, backend.ErrInterrupted):
		return cli.Failed("interrupted; drift changes nothing")
	case err != nil:
		return err
	}
	shown := a.showDrift(p, set, output, foreign)
	if foreign && p.ShowForeign(a.out, output) && shown == nil {
		return errChanges
	}
	return shown
}

// showDrift prints a comparison and returns the error with its exit code.
func (a *app) showDrift(p plan.Plan, set manifest.Set, output cli.Format, foreign bool) error {
	format := report.Format(output)
	if format != report.JUnit && format != report.SARIF {
		return a.showPlan(p, output, "compared")
	}
	r := report.Resources{Version: a.options.version()}
	for _, row := range p.Resources {
		r.Compared = append(r.Compared, compared(row, set, foreign))
	}
	if err := r.Write(a.out, format); err != nil {
		return err
	}
	return planError(p, "compared")
}

// compared returns a row of a comparison with the places of its differences in the manifests.
func compared(row plan.Row, set manifest.Set, foreign bool) report.Compared {
	c := report.Compared{ID: row.ID, File: set.Sources[row.ID.Key()].File}
	add := func(rule types.Rule, path, message string) {
		issue := set.IssueOf(row.ID, path, message)
		issue.Rule, issue.Severity = rule, manifest.SeverityWarning
		if rule == report.NotCompared {
			issue.Severity = manifest.SeverityFault
		}
		c.Issues = append(c.Issues, issue)
	}
	for _, cause := range row.Causes() {
		switch {
		case row.Action == activities.PlanError:
			add(report.NotCompared, cause.Path, cause.Text)
		case cause.Path == "" && len(row.Differences) == 0:
			add(report.NotInSync, cause.Path, cause.Text)
		default:
			add(report.Drift, cause.Path, cause.Text)
		}
	}
	if foreign {
		for _, value := range row.Foreign {
			add(report.Foreign, "", value)
		}
	}
	return c
}
