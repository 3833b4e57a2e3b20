package backend

import (
	"context"

	"github.com/armature-io/armature/payload"
	"github.com/armature-io/armature/starter/internal/cli"
	"github.com/armature-io/armature/workflows"
	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/sdk/client"
)

// Freeze sends a FreezeUpdate and starts the freeze workflow if none runs.
func (c *Client) Freeze(ctx context.Context, m Message) error {
	return c.updateWithStart(ctx, m, client.StartWorkflowOptions{
		ID: workflows.FreezeWorkflowID, TaskQueue: c.taskQueue, StaticSummary: "freezes in force",
		WorkflowIDConflictPolicy: enumspb.WORKFLOW_ID_CONFLICT_POLICY_USE_EXISTING,
	}, workflows.HoldFreezeWorkflow, workflows.HoldFreezeInput{})
}

// Freezes returns the freezes in force. It needs no worker.
func (c *Client) Freezes(ctx context.Context) ([]workflows.Freeze, error) {
	deadline, cancel := context.WithTimeout(ctx, readTimeout)
	defer cancel()
	response, err := c.client.DescribeWorkflowExecution(deadline, workflows.FreezeWorkflowID, "")
	if is[*serviceerror.NotFound](err) {
		return nil, nil
	}
	if err != nil {
		return nil, c.translateRead(ctx, err)
	}
	info := response.GetWorkflowExecutionInfo()
	memo := info.GetMemo().GetFields()[workflows.MemoFrozen]
	if memo == nil || info.GetStatus() != enumspb.WORKFLOW_EXECUTION_STATUS_RUNNING {
		return nil, nil
	}
	var freezes []workflows.Freeze
	if err := payload.DataConverter().FromPayload(memo, &freezes); err != nil {
		return nil, cli.Failed("read the freezes: %w; is this armature older than the worker?", err)
	}
	return freezes, nil
}
