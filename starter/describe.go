package starter

import (
	"context"
	"encoding/json"

	"github.com/armature-io/armature/starter/internal/backend"
	"github.com/armature-io/armature/starter/internal/cli"
	"github.com/armature-io/armature/starter/internal/screen"
	"github.com/armature-io/armature/workflows"
	"github.com/spf13/cobra"
)

func (a *app) describeCommand() *cobra.Command {
	var (
		targets backend.Chosen
		how     display
	)
	c := &cobra.Command{
		Use:        "describe NAME|ID... | -l SELECTOR | -f PATH...",
		SuggestFor: []string{"show", "status"},
		Short:      "Show the status of resources in detail",
		Long: `describe shows the condition, what the resource waits for and since when, the next
try, the last differences and the last decisions. Of up to 50 resources and without
--watch it also shows the fingerprint of the links and rules of the last pass. wide
shortens nothing; json and yaml are the list that get writes, with workflowId, namespace,
checks, and observed: what Azure shows now, with secrets masked, of up to 50 resources
and without --watch.

` + cli.ExitHelp,
		Example: "  armature describe adx/telemetry\n  armature describe adx --watch\n  armature describe -l stack=prod -o yaml",
		RunE: func(c *cobra.Command, _ []string) error {
			if err := checkTargets(targets.Selection); err != nil {
				return err
			}
			return a.show(c.Context(), how, func(ctx context.Context, b *connection) (frame, error) {
				views, err := targets.Views(ctx, b)
				if err != nil {
					return frame{}, err
				}
				if len(views) == 0 {
					return frame{}, targets.NoMatch()
				}
				if !how.watch {
					backend.ReadChecks(ctx, b, targets.Records(), views)
				}
				var bodies []json.RawMessage
				if how.output.IsMachine() && !how.watch {
					bodies = backend.ReadBodies(ctx, b, targets.Records(), backend.NewRunID(workflows.ImportIDPrefix))
				}
				render := func(a *app) error {
					if err := a.describe(b.namespace, targets.Records(), views, bodies, how.output); err != nil || how.watch || how.output.IsMachine() {
						return err
					}
					a.linkPage(targets.Selector, idsOf(views)...)
					return nil
				}
				return frame{render: render, final: targets.IsOver(views)}, nil
			})
		},
	}
	a.addTargets(c, &targets.Selection, "every managed resource")
	a.addDisplay(c, &how)
	return c
}

// describedItem is a page in JSON and YAML.
type describedItem struct {
	screen.Item
	WorkflowID string `json:"workflowId"`
	Namespace  string `json:"namespace"`
	// Checks is the fingerprint of the links and rules of the last pass, "" if it is unknown.
	Checks string `json:"checks,omitempty"`
	// Observed is what Azure shows, with secrets masked; nil if it was not read.
	Observed json.RawMessage `json:"observed,omitempty"`
}

func (a *app) describe(namespace string, records []backend.Record, views []backend.View, bodies []json.RawMessage, output cli.Format) error {
	a.noteStale(views)
	if output.IsMachine() {
		out := make([]describedItem, len(views))
		for i, item := range screen.Items(views) {
			out[i] = describedItem{Item: item, WorkflowID: records[i].WorkflowID, Namespace: namespace, Checks: views[i].Checks}
			if bodies != nil {
				out[i].Observed = bodies[i]
			}
		}
		return output.Write(a.out, out)
	}
	for i, v := range views {
		if i > 0 {
			a.printf("\n")
		}
		a.printf("%s", a.painter().Page(v, records[i].WorkflowID, namespace, output == cli.FormatWide))
	}
	return nil
}
