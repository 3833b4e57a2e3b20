package main

import (
	"context"
	"fmt"
	"strings"
	"sync"

	"github.com/armature-io/armature/workflows"
	"github.com/spf13/cobra"
)

// replayParallel bounds how many histories are read and replayed at once; one of
// Temporal's largest is 50 MB.
const replayParallel = 4

// replaying is what a user asked to replay.
type replaying struct {
	selection
	files  []string
	output format
}

func (a *app) replayCommand() *cobra.Command {
	var r replaying
	c := &cobra.Command{
		Use:   "replay NAME|ID... | -l SELECTOR | --all | -f FILE|FOLDER",
		Short: "Replay histories against the workflows of this armature",
		Long: `replay tells whether a worker of this version could go on with running workflows:
it replays their histories against the workflows that are built into this
armature, and changes nothing. Run the armature of the new version before the new
worker is rolled out. One that does not replay would stand still there
(nondeterminism); the line says at which event, what the history has and what this
version would do instead.

Histories come from Temporal (the latest run of a resource, by name or ID; those
of a label selector; or --all that runs, the workflows beside those of resources
too), or with -f from JSON files as Temporal's tools write them
(temporal workflow show --output json). A folder stands for its *.json files.

` + exitHelp + `

The code is 1 when a history does not replay or cannot be read.`,
		Example: "  armature replay --all\n  armature replay adx/telemetry -o json\n  armature replay -f histories/",
		RunE: func(c *cobra.Command, args []string) error {
			r.names = args
			return a.replay(c.Context(), r)
		},
	}
	a.addChooser(c, &r.selection, "every running workflow of armature")
	a.addOutput(c, &r.output)
	c.Flags().StringSliceVarP(&r.files, "filename", "f", nil, "JSON file of a history, or folder of such files")
	return c
}

// replay gets the histories one way or the other and judges them.
func (a *app) replay(ctx context.Context, r replaying) error {
	if err := r.check(); err != nil {
		return err
	}
	switch {
	case len(r.files) > 0 && !r.empty():
		return badInput("-f replays files, names and labels replay what Temporal holds; give one of them")
	case len(r.files) > 0:
		sources, err := historyFiles(r.files)
		if err != nil {
			return err
		}
		return a.replayAll(ctx, sources, r.output)
	case r.empty():
		return badInput("say which histories: a name or an ID, -l key=value, --all, or -f FILE")
	}
	b, err := a.connect(ctx, a)
	if err != nil {
		return err
	}
	defer b.close()
	records, err := r.records(ctx, b)
	if err != nil {
		return err
	}
	sources := make([]historySource, len(records))
	for i, known := range records {
		sources[i] = historySource{name: known.called(), workflowID: known.WorkflowID, read: func(ctx context.Context) (pastRun, error) {
			return b.history(ctx, known.WorkflowID)
		}}
	}
	if len(sources) == 0 && r.several() {
		a.note("nothing runs that was chosen by %s; nothing was replayed", r.words())
	}
	return a.replayAll(ctx, sources, r.output)
}

// allQuery lists everything that armature runs.
func allQuery() string {
	return "WorkflowType IN ('" + strings.Join(workflows.Names(), "', '") + "') AND ExecutionStatus = 'Running'"
}

func (r replaying) records(ctx context.Context, b *backend) ([]record, error) {
	if r.all {
		return b.list(ctx, allQuery())
	}
	return b.targets(ctx, r.selection)
}

// replayAll replays and tells each result as it comes; machines get all at the
// end, in the order of the sources.
func (a *app) replayAll(ctx context.Context, sources []historySource, output format) error {
	judge, err := newReplayer()
	if err != nil {
		return err
	}
	results := make([]replayResult, len(sources))
	var printing sync.Mutex
	err = each(ctx, len(sources), replayParallel, func(ctx context.Context, i int) error {
		result := judge.replay(ctx, sources[i])
		if ctx.Err() != nil {
			return errInterrupted
		}
		printing.Lock()
		defer printing.Unlock()
		results[i] = result
		if !output.machine() {
			a.printf("%s  %s\n", result.Name, result.words())
		}
		return nil
	})
	if err != nil {
		return failed("interrupted; nothing was changed")
	}
	if output.machine() {
		if err := a.write(output, results); err != nil {
			return err
		}
	}
	return replaySummary(a, results, output)
}

// replaySummary tells how many replay, and fails unless all do.
func replaySummary(a *app, results []replayResult, output format) error {
	differing, unread := 0, 0
	for _, r := range results {
		switch r.Result {
		case replayDiffers:
			differing++
		case replayUnread:
			unread++
		}
	}
	good := len(results) - differing - unread
	if !output.machine() {
		a.printf("%d of %s replay\n", good, numbered(len(results), "history", "histories"))
	}
	switch {
	case differing > 0:
		return failed("%s not replay with this version: do not roll it out for them; keep a worker of the version that runs them "+
			"(worker versioning pins them to it), or guard the change with workflow.GetVersion", numbered(differing, "history does", "histories do"))
	case unread > 0:
		return failed("%s could not be read, see above", numbered(unread, "history", "histories"))
	}
	return nil
}

// numbered is "1 history", "2 histories".
func numbered(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}
