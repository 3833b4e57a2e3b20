package fleet

import (
	"context"
	"fmt"

	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/client"
)

// askKeeper sends requests in one update to a workflow that keeps something for all workers, and
// starts the workflow if none runs. It returns one response for each request.
func askKeeper[In, Out any](
	ctx context.Context, f *Fleet, start client.StartWorkflowOptions, workflow string, input any, update string, requests []In,
) ([]Out, error) {
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	start.TaskQueue, start.WorkflowIDConflictPolicy = f.options.TaskQueue, enumspb.WORKFLOW_ID_CONFLICT_POLICY_USE_EXISTING
	handle, err := f.temporal.UpdateWithStartWorkflow(ctx, client.UpdateWithStartWorkflowOptions{
		StartWorkflowOperation: f.temporal.NewWithStartWorkflowOperation(start, workflow, input),
		UpdateOptions: client.UpdateWorkflowOptions{
			WorkflowID: start.ID, UpdateName: update, Args: []any{requests}, WaitForStage: client.WorkflowUpdateStageCompleted,
		},
	})
	var responses []Out
	if err == nil {
		err = handle.Get(ctx, &responses)
	}
	if err == nil && len(responses) != len(requests) {
		err = fmt.Errorf("%s returned %d responses to %d requests", start.ID, len(responses), len(requests))
	}
	return responses, err //nolint:wrapcheck // the callers add the purpose
}
