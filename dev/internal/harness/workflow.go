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
	"go.temporal.io/sdk/client"
	"google.golang.org/protobuf/proto"

	"github.com/armature-io/armature/dev/internal/histories"
	"github.com/armature-io/armature/dev/temporaldev"
	"github.com/armature-io/armature/internal/payload"
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
// attributes, inputs, results and failures. Encrypted payloads stay as they are.
func (w *World) Texts() []string {
	w.T.Helper()
	return w.allTexts(histories.Texts)
}

// DecryptedTexts is Texts for a reader with keys.
func (w *World) DecryptedTexts(keys *payload.Converters) []string {
	w.T.Helper()
	return w.allTexts(func(message proto.Message) ([]string, error) { return histories.DecryptedTexts(message, keys) })
}

func (w *World) allTexts(of func(proto.Message) ([]string, error)) []string {
	w.T.Helper()
	var texts []string
	add := func(message proto.Message) {
		found, err := of(message)
		if err != nil {
			w.T.Fatal(err)
		}
		texts = append(texts, found...)
	}
	for _, execution := range w.executions("") {
		history, err := histories.Fetch(w.T.Context(), w.Client, execution.GetWorkflowId(), execution.GetRunId())
		if err != nil {
			w.T.Fatal(err)
		}
		add(history)
		description, err := w.Client.DescribeWorkflowExecution(w.T.Context(), execution.GetWorkflowId(), execution.GetRunId())
		if err != nil {
			w.T.Fatal(err)
		}
		add(description)
	}
	for _, described := range w.StandaloneActivities() {
		add(described)
	}
	return texts
}

// ClearTexts returns what an operator of Temporal can read of all workflows and activities
// without a workflow, by the name of the field, and the numbers of encrypted payloads, and of
// those that are not bound to their workflow. Payloads that are clear only for freezes, which
// are exempt, begin with "freeze ".
func (w *World) ClearTexts() (clear map[string][]string, sealed, elsewhere map[string]int) {
	w.T.Helper()
	clear, sealed, elsewhere = map[string][]string{}, map[string]int{}, map[string]int{}
	exempt := map[string][]string{}
	read := func(workflowID string, message proto.Message, isFreeze bool) {
		found := histories.Read(message)
		for name, texts := range found.Fields {
			clear[name] = append(clear[name], texts...)
		}
		into := clear
		if isFreeze {
			into = exempt
		}
		for name, texts := range found.Clear {
			into[name] = append(into[name], texts...)
		}
		own := payload.Place{}
		if workflowID != "" {
			own = payload.Place{Namespace: client.DefaultNamespace, WorkflowID: workflowID}
		}
		for name, of := range found.Sealed {
			sealed[name] += len(of)
			for _, place := range of {
				if place != own {
					elsewhere[name]++
				}
			}
		}
	}
	for _, execution := range w.executions("") {
		history, err := histories.Fetch(w.T.Context(), w.Client, execution.GetWorkflowId(), execution.GetRunId())
		if err != nil {
			w.T.Fatal(err)
		}
		isFreeze := execution.GetWorkflowId() == workflows.FreezeWorkflowID
		read(execution.GetWorkflowId(), history, isFreeze)
		description, err := w.Client.DescribeWorkflowExecution(w.T.Context(), execution.GetWorkflowId(), execution.GetRunId())
		if err != nil {
			w.T.Fatal(err)
		}
		read(execution.GetWorkflowId(), description, isFreeze)
	}
	for _, described := range w.StandaloneActivities() {
		read("", described, described.GetInfo().GetActivityType().GetName() == workflows.ConfirmFreezeActivity)
	}
	for name, texts := range exempt {
		if _, everywhere := clear[name]; !everywhere {
			name = "freeze " + name
		}
		clear[name] = append(clear[name], texts...)
	}
	return clear, sealed, elsewhere
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
