package starter

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/armature-io/armature/internal/audit"
	"github.com/armature-io/armature/internal/payload"
	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/starter/internal/backend"
	"github.com/armature-io/armature/starter/internal/cli"
	"github.com/spf13/cobra"
)

func (a *app) historyCommand() *cobra.Command {
	var targets backend.Selection
	var since string
	var output cli.Format
	c := &cobra.Command{
		Use:        "history NAME|ID... | -l SELECTOR | -f PATH...",
		SuggestFor: []string{"events", "log", "logs"},
		Short:      "Show who asked for what, and what was written",
		Long: `history prints the requests of users, the writes to Azure and the refusals of
resources, from the histories of their workflows in Temporal: as far back as the namespace
keeps them. It ends with a line about where that is. Of several resources the lines are in
the order of their times. A name of a deleted resource is not known any more: use its ID.
json and yaml are records of the audit trail; its lines, which workers write, know single
requests too, and outlast the retention (docs/metrics.md).

` + cli.ExitHelp,
		Example: "  armature history adx/telemetry\n  armature history -l stack=prod --since 24h\n  armature history adx --since 2026-03-01 -o json",
		RunE: func(c *cobra.Command, _ []string) error {
			return a.history(c.Context(), targets, since, output)
		},
	}
	a.addTargets(c, &targets, "every managed resource")
	c.Flags().StringVar(&since, "since", "", "only what happened since: a duration (24h), a date or a time (2026-03-01T08:00:00Z)")
	cli.AddFormat(c, &output)
	return c
}

func (a *app) history(ctx context.Context, targets backend.Selection, since string, output cli.Format) error {
	from, err := backend.ParseSince(since, a.now())
	if err != nil {
		return cli.BadInput("--since: %v", err)
	}
	if err := checkTargets(targets); err != nil {
		return err
	}
	b, err := a.connection(ctx)
	if err != nil {
		return err
	}
	workflowIDs, err := historyOf(ctx, b, targets)
	if err != nil {
		return err
	}
	var runs []backend.HistoryRun
	var records []audit.Record
	for _, workflowID := range workflowIDs {
		ofRuns, ofRecords, err := a.auditRecords(ctx, b, workflowID, from)
		if err != nil {
			return err
		}
		runs, records = append(runs, ofRuns...), append(records, ofRecords...)
	}
	slices.SortStableFunc(runs, func(x, y backend.HistoryRun) int { return x.Started.Compare(y.Started) })
	slices.SortStableFunc(records, func(x, y audit.Record) int { return x.Time.Compare(y.Time) })
	if output.IsMachine() {
		if records == nil {
			records = []audit.Record{}
		}
		return output.Write(a.out, records)
	}
	for _, record := range records {
		name := ""
		if id, err := resource.ParseID(record.ID); err == nil && len(workflowIDs) > 1 {
			name = cli.KindAndName(id)
		}
		a.printf("%s\n", backend.AuditLine(record, name))
	}
	a.note("%s", backend.HistoryEnd(runs))
	return nil
}

// auditRecords returns the histories of a workflow, and their events since a time.
func (a *app) auditRecords(ctx context.Context, b *connection, workflowID string, from time.Time) ([]backend.HistoryRun, []audit.Record, error) {
	converters, err := a.payloads(ctx)
	if err != nil {
		return nil, nil, err
	}
	runs, err := b.Runs(ctx, workflowID)
	if err != nil {
		return nil, nil, err
	}
	place := payload.Place{Namespace: b.namespace, WorkflowID: workflowID}
	reading := &backend.Reading{DataConverter: payload.At(place, converters.Data)}
	records := backend.AuditRecords(reading, runs, from)
	return runs, records, reading.Unreadable()
}

// historyOf returns the IDs of the chosen workflows. Temporal may have the history of a
// resource that is no longer managed, so an ID stands for itself.
func historyOf(ctx context.Context, b *connection, targets backend.Selection) ([]string, error) {
	var workflowIDs, names []string
	for _, name := range targets.Names {
		if id, err := resource.ParseID(name); err == nil && strings.HasPrefix(name, "/") {
			workflowIDs = append(workflowIDs, id.WorkflowID())
		} else {
			names = append(names, name)
		}
	}
	if targets.Names = names; targets.IsEmpty() {
		return workflowIDs, nil
	}
	records, err := backend.Targets(ctx, b, targets)
	if err != nil {
		return nil, err
	}
	for _, r := range records {
		workflowIDs = append(workflowIDs, r.WorkflowID)
	}
	return workflowIDs, nil
}
