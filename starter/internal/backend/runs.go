package backend

import (
	"context"
	"fmt"
	"slices"
	"strings"

	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/workflowservice/v1"
)

// maxRuns bounds the runs of one workflow that are read.
const maxRuns = 1000

// Runs reads the histories of all runs of a workflow that Temporal still has, oldest first.
func (c *Client) Runs(ctx context.Context, workflowID string) ([]HistoryRun, error) {
	deadline, cancel := context.WithTimeout(ctx, dryRunTimeout)
	defer cancel()
	var runs []HistoryRun
	var token []byte
	for {
		page, err := c.client.ListWorkflow(deadline, &workflowservice.ListWorkflowExecutionsRequest{
			Namespace: c.namespace, Query: fmt.Sprintf("WorkflowId = '%s'", strings.ReplaceAll(workflowID, "'", "''")), NextPageToken: token,
		})
		if err != nil {
			return nil, c.translateRead(ctx, err)
		}
		for _, info := range page.GetExecutions() {
			runs = append(runs, HistoryRun{WorkflowID: workflowID, RunID: info.GetExecution().GetRunId(), Started: info.GetStartTime().AsTime()})
		}
		if token = page.GetNextPageToken(); len(token) == 0 || len(runs) >= maxRuns {
			break
		}
	}
	slices.SortFunc(runs, func(a, b HistoryRun) int { return a.Started.Compare(b.Started) })
	for i := range runs {
		events := c.client.GetWorkflowHistory(deadline, workflowID, runs[i].RunID, false, enumspb.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT)
		for events.HasNext() {
			event, err := events.Next()
			if err != nil {
				return nil, c.translateRead(ctx, err)
			}
			runs[i].Events = append(runs[i].Events, event)
		}
	}
	return runs, nil
}
