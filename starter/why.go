package starter

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"

	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/starter/internal/backend"
	"github.com/armature-io/armature/starter/internal/cli"
	"github.com/armature-io/armature/starter/internal/rollout"
	"github.com/armature-io/armature/starter/internal/why"
	"github.com/armature-io/armature/workflows"
	"github.com/spf13/cobra"
)

func (a *app) whyCommand() *cobra.Command {
	var (
		targets backend.Selection
		how     display
	)
	c := &cobra.Command{
		Use:   "why [NAME|ID]... | -l SELECTOR | -f PATH...",
		Short: "Explain why resources are not Ready",
		Long: `why follows what a resource waits for down to the root cause: since when, the next
try, and what to do. With a label selector, or without names for every managed
resource, it groups the resources that are not Ready by root cause, the largest
group first. When no worker responds, it uses Temporal's search attributes and says
so. It changes nothing, and its exit code is 0 whatever the state of the resources.

wide shortens nothing. For names, json and yaml are a list of chains: id, name,
state, since, reason, message, todo, waitsFor (more links) and roots, each with its
sentence in text. For a selector they are {causes, ready, total}, each cause with
count, cause (a link), waiting, text and resources.

` + cli.ExitHelp,
		Example: "  armature why adx/telemetry\n  armature why -l stack=prod\n  armature why adx -o json\n  armature why --watch",
		RunE: func(c *cobra.Command, args []string) error {
			if err := targets.Check(); err != nil {
				return err
			}
			return a.show(c.Context(), how, func(ctx context.Context, b *connection) (frame, error) {
				if len(args) == 0 {
					return a.causesFrame(ctx, b, targets, how)
				}
				return a.chainsFrame(ctx, b, args, how)
			})
		},
	}
	a.addTargets(c, &targets, "every managed resource (the default)")
	a.addDisplay(c, &how)
	return c
}

// whyEngine returns the engine that explains, with what freezes and rollouts know.
func (a *app) whyEngine(b *connection) *why.Engine {
	var problems []rollout.Problem
	read := false
	return why.New(why.Sources{
		Reader: b,
		Freezes: func(ctx context.Context) ([]workflows.Freeze, error) {
			freezes, _, err := b.Freezes(ctx)
			return freezes, err
		},
		Stranded: func(ctx context.Context, r backend.Record) (message, advice string) {
			if r.BuildID == "" || b.versions == nil || r.TaskQueue != a.taskQueue {
				return "", ""
			}
			if !read {
				// An error leaves the general advice.
				problems, _ = rollout.Problems(ctx, b.versions, a.taskQueue, a.now())
				read = true
			}
			for _, p := range problems {
				if p.BuildID == r.BuildID {
					return p.Message, p.Advice
				}
			}
			return "", ""
		},
	}, a.taskQueue, a.now())
}

// chainsFrame returns the chains of named resources.
func (a *app) chainsFrame(ctx context.Context, b *connection, names []string, how display) (frame, error) {
	engine := a.whyEngine(b)
	chains := make([]why.Chain, len(names))
	key := ""
	for i, name := range names {
		var err error
		if chains[i], err = engine.Chain(ctx, name); err != nil {
			return frame{}, err
		}
		key += chains[i].Key()
	}
	return frame{key: key, render: func(a *app) error {
		if how.output.IsMachine() {
			return errors.Join(how.output.Write(a.out, chains), checkApplied(chains))
		}
		var ids []resource.ID
		for i, chain := range chains {
			if i > 0 {
				a.printf("\n")
			}
			a.printf("%s", chain.Text(a.now(), how.output == cli.FormatWide))
			ids = append(ids, chain.ID)
		}
		if !how.watch {
			a.linkPage("", ids...)
		}
		return checkApplied(chains)
	}}, nil
}

// checkApplied returns an error for a resource that was never applied, as every
// other command does.
func checkApplied(chains []why.Chain) error {
	for _, chain := range chains {
		if !chain.IsManaged() {
			return cli.Failed("%s is not managed; `armature get` lists managed resources", cli.KindAndName(chain.ID))
		}
	}
	return nil
}

// causesFrame returns the root causes of the resources that labels or manifests choose.
func (a *app) causesFrame(ctx context.Context, b *connection, targets backend.Selection, how display) (frame, error) {
	report, err := a.whyEngine(b).Causes(ctx, targets)
	if err != nil {
		return frame{}, err
	}
	return frame{key: report.Key(), render: func(a *app) error {
		a.noteStale(report.Views)
		if how.output.IsMachine() {
			causes := report.Causes
			if causes == nil {
				causes = []*why.Cause{}
			}
			return how.output.Write(a.out, map[string]any{"causes": causes, "ready": report.Ready, "total": report.Total})
		}
		a.printCauses(report, targets.Selector, how.output == cli.FormatWide)
		var ids []resource.ID
		for _, cause := range report.Causes {
			ids = append(ids, cause.Resources...)
		}
		if !how.watch {
			a.linkPage(targets.Selector, ids...)
		}
		return nil
	}}, nil
}

// Bounds of the causes and of the names below each.
const (
	maxCausesShown = 24
	maxNamesShown  = 4
)

func (a *app) printCauses(report why.Report, selector string, wide bool) {
	maxCauses, maxNames := maxCausesShown, maxNamesShown
	if wide {
		maxCauses, maxNames = math.MaxInt, math.MaxInt
	}
	for i, cause := range report.Causes {
		if i == maxCauses {
			a.printf("… and %s more: `armature why -o wide`\n", cli.Count(len(report.Causes)-i, "cause"))
			break
		}
		a.printf("%s\n", cause.Text)
		if cause.Count == 1 && !cause.Waiting {
			continue
		}
		var shown []string
		for _, id := range cause.Resources[:min(maxNames, len(cause.Resources))] {
			shown = append(shown, id.Short())
		}
		line := strings.Join(shown, ", ")
		if more := cause.Count - len(shown); more > 0 {
			line += fmt.Sprintf(", … and %d more", more)
		}
		a.printf("  %s\n", line)
	}
	switch {
	case report.Total == 0 && selector != "":
		a.note("no managed resource has the labels %s", selector)
	case report.Total == 0:
		a.note("no resources are managed")
	case len(report.Causes) == 0:
		a.printf("nothing is blocked: %s Ready\n", cli.CountAre(report.Total, "resource"))
	default:
		a.printf("%d of %s Ready\n", report.Ready, cli.CountAre(report.Total, "resource"))
	}
	a.printf("%s", report.ExplainText())
	if report.Several > 0 {
		a.printf("%s counted under more than one cause\n", cli.CountAre(report.Several, "resource"))
	}
}
