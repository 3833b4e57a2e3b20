package starter

import (
	"context"
	"errors"

	"github.com/armature-io/armature/starter/internal/backend"
	"github.com/armature-io/armature/starter/internal/cli"
	"github.com/armature-io/armature/starter/internal/plan"
	"github.com/armature-io/armature/workflows"
	"github.com/spf13/cobra"
)

func (a *app) driftCommand() *cobra.Command {
	var (
		targets backend.Selection
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

table omits resources that are in sync; wide lists them too. json, yaml and markdown are
those of plan.

--foreign also lists values that no manifest contains and that changed since the last PUT
of Armature: an added identity, an opened firewall, a local user. Lists, items of lists and
identities that are gone are "removed". None of this is corrected.

` + driftExitHelp,
		Example: "  armature drift\n  armature drift -l stack=prod -o wide\n  armature drift adx/telemetry -o json",
		RunE: func(c *cobra.Command, _ []string) error {
			return withPlanExitCode(a.drift(c.Context(), targets, output, foreign))
		},
	}
	c.SetFlagErrorFunc(func(c *cobra.Command, err error) error { return cli.Failed("%s", cli.FlagErrorText(c, err)) })
	a.addTargets(c, &targets, "every managed resource, as without a name")
	choose := c.PreRunE
	c.PreRunE = func(c *cobra.Command, args []string) error { return withPlanExitCode(choose(c, args)) }
	cli.AddFormats(c, &output, plan.Formats())
	c.Flags().BoolVar(&foreign, "foreign", false, "also list values that no manifest contains; finding one is a difference")
	return c
}

const driftExitHelp = `Exit codes of drift:
  0  no differences
  2  differences, or a resource that is blocked
  1  an error: bad flags, Temporal or Azure unreachable, a refused read`

func (a *app) drift(ctx context.Context, targets backend.Selection, output cli.Format, foreign bool) error {
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
	shown := a.showPlan(p, output, "compared")
	if foreign && p.ShowForeign(a.out, output) && shown == nil {
		return errChanges
	}
	return shown
}
