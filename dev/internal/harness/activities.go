package harness

import (
	"errors"
	"time"

	"go.temporal.io/api/serviceerror"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"

	"github.com/armature-io/armature/dev/internal/histories"
	"github.com/armature-io/armature/dev/temporaldev"
)

// RunStandalone runs an activity without a workflow and returns its error.
func (w *World) RunStandalone(taskQueue, name string, input any) error {
	w.T.Helper()
	handle, err := w.Client.ExecuteActivity(w.T.Context(), client.StartActivityOptions{
		ID: "standalone:" + name, TaskQueue: taskQueue, ScheduleToCloseTimeout: time.Minute,
	}, name, input)
	if err != nil {
		w.T.Fatal(err)
	}
	return handle.Get(w.T.Context(), nil) //nolint:wrapcheck // the test looks at it
}

// WorkflowEvents returns the number of workflows that match a query, and the number and size
// of all of their events.
func (w *World) WorkflowEvents(query string) (runs, events, bytes int) {
	w.T.Helper()
	executions := w.executions(query)
	for _, execution := range executions {
		history, err := histories.Fetch(w.T.Context(), w.Client, execution.GetWorkflowId(), execution.GetRunId())
		if err != nil {
			w.T.Fatal(err)
		}
		events, bytes = events+len(history.GetEvents()), bytes+histories.Bytes(history.GetEvents())
	}
	return len(executions), events, bytes
}

// StandaloneActivities describes all activities without a workflow, with everything that
// Temporal stores of them: workers confirm freezes with such activities.
func (w *World) StandaloneActivities() []*workflowservice.DescribeActivityExecutionResponse {
	w.T.Helper()
	var all []*workflowservice.DescribeActivityExecutionResponse
	service := w.Client.WorkflowService()
	request := &workflowservice.ListActivityExecutionsRequest{Namespace: temporaldev.Namespace}
	for {
		var page *workflowservice.ListActivityExecutionsResponse
		w.Until(30*time.Second, "listing activities is within the limit of the server", func() (bool, string) {
			var err error
			if page, err = service.ListActivityExecutions(w.T.Context(), request); err == nil {
				return true, ""
			}
			// The SDK repeats other lists by itself.
			if _, limited := errors.AsType[*serviceerror.ResourceExhausted](err); !limited {
				w.T.Fatal(err)
			}
			return false, err.Error()
		})
		for _, info := range page.GetExecutions() {
			described, err := service.DescribeActivityExecution(w.T.Context(), &workflowservice.DescribeActivityExecutionRequest{
				Namespace: temporaldev.Namespace, ActivityId: info.GetActivityId(), RunId: info.GetRunId(),
				IncludeInput: true, IncludeOutcome: true, IncludeHeartbeatDetails: true, IncludeLastFailure: true,
			})
			if err != nil {
				w.T.Fatal(err)
			}
			all = append(all, described)
		}
		if request.NextPageToken = page.GetNextPageToken(); len(request.NextPageToken) == 0 {
			return all
		}
	}
}
