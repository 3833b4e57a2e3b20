package backend

import (
	"context"

	"github.com/armature-io/armature/workflows"
	commonpb "go.temporal.io/api/common/v1"
	enumspb "go.temporal.io/api/enums/v1"
	historypb "go.temporal.io/api/history/v1"
	"go.temporal.io/api/workflowservice/v1"
)

const (
	// lastEvents is the number of events at the end of a history that are searched for the
	// last pass.
	lastEvents = 50
	// maxChecks bounds the resources of which ReadChecks reads a history.
	maxChecks = 50
	// localActivity is the name of the markers of the steps that check.
	localActivity = "LocalActivity"
)

// Historian reads the ends of histories.
type Historian interface {
	LastChecks(ctx context.Context, workflowID string) (string, error)
}

// LastChecks returns the fingerprint of the links and rules of the worker that ran the last
// pass of a workflow, by the identity in its history; "" if no pass is among its last events.
// It sends one request, which is no billed action.
func (c *Client) LastChecks(ctx context.Context, workflowID string) (string, error) {
	deadline, cancel := context.WithTimeout(ctx, readTimeout)
	defer cancel()
	response, err := c.client.WorkflowService().GetWorkflowExecutionHistoryReverse(deadline, &workflowservice.GetWorkflowExecutionHistoryReverseRequest{
		Namespace: c.namespace, Execution: &commonpb.WorkflowExecution{WorkflowId: workflowID}, MaximumPageSize: lastEvents,
	})
	if err != nil {
		return "", c.translateRead(ctx, err)
	}
	return checksOf(response.GetHistory().GetEvents()), nil
}

// checksOf returns the fingerprint of the worker that completed the newest task with a check.
// The events are the newest first.
func checksOf(events []*historypb.HistoryEvent) string {
	task := int64(0)
	for _, event := range events {
		marker := event.GetMarkerRecordedEventAttributes()
		if task == 0 && marker.GetMarkerName() == localActivity {
			task = marker.GetWorkflowTaskCompletedEventId()
		}
		if event.GetEventId() == task && event.GetEventType() == enumspb.EVENT_TYPE_WORKFLOW_TASK_COMPLETED {
			_, checks := workflows.SplitIdentity(event.GetWorkflowTaskCompletedEventAttributes().GetIdentity())
			return checks
		}
	}
	return ""
}

// ReadChecks sets the fingerprints of the checks of the last passes of views; none if there are
// too many. A history that cannot be read leaves its view as it is.
func ReadChecks(ctx context.Context, from Historian, records []Record, views []View) {
	if len(records) > maxChecks {
		return
	}
	_ = ForEach(ctx, len(records), MaxParallel, func(ctx context.Context, i int) error {
		if records[i].Running {
			views[i].Checks, _ = from.LastChecks(ctx, records[i].WorkflowID)
		}
		return nil
	})
}
