package backend

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/api/workflowservice/v1"
)

// maxRuns bounds the runs of one workflow that are read.
const maxRuns = 1000

// RunsSince reads the history of the current run of a workflow, and those of the runs that it
// continues, as far back as a time and as Temporal still has them; oldest first. Unlike Runs it
// sends no list, of which a namespace allows few.
func (c *Client) RunsSince(ctx context.Context, workflowID string, since time.Time) ([]HistoryRun, error) {
	deadline, cancel := context.WithTimeout(ctx, dryRunTimeout)
	defer cancel()
	var runs []HistoryRun
	for runID := ""; len(runs) < maxRuns; {
		run, err := c.run(deadline, workflowID, runID)
		if is[*serviceerror.NotFound](err) && len(runs) > 0 {
			break // past the retention
		}
		if err != nil {
			return nil, c.translateRead(ctx, err)
		}
		runs = append(runs, run)
		if runID = run.Continued(); runID == "" || !run.Started.After(since) {
			break
		}
	}
	slices.Reverse(runs)
	return runs, nil
}

// run reads the history of one run, the current one if its ID is "".
func (c *Client) run(ctx context.Context, workflowID, runID string) (HistoryRun, error) {
	run := HistoryRun{WorkflowID: workflowID, RunID: runID}
	events := c.client.GetWorkflowHistory(ctx, workflowID, runID, false, enumspb.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT)
	for events.HasNext() {
		event, err := events.Next()
		if err != nil {
			return run, err //nolint:wrapcheck // the caller translates it
		}
		run.Events = append(run.Events, event)
	}
	if len(run.Events) > 0 {
		run.Started = run.Events[0].GetEventTime().AsTime()
		run.RunID = cmp.Or(runID, run.Events[0].GetWorkflowExecutionStartedEventAttributes().GetOriginalExecutionRunId())
	}
	return run, nil
}

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
		run, err := c.run(deadline, workflowID, runs[i].RunID)
		if err != nil {
			return nil, c.translateRead(ctx, err)
		}
		runs[i].Events = run.Events
	}
	return runs, nil
}
