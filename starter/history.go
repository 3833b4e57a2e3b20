package starter

import (
	"context"
	"strings"

	"github.com/armature-io/armature/internal/audit"
	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/starter/internal/backend"
	"github.com/armature-io/armature/starter/internal/cli"
	"github.com/spf13/cobra"
)

func (a *app) historyCommand() *cobra.Command {
	var since string
	var output cli.Format
	c := &cobra.Command{
		Use:        "history NAME|ID",
		SuggestFor: []string{"events", "log", "logs"},
		Short:      "Show who asked for what, and what was written",
		Long: `history prints the requests of users, the writes to Azure and the refusals of one
resource, from the histories of its workflow in Temporal: as far back as the namespace
keeps them. It ends with a line about where that is. A name of a deleted resource is not
known any more: use its ID. json and yaml are records of the audit trail; its lines, which
workers write, know single requests too, and outlast the retention (docs/audit.md).

` + cli.ExitHelp,
		Example: "  armature history adx/telemetry\n  armature history adx --since 24h\n  armature history adx --since 2026-03-01 -o json",
		Args:    cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			return a.history(c.Context(), args[0], since, output)
		},
	}
	c.Flags().StringVar(&since, "since", "", "only what happened since: a duration (24h), a date or a time (2026-03-01T08:00:00Z)")
	cli.AddFormat(c, &output)
	c.ValidArgsFunction = a.completeNames
	return c
}

func (a *app) history(ctx context.Context, name, since string, output cli.Format) error {
	from, err := backend.ParseSince(since, a.now())
	if err != nil {
		return cli.BadInput("--since: %v", err)
	}
	b, err := a.connection(ctx)
	if err != nil {
		return err
	}
	workflowID := ""
	if id, err := resource.ParseID(name); err == nil && strings.HasPrefix(name, "/") {
		workflowID = id.WorkflowID()
	} else {
		records, err := backend.Targets(ctx, b, backend.Selection{Names: []string{name}})
		if err != nil {
			return err
		}
		workflowID = records[0].WorkflowID
	}
	runs, err := b.Runs(ctx, workflowID)
	if err != nil {
		return err
	}
	converters, err := a.payloads(ctx)
	if err != nil {
		return err
	}
	reading := &backend.Reading{DataConverter: converters.Data}
	records := backend.AuditRecords(reading, runs, from)
	if err := reading.Unreadable(); err != nil {
		return err
	}
	if output.IsMachine() {
		if records == nil {
			records = []audit.Record{}
		}
		return output.Write(a.out, records)
	}
	for _, record := range records {
		a.printf("%s\n", backend.AuditLine(record))
	}
	a.note("%s", backend.HistoryEnd(runs))
	return nil
}
