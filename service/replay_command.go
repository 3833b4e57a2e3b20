package service

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"sync"

	"github.com/armature-io/armature/internal/payload"
	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/service/replay"
	"github.com/armature-io/armature/workflows"
	enumspb "go.temporal.io/api/enums/v1"
	historypb "go.temporal.io/api/history/v1"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"
	"golang.org/x/sync/errgroup"
)

const replayUsage = `Usage: worker replay [flags] [ID...]

worker replay checks whether a worker of this version can continue running workflows:
it replays their histories against the workflows of this program, and changes nothing.
Run the worker of a new version this way before you roll it out: a workflow that does
not replay would be stuck there (nondeterminism). The output names the first event that
differs, the command in the history and the command of this version.

Histories come from Temporal (TEMPORAL_ADDRESS, TEMPORAL_NAMESPACE and profiles): the
latest run of each resource ID or workflow ID; without an ID every running workflow of
Armature. With -f they come from JSON files (temporal workflow show --output json).

Exit codes: 0 all replay, 1 a history does not replay or cannot be read, 2 wrong flags.

Flags:
`

// maxParallelReplays bounds the histories that are read and replayed at one time;
// the largest that Temporal allows are 50 MB.
const maxParallelReplays = 4

// replaySettings are the flags of a replay.
type replaySettings struct {
	ids, files []string
	query      string
	output     string
	keys       keyFlags
}

// replayMain replays the histories that the arguments choose and returns the exit code.
func replayMain(ctx context.Context, args []string, options Options) int {
	settings, err := parseReplay(args, options.Stdout)
	if err == nil {
		err = replayHistories(ctx, settings, options)
	}
	switch {
	case err == nil, errors.Is(err, flag.ErrHelp):
		return ExitStopped
	case ctx.Err() != nil:
		err = errors.New("interrupted; nothing was changed")
	}
	fmt.Fprintln(options.Stderr, err)
	if _, invalid := errors.AsType[*ConfigError](err); invalid {
		return ExitConfig
	}
	return ExitFailed
}

// parseReplay returns the settings of the arguments, a *ConfigError or flag.ErrHelp.
func parseReplay(args []string, help io.Writer) (replaySettings, error) {
	var s replaySettings
	flags := flag.NewFlagSet("worker replay", flag.ContinueOnError)
	flags.SetOutput(help)
	flags.Usage = func() {
		fmt.Fprint(help, replayUsage)
		flags.PrintDefaults()
	}
	flags.Func("f", "JSON `file` of a history, or a folder of such files; repeatable", func(path string) error {
		s.files = append(s.files, path)
		return nil
	})
	flags.StringVar(&s.query, "query", "", "visibility `query` of the workflows to replay, such as \"ReconcileLabels = 'stack=demo'\"")
	flags.StringVar(&s.output, "o", "table", "output `format`: table or json")
	s.keys.register(flags)
	if err := flags.Parse(args); errors.Is(err, flag.ErrHelp) {
		return s, err //nolint:wrapcheck // the caller compares it
	} else if err != nil {
		return s, &ConfigError{fmt.Errorf("read flags: %w", err)}
	}
	s.ids = flags.Args()
	chosen := 0
	for _, isChosen := range []bool{len(s.files) > 0, len(s.ids) > 0, s.query != ""} {
		if isChosen {
			chosen++
		}
	}
	switch {
	case chosen > 1:
		return s, &ConfigError{errors.New("read flags: IDs, -f and --query cannot be combined; choose one of them")}
	case slices.Contains(s.ids, ""):
		return s, &ConfigError{errors.New("read flags: an ID is empty; is a shell variable not set?")}
	case s.output != "table" && s.output != "json":
		return s, &ConfigError{fmt.Errorf("read flags: -o %s is neither table nor json", s.output)}
	}
	return s, nil
}

