package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sort"
	"strings"

	"github.com/armature-io/armature/payload"
	"github.com/armature-io/armature/workflows"
	enumspb "go.temporal.io/api/enums/v1"
	historypb "go.temporal.io/api/history/v1"
	sdklog "go.temporal.io/sdk/log"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"
	"google.golang.org/protobuf/proto"
)

// What can come of a replay.
const (
	replayOK      = "ok"
	replayDiffers = "nondeterminism"
	replayUnread  = "unreadable"
)

// replayResult is what became of one history. Its JSON names do not change.
type replayResult struct {
	Name         string `json:"name"`
	WorkflowID   string `json:"workflowID,omitempty"`
	RunID        string `json:"runID,omitempty"`
	WorkflowType string `json:"workflowType,omitempty"`
	Events       int    `json:"events"`
	Result       string `json:"result"`
	// EventID is where the two part, 0 where that is not known; Expected is what
	// the history has there and Found what this version would do.
	EventID  int64  `json:"eventID,omitempty"`
	Expected string `json:"expected,omitempty"`
	Found    string `json:"found,omitempty"`
	// Message is the replayer's own, or why nothing was replayed.
	Message string `json:"message,omitempty"`
}

// words are the result for people.
func (r replayResult) words() string {
	switch r.Result {
	case replayOK:
		return fmt.Sprintf("ok (%s, %d events)", r.WorkflowType, r.Events)
	case replayUnread:
		return "unreadable: " + r.Message
	}
	text := "nondeterminism"
	if r.EventID > 0 {
		text += fmt.Sprintf(" at event %d of %d", r.EventID, r.Events)
	}
	if r.Expected != "" || r.Found != "" {
		text += fmt.Sprintf(": the history has %s, this version makes %s", cmp.Or(r.Expected, "nothing"), cmp.Or(r.Found, "nothing"))
	} else {
		text += ": " + r.Message
	}
	if r.WorkflowID != r.Name {
		text += "; workflow " + r.WorkflowID
	}
	return text
}

// replayer replays against the workflows of this binary.
type replayer struct{ inner worker.WorkflowReplayer }

func newReplayer() (*replayer, error) {
	inner, err := worker.NewWorkflowReplayerWithOptions(worker.WorkflowReplayerOptions{
		DataConverter: payload.DataConverter(), DisableDeadlockDetection: true,
	})
	if err != nil {
		return nil, fmt.Errorf("make the replayer: %w", err)
	}
	workflows.Register(inner)
	return &replayer{inner: inner}, nil
}

// replay reads and replays one history.
func (r *replayer) replay(ctx context.Context, source historySource) replayResult {
	result := replayResult{Name: source.name, WorkflowID: source.workflowID, Result: replayOK}
	from, err := source.read(ctx)
	if err != nil {
		result.Result, result.Message = replayUnread, err.Error()
		return result
	}
	start := startOf(from.history)
	if result.WorkflowID == "" {
		result.WorkflowID = cmp.Or(start.GetWorkflowId(), source.name)
	}
	result.RunID, result.WorkflowType, result.Events = from.runID, start.GetWorkflowType().GetName(), len(from.history.GetEvents())
	switch {
	case start == nil:
		result.Result, result.Message = replayUnread, "it does not begin with the start of a workflow"
		return result
	case !slices.Contains(workflows.Names(), result.WorkflowType):
		result.Result, result.Message = replayDiffers, fmt.Sprintf("this version has no workflow %s", result.WorkflowType)
		return result
	case !decided(from.history):
		return result // no workflow task is done: nothing binds a worker
	}
	execution := workflow.Execution{ID: result.WorkflowID, RunID: from.runID}
	if err := r.once(from.history, execution); err != nil {
		result.Result = replayDiffers
		r.explain(&result, from.history, execution, err)
	}
	return result
}

// decided reports whether a workflow task was completed.
func decided(history *historypb.History) bool {
	return slices.ContainsFunc(history.GetEvents(), func(e *historypb.HistoryEvent) bool {
		return e.GetEventType() == enumspb.EVENT_TYPE_WORKFLOW_TASK_COMPLETED
	})
}

// once replays one history, or the beginning of one: a copy, for the SDK's replayer
// changes events, and a second replay of the same ones fails where none would.
func (r *replayer) once(history *historypb.History, execution workflow.Execution) error {
	quiet := sdklog.NewStructuredLogger(slog.New(slog.DiscardHandler))
	return r.inner.ReplayWorkflowHistoryWithOptions(quiet, proto.CloneOf(history), worker.ReplayWorkflowHistoryOptions{OriginalExecution: execution})
}

// explain finds where history and workflow part: the first workflow task whose
// commands differ. Whoever replays everything at once is told of a consequence,
// many events later.
func (r *replayer) explain(result *replayResult, history *historypb.History, execution workflow.Execution, whole error) {
	ends := decisions(history)
	first := sort.Search(len(ends), func(i int) bool {
		return r.once(&historypb.History{Events: history.GetEvents()[:ends[i].end]}, execution) != nil
	})
	if first == len(ends) {
		result.Message = oneLine(whole)
		return
	}
	found := ends[first]
	part := history.GetEvents()[:found.end]
	err := cmp.Or(r.once(&historypb.History{Events: part}, execution), whole)
	result.Message = oneLine(err)
	result.EventID, result.Expected, result.Found = parting(err, part[found.begin:])
}

// decision is one workflow task: events[begin:end] are its completion and what it
// commanded.
type decision struct{ begin, end int }

func decisions(history *historypb.History) []decision {
	events := history.GetEvents()
	var found []decision
	for i, event := range events {
		if event.GetEventType() != enumspb.EVENT_TYPE_WORKFLOW_TASK_COMPLETED {
			continue
		}
		end := i + 1
		for end < len(events) && commanded(events[end]) {
			end++
		}
		found = append(found, decision{i, end})
	}
	return found
}

func oneLine(err error) string {
	const most = 400
	text := strings.Join(strings.Fields(err.Error()), " ")
	if inner := errors.Unwrap(err); inner != nil && len(text) > most {
		text = strings.Join(strings.Fields(inner.Error()), " ")
	}
	if len(text) > most {
		text = strings.ToValidUTF8(text[:most], "") + "…"
	}
	return text
}
