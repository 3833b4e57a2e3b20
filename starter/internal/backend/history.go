package backend

import (
	"context"

	enumspb "go.temporal.io/api/enums/v1"
	historypb "go.temporal.io/api/history/v1"
)

// History reads the history of the latest run of a workflow.
func (c *Client) History(ctx context.Context, workflowID string) (*historypb.History, error) {
	deadline, cancel := context.WithTimeout(ctx, dryRunTimeout)
	defer cancel()
	history := &historypb.History{}
	events := c.client.GetWorkflowHistory(deadline, workflowID, "", false, enumspb.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT)
	for events.HasNext() {
		event, err := events.Next()
		if err != nil {
			return nil, c.translateRead(ctx, err)
		}
		history.Events = append(history.Events, event)
	}
	return history, nil
}