// replayHistories replays and prints. Its error reports histories that do not replay.
func replayHistories(ctx context.Context, s replaySettings, options Options) error {
	converters, err := s.keys.load(ctx, options)
	if err != nil {
		return &ConfigError{err}
	}
	sources, err := replay.Files(s.files)
	if err != nil {
		return &ConfigError{err}
	}
	if len(s.files) == 0 {
		temporal, namespace, err := dialReplay(ctx, converters, options)
		if err != nil {
			return err
		}
		defer temporal.Close()
		if sources, err = s.running(ctx, temporal, namespace); err != nil {
			return err
		}
	}
	results := make([]replay.Result, len(sources))
	replayer := replay.Replayer{Converter: converters.Data}
	var printing sync.Mutex
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(maxParallelReplays)
	for i, source := range sources {
		group.Go(func() error {
			result := replayer.One(ctx, source)
			printing.Lock()
			defer printing.Unlock()
			results[i] = result
			if s.output == "table" && ctx.Err() == nil {
				fmt.Fprintf(options.Stdout, "%s  %s\n", result.Name, result.Summary())
			}
			return ctx.Err()
		})
	}
	if err := group.Wait(); err != nil {
		return fmt.Errorf("replay: %w", err)
	}
	if s.output == "json" {
		encoder := json.NewEncoder(options.Stdout)
		encoder.SetIndent("", "  ")
		if err := encoder.Encode(results); err != nil {
			return fmt.Errorf("write the results: %w", err)
		}
	}
	return concludeReplay(results, s.output, options.Stdout)
}

// concludeReplay prints how many histories replay, and fails unless all do.
func concludeReplay(results []replay.Result, output string, out io.Writer) error {
	count := map[string]int{}
	for _, r := range results {
		count[r.Result]++
	}
	if output == "table" {
		fmt.Fprintf(out, "%d of %d replay\n", count[replay.OK], len(results))
	}
	switch {
	case count[replay.Nondeterminism] > 0:
		return fmt.Errorf("%d of %d histories do not replay with this version: do not roll it out for them; keep a worker of the version that runs them "+
			"(worker versioning pins them to it), or guard the change with workflow.GetVersion", count[replay.Nondeterminism], len(results))
	case count[replay.Unreadable] > 0:
		return fmt.Errorf("%d of %d histories could not be read, see above", count[replay.Unreadable], len(results))
	}
	return nil
}

// dialReplay connects to Temporal with the converters of the worker and returns the namespace.
func dialReplay(ctx context.Context, converters *payload.Converters, options Options) (client.Client, string, error) {
	connection, _, err := temporalOptions(ctx, options, slog.New(slog.DiscardHandler), nil)
	if err != nil {
		return nil, "", &ConfigError{err}
	}
	converters.Apply(&connection)
	temporal, err := client.DialContext(ctx, connection)
	if err != nil {
		return nil, "", fmt.Errorf("connect to Temporal at %s: %w", connection.HostPort, err)
	}
	return temporal, connection.Namespace, nil
}

// running returns the sources of the chosen workflows, in the order of Temporal's list.
func (s replaySettings) running(ctx context.Context, temporal client.Client, namespace string) ([]replay.Source, error) {
	var sources []replay.Source
	add := func(name, workflowID, runID string) {
		sources = append(sources, replay.Source{Name: name, WorkflowID: workflowID, Read: func(ctx context.Context) (*historypb.History, error) {
			return readHistory(ctx, temporal, workflowID, runID)
		}})
	}
	for _, id := range s.ids {
		workflowID := id
		if parsed, err := resource.ParseID(id); err == nil {
			workflowID = parsed.WorkflowID()
		}
		add(id, workflowID, "")
	}
	if len(s.ids) > 0 {
		return sources, nil
	}
	query := cmp.Or(s.query, workflows.RunningQuery())
	var token []byte
	for {
		page, err := temporal.ListWorkflow(ctx, &workflowservice.ListWorkflowExecutionsRequest{Namespace: namespace, Query: query, NextPageToken: token})
		if err != nil {
			return nil, fmt.Errorf("list workflows: %w", err)
		}
		for _, run := range page.GetExecutions() {
			id := run.GetExecution().GetWorkflowId()
			add(id, id, run.GetExecution().GetRunId())
		}
		if token = page.GetNextPageToken(); len(token) == 0 {
			return sources, nil
		}
	}
}

// readHistory reads the history of a run, of the latest one if runID is empty.
func readHistory(ctx context.Context, temporal client.Client, workflowID, runID string) (*historypb.History, error) {
	history := &historypb.History{}
	events := temporal.GetWorkflowHistory(ctx, workflowID, runID, false, enumspb.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT)
	for events.HasNext() {
		event, err := events.Next()
		if err != nil {
			return nil, fmt.Errorf("read the history: %w", err)
		}
		history.Events = append(history.Events, event)
	}
	return history, nil
}
