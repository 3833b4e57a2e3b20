package starter

import (
	"context"
	"time"

	"github.com/armature-io/armature/internal/payload"
	"github.com/armature-io/armature/starter/internal/backend"
	"github.com/armature-io/armature/starter/internal/cli"
	"github.com/armature-io/armature/starter/internal/screen"
	"github.com/spf13/cobra"
)

func (a *app) observedCommand() *cobra.Command {
	var targets backend.Selection
	var since string
	var output cli.Format
	c := &cobra.Command{
		Use:   "observed [NAME|ID... | -l SELECTOR | -f PATH...]",
		Short: "Show which corrections were not sent, over a period",
		Long: `observed reads what Armature found at resources that it only observes (the worker's
setting observe, or policy: observe), and prints the corrections that it would have sent
in a period: resource, path, both values, how often and when they were found, and the
author if Azure reported one. It counts the resources that would have needed none. All
managed resources are read without a name or selector, from the histories of their
workflows; it needs no worker, and it ends with a line if Temporal does not keep histories
for as long as --since.

A team promotes stack by stack: observe everything, look at the report of one stack,
change its manifests until nothing is left that should stay as Azure has it, and take the
stack out of the setting of all workers (docs/adopt.md#observe-first).

` + cli.ExitHelp,
		Example: "  armature observed --since 7d\n" +
			"  armature observed -l stack=crowd -o markdown > crowd.md\n" +
			"  # observe: stack=crowd;stack=data -> observe: stack=data, restart the workers, then\n" +
			"  armature reconcile -l stack=crowd --wait",
		RunE: func(c *cobra.Command, _ []string) error {
			return a.observed(c.Context(), targets, since, output)
		},
	}
	a.addTargets(c, &targets, "every managed resource, as without a name")
	c.Flags().StringVar(&since, "since", "7d", "begin of the period: a duration (7d, 12h), a date or a time (2026-03-01T08:00:00Z)")
	cli.AddFormats(c, &output, append(cli.Formats(), string(cli.FormatMarkdown)))
	return c
}

// maxParallelHistories bounds the histories that are read at the same time.
const maxParallelHistories = 16

func (a *app) observed(ctx context.Context, targets backend.Selection, since string, output cli.Format) error {
	from, err := backend.ParseSince(since, a.now())
	if err != nil {
		return cli.BadInput("--since: %v", err)
	}
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
	found := make([]backend.ObservedResource, len(records))
	err = backend.ForEach(ctx, len(records), maxParallelHistories, func(ctx context.Context, i int) error {
		one, err := a.observedIn(ctx, b, records[i], from)
		found[i] = one
		return err
	})
	if err != nil {
		return err
	}
	return screen.NewObserved(found, from, a.now()).Write(a.out, output) //nolint:wrapcheck // an error of the output
}

// observedIn reads the histories of one resource.
func (a *app) observedIn(ctx context.Context, b *connection, record backend.Record, from time.Time) (backend.ObservedResource, error) {
	converters, err := a.payloads(ctx)
	if err != nil {
		return backend.ObservedResource{}, err
	}
	runs, err := b.RunsSince(ctx, record.WorkflowID, from)
	if err != nil {
		return backend.ObservedResource{}, err //nolint:wrapcheck // the backend says what failed
	}
	reading := &backend.Reading{DataConverter: payload.At(payload.Place{Namespace: b.namespace, WorkflowID: record.WorkflowID}, converters.Data)}
	found := backend.ObservedIn(reading, record.ID, runs, from)
	if found.Comparisons == 0 {
		found.Reason = record.Reason
	}
	return found, reading.Unreadable()
}
