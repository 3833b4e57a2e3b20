package starter

import (
	"context"
	"sync"

	"github.com/armature-io/armature/starter/internal/backend"
	"github.com/armature-io/armature/starter/internal/cli"
	"github.com/armature-io/armature/starter/internal/replay"
	"github.com/spf13/cobra"
	historypb "go.temporal.io/api/history/v1"
)

// maxParallelReplays bounds the histories that are read and replayed at one time;
// the largest that Temporal allows are 50 MB.
const maxParallelReplays = 4

// replayRequest is what the user wants to replay.
type replayRequest struct {
	backend.Selection
	files  []string
	output cli.Format
}

func (a *app) replayCommand() *cobra.Command {
	var request replayRequest
	c := &cobra.Command{
		Use:   "replay NAME|ID... | -l SELECTOR | --all | -f FILE|FOLDER",
		Short: "Replay workflow histories against this version",
		Long: `replay checks whether a worker of this version can continue running workflows. It
replays their histories against the workflows that are built into this armature
and changes nothing. Run the armature of a new version before you roll out its
worker: a workflow that does not replay would be stuck there (nondeterminism). The
output names the first event that differs, what the history has there and what
this version has instead.

Histories come from Temporal: the latest run of a resource (by name or ID), of the
resources with a label, or with --all of every running workflow of Armature. With
-f they come from JSON files as Temporal's tools write them (temporal workflow show
--output json). A folder stands for its *.json files.

` + cli.ExitHelp + `

The code is 1 when a history does not replay or cannot be read.`,
		Example: "  armature replay --all\n  armature replay adx/telemetry -o json\n  armature replay -f histories/",
		RunE: func(c *cobra.Command, args []string) error {
			request.Names = args
			return a.replay(c.Context(), request)
		},
	}
	a.addSelection(c, &request.Selection, "every running workflow of Armature")
	cli.AddFormat(c, &request.output)
	c.Flags().StringSliceVarP(&request.files, "filename", "f", nil, "JSON file of a history, or folder of such files")
	return c
}

// replay collects the histories and replays them.
func (a *app) replay(ctx context.Context, request replayRequest) error {
	if err := request.Check(); err != nil {
		return err
	}
	switch {
	case len(request.files) > 0 && !request.IsEmpty():
		return cli.BadInput("-f cannot be combined with names, -l or --all; choose one of them")
	case len(request.files) > 0:
		sources, err := replay.Files(request.files)
		if err != nil {
			return err
		}
		return a.replayAll(ctx, sources, request.output)
	case request.IsEmpty():
		return cli.BadInput("replay needs histories: a name or an ID, -l key=value, --all, or -f FILE")
	}
	b, err := a.connection(ctx)
	if err != nil {
		return err
	}
	records, err := replayRecords(ctx, b, request.Selection)
	if err != nil {
		return err
	}
	sources := make([]replay.Source, len(records))
	for i, r := range records {
		sources[i] = replay.Source{Name: r.DisplayName(), WorkflowID: r.WorkflowID, Read: func(ctx context.Context) (*historypb.History, error) {
			return b.History(ctx, r.WorkflowID)
		}}
	}
	if len(sources) == 0 && request.IsQuery() {
		a.note("no running workflow matches %s; nothing was replayed", request.Flags())
	}
	return a.replayAll(ctx, sources, request.output)
}

func replayRecords(ctx context.Context, b *connection, s backend.Selection) ([]backend.Record, error) {
	if s.All {
		return b.List(ctx, backend.AllWorkflowsQuery())
	}
	return backend.Targets(ctx, b, s)
}

// replayAll replays the sources. A table grows as results arrive; JSON and YAML are
// written at the end, in the order of the sources.
func (a *app) replayAll(ctx context.Context, sources []replay.Source, output cli.Format) error {
	results := make([]replay.Result, len(sources))
	converters, err := a.payloads(ctx)
	if err != nil {
		return err
	}
	replayer := replay.Replayer{Converter: converters.Data}
	var printing sync.Mutex
	err = backend.ForEach(ctx, len(sources), maxParallelReplays, func(ctx context.Context, i int) error {
		result := replayer.One(ctx, sources[i])
		if ctx.Err() != nil {
			return backend.ErrInterrupted
		}
		printing.Lock()
		defer printing.Unlock()
		results[i] = result
		if !output.IsMachine() {
			a.printf("%s  %s\n", result.Name, result.Summary())
		}
		return nil
	})
	if err != nil {
		return cli.Failed("interrupted; nothing was changed")
	}
	if output.IsMachine() {
		if err := output.Write(a.out, results); err != nil {
			return err
		}
	}
	return a.concludeReplay(results, output)
}

// concludeReplay prints how many histories replay, and fails unless all do.
func (a *app) concludeReplay(results []replay.Result, output cli.Format) error {
	differing, unreadable := 0, 0
	for _, r := range results {
		switch r.Result {
		case replay.Nondeterminism:
			differing++
		case replay.Unreadable:
			unreadable++
		}
	}
	if !output.IsMachine() {
		a.printf("%d of %s replay\n", len(results)-differing-unreadable, cli.CountOf(len(results), "history", "histories"))
	}
	switch {
	case differing > 0:
		return cli.Failed("%s not replay with this version: do not roll it out for them; keep a worker of the version that runs them "+
			"(worker versioning pins them to it), or guard the change with workflow.GetVersion", cli.CountOf(differing, "history does", "histories do"))
	case unreadable > 0:
		return cli.Failed("%s could not be read, see above", cli.CountOf(unreadable, "history", "histories"))
	}
	return nil
}
