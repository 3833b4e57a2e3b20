// Package replay replays histories against the workflows of this binary and finds
// the event at which a history and its workflow differ. It needs no connection to
// Temporal: the caller provides the histories.
package replay

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"slices"

	"github.com/armature-io/armature/internal/payload"
	"github.com/armature-io/armature/internal/text"
	"github.com/armature-io/armature/workflows"
	enumspb "go.temporal.io/api/enums/v1"
	historypb "go.temporal.io/api/history/v1"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/interceptor"
	sdklog "go.temporal.io/sdk/log"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"
	"google.golang.org/protobuf/proto"
)

// Outcomes of a replay.
const (
	OK             = "ok"
	Nondeterminism = "nondeterminism"
	Unreadable     = "unreadable"
)

// Result is the outcome of one history. Its JSON names do not change.
type Result struct {
	Name         string `json:"name"`
	WorkflowID   string `json:"workflowID,omitempty"`
	RunID        string `json:"runID,omitempty"`
	WorkflowType string `json:"workflowType,omitempty"`
	Events       int    `json:"events"`
	Result       string `json:"result"`
	// EventID is the first event that differs, 0 if it is unknown; Expected is what
	// the history has there, Found what this version does instead.
	EventID  int64  `json:"eventID,omitempty"`
	Expected string `json:"expected,omitempty"`
	Found    string `json:"found,omitempty"`
	// Message is the replayer's error, or why nothing was replayed.
	Message string `json:"message,omitempty"`
}

// Summary returns the result in one line.
func (r Result) Summary() string {
	switch r.Result {
	case OK:
		return fmt.Sprintf("ok (%s, %d events)", r.WorkflowType, r.Events)
	case Unreadable:
		return "unreadable: " + r.Message
	}
	summary := Nondeterminism
	if r.EventID > 0 {
		summary += fmt.Sprintf(" at event %d of %d", r.EventID, r.Events)
	}
	if r.Expected != "" || r.Found != "" {
		summary += fmt.Sprintf(": the history has %s, this version has %s", cmp.Or(r.Expected, "nothing"), cmp.Or(r.Found, "nothing"))
	} else {
		summary += ": " + r.Message
	}
	if r.WorkflowID != r.Name {
		summary += "; workflow " + r.WorkflowID
	}
	return summary
}

// Replayer replays histories that were written with a data converter.
type Replayer struct{ Converter converter.DataConverter }

// One reads and replays one history.
func (p Replayer) One(ctx context.Context, source Source) Result {
	result := Result{Name: source.Name, WorkflowID: source.WorkflowID, Result: OK}
	history, err := source.Read(ctx)
	if err != nil {
		result.Result, result.Message = Unreadable, err.Error()
		return result
	}
	start := startOf(history)
	if result.WorkflowID == "" {
		result.WorkflowID = cmp.Or(start.GetWorkflowId(), source.Name)
	}
	result.RunID, result.WorkflowType, result.Events = start.GetOriginalExecutionRunId(), start.GetWorkflowType().GetName(), len(history.GetEvents())
	switch {
	case start == nil:
		result.Result, result.Message = Unreadable, "it does not begin with the start of a workflow"
		return result
	case !slices.Contains(workflows.Names(), result.WorkflowType):
		result.Result, result.Message = Nondeterminism, fmt.Sprintf("this version has no workflow %s", result.WorkflowType)
		return result
	}
	tasks := workflowTasks(history)
	if len(tasks) == 0 {
		return result // without a completed workflow task any code replays
	}
	execution := workflow.Execution{ID: result.WorkflowID, RunID: result.RunID}
	if err := p.replay(history, execution); err != nil {
		result.Result, result.Message = Nondeterminism, text.Cut(text.OneLine(err.Error()), maxMessageRunes)
		p.explain(&result, history, execution, tasks)
	}
	return result
}

// replay replays one history, or the beginning of one. It replays a copy: the SDK's
// replayer changes events, and a second replay of the same events would fail.
func (p Replayer) replay(history *historypb.History, execution workflow.Execution, interceptors ...interceptor.WorkerInterceptor) error {
	replayer, err := worker.NewWorkflowReplayerWithOptions(worker.WorkflowReplayerOptions{
		DataConverter: p.Converter, Interceptors: append(interceptors, payload.NewInterceptor()), DisableDeadlockDetection: true,
	})
	if err != nil {
		return fmt.Errorf("create the replayer: %w", err)
	}
	workflows.Register(replayer)
	logger := sdklog.NewStructuredLogger(slog.New(slog.DiscardHandler))
	return replayer.ReplayWorkflowHistoryWithOptions(logger, proto.CloneOf(history), worker.ReplayWorkflowHistoryOptions{OriginalExecution: execution})
}

// startOf returns the attributes of the first event, nil if the history does not
// begin with the start of a workflow.
func startOf(history *historypb.History) *historypb.WorkflowExecutionStartedEventAttributes {
	if len(history.GetEvents()) == 0 {
		return nil
	}
	return history.GetEvents()[0].GetWorkflowExecutionStartedEventAttributes()
}

// workflowTask is one completed workflow task: events[begin:end] are its completion
// and the events of its commands.
type workflowTask struct{ begin, end int }

func workflowTasks(history *historypb.History) []workflowTask {
	events := history.GetEvents()
	var tasks []workflowTask
	for i, event := range events {
		if event.GetEventType() != enumspb.EVENT_TYPE_WORKFLOW_TASK_COMPLETED {
			continue
		}
		end := i + 1
		for end < len(events) && isCommandEvent(events[end]) {
			end++
		}
		tasks = append(tasks, workflowTask{i, end})
	}
	return tasks
}

// maxMessageRunes bounds the replayer's error in a result.
const maxMessageRunes = 400
