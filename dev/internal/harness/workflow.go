package harness

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	commonpb "go.temporal.io/api/common/v1"
	historypb "go.temporal.io/api/history/v1"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/api/workflowservice/v1"
	"google.golang.org/protobuf/proto"

	"github.com/armature-io/armature/dev/internal/histories"
	"github.com/armature-io/armature/dev/temporaldev"
	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/workflows"
)

// WorkflowID returns the workflow ID of a resource ID.
func (w *World) WorkflowID(id string) string {
	w.T.Helper()
	parsed, err := resource.ParseID(id)
	if err != nil {
		w.T.Fatal(err)
	}
	return parsed.WorkflowID()
}

// Status queries the workflow of a resource. The error is the query's.
func (w *World) Status(id string) (workflows.Status, error) {
	w.T.Helper()
	ctx, cancel := context.WithTimeout(w.T.Context(), 20*time.Second)
	defer cancel()
	var status workflows.Status
	value, err := w.Client.QueryWorkflow(ctx, w.WorkflowID(id), "", workflows.StatusQuery)
	if err == nil {
		err = value.Get(&status)
	}
	return status, err
}

// UntilStatus waits until the status of a resource meets the condition, and
// returns it.
func (w *World) UntilStatus(timeout time.Duration, id, what string, condition func(workflows.Status) bool) workflows.Status {
	w.T.Helper()
	var last workflows.Status
	w.Until(timeout, id+" "+what, func() (bool, string) {
		status, err := w.Status(id)
		if err != nil {
			return false, err.Error()
		}
		last = status
		return condition(status), fmt.Sprintf("phase %s, pass %d, %s: %s", status.Phase, status.Pass, status.Condition.Reason, status.Condition.Message)
	})
	return last
}

// UntilPhase waits until a resource is in a phase, and returns its status.
func (w *World) UntilPhase(timeout time.Duration, id string, phase workflows.Phase) workflows.Status {
	w.T.Helper()
	return w.UntilStatus(timeout, id, "is "+string(phase), func(s workflows.Status) bool { return s.Phase == phase })
}

// History returns the history of the latest run of a resource's workflow.
func (w *World) History(id string) *historypb.History {
	w.T.Helper()
	history, err := histories.Fetch(w.T.Context(), w.Client, w.WorkflowID(id), "")
	if err != nil {
		w.T.Fatal(err)
	}
	return history
}

// RunID returns the ID of the latest run of a resource's workflow.
func (w *World) RunID(id string) string {
	w.T.Helper()
	description, err := w.Client.DescribeWorkflowExecution(w.T.Context(), w.WorkflowID(id), "")
	if err != nil {
		w.T.Fatal(err)
	}
	return description.GetWorkflowExecutionInfo().GetExecution().GetRunId()
}

// HistoryLines returns the history of the latest run as text for searches and
// messages, a line for each event with its payloads decoded.
func (w *World) HistoryLines(id string) string {
	w.T.Helper()
	lines, err := histories.Lines(w.T.Context(), w.History(id))
	if err != nil {
		w.T.Fatal(err)
	}
	return strings.Join(lines, "\n")
}

// AllHistoryLines returns what [World.HistoryLines] returns, of every run of a resource's
// workflow that visibility lists.
func (w *World) AllHistoryLines(id string) string {
	w.T.Helper()
	var all []string
	for _, execution := range w.executions("WorkflowId = '" + w.WorkflowID(id) + "'") {
		history, err := histories.Fetch(w.T.Context(), w.Client, execution.GetWorkflowId(), execution.GetRunId())
		if err != nil {
			w.T.Fatal(err)
		}
		lines, err := histories.Lines(w.T.Context(), history)
		if err != nil {
			w.T.Fatal(err)
		}
		all = append(all, lines...)
	}
	return strings.Join(all, "\n")
}

// Texts returns every text that Temporal stores of the world's workflows and of activities
// without a workflow, decoded: histories of all runs, descriptions, memos, search
// attributes, inputs, results and failures.
func (w *World) Texts() []string {
	w.T.Helper()
	var texts []string
	for _, execution := range w.executions("") {
		history, err := histories.Fetch(w.T.Context(), w.Client, execution.GetWorkflowId(), execution.GetRunId())
		if err != nil {
			w.T.Fatal(err)
		}
		texts = append(texts, w.texts(history)...)
		description, err := w.Client.DescribeWorkflowExecution(w.T.Context(), execution.GetWorkflowId(), execution.GetRunId())
		if err != nil {
			w.T.Fatal(err)
		}
		texts = append(texts, w.texts(description)...)
	}
	for _, described := range w.StandaloneActivities() {
		texts = append(texts, w.texts(described)...)
	}
	return texts
}

// ClearTexts returns what an operator of Temporal can read of all workflows and activities
// without a workflow, by the name of the field, and the number of encrypted payloads.
func (w *World) ClearTexts() (clear map[string][]string, sealed int) {
	w.T.Helper()
	clear = map[string][]string{}
	read := func(message proto.Message) {
		found, count := histories.Clear(message)
		for name, texts := range found {
			clear[name] = append(clear[name], texts...)
		}
		sealed += count
	}
	for _, execution := range w.executions("") {
		history, err := histories.Fetch(w.T.Context(), w.Client, execution.GetWorkflowId(), execution.GetRunId())
		if err != nil {
			w.T.Fatal(err)
		}
		read(history)
		description, err := w.Client.DescribeWorkflowExecution(w.T.Context(), execution.GetWorkflowId(), execution.GetRunId())
		if err != nil {
			w.T.Fatal(err)
		}
		read(description)
	}
	for _, described := range w.StandaloneActivities() {
		read(described)
	}
	return clear, sealed
}

func (w *World) texts(message proto.Message) []string {
	w.T.Helper()
	texts, err := histories.Texts(message)
	if err != nil {
		w.T.Fatal(err)
	}
	return texts
}

// executions returns all runs in visibility that match a query; "" is all. A page that a busy
// server does not return in time is requested again.
func (w *World) executions(query string) []*commonpb.WorkflowExecution {
	w.T.Helper()
	var executions []*commonpb.WorkflowExecution
	request := &workflowservice.ListWorkflowExecutionsRequest{Namespace: temporaldev.Namespace, Query: query}
	for {
		var page *workflowservice.ListWorkflowExecutionsResponse
		w.Until(time.Minute, "a page of workflow runs", func() (bool, string) {
			var err error
			page, err = w.Client.ListWorkflow(w.T.Context(), request)
			_, late := errors.AsType[*serviceerror.DeadlineExceeded](err)
			if err != nil && !late && !errors.Is(err, context.DeadlineExceeded) {
				w.T.Fatal(err)
			}
			return err == nil, fmt.Sprint(err)
		})
		for _, info := range page.GetExecutions() {
			executions = append(executions, info.GetExecution())
		}
		if request.NextPageToken = page.GetNextPageToken(); len(request.NextPageToken) == 0 {
			return executions
		}
	}
}
