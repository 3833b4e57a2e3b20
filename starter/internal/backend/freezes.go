package backend

import (
	"cmp"
	"context"
	"time"

	"github.com/armature-io/armature/starter/internal/cli"
	"github.com/armature-io/armature/workflows"
	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/temporal"
)

// Freeze adds a freeze. Without a running freeze workflow it starts one with the freeze in
// its memo, so that it is in force also while no worker runs; freezes of a run that was
// interrupted stay. With one it sends a FreezeUpdate.
func (c *Client) Freeze(ctx context.Context, freeze workflows.Freeze) (workflows.FreezeResult, error) {
	var result workflows.FreezeResult
	m := Message{Name: workflows.FreezeUpdate, Input: freeze, Result: &result}
	last, err := c.lastFreezes(ctx)
	if err != nil {
		return result, err
	}
	if !last.running {
		freeze.Since = time.Now().UTC()
		in, changed := last.Add(freeze)
		started, err := c.startFreezes(withStartingFreeze(ctx, freeze), in, enumspb.WORKFLOW_ID_CONFLICT_POLICY_FAIL)
		if err != nil || started {
			return workflows.FreezeResult{Changed: changed, Frozen: in.Frozen}, err
		}
	}
	err = c.Update(ctx, workflows.FreezeWorkflowID, m)
	if !is[*NoWorkerError](err) {
		return result, err
	}
	// No worker adds the freeze to the run that keeps the others: another run replaces it.
	if last, err = c.lastFreezes(ctx); err != nil {
		return result, err
	}
	freeze.Since = time.Now().UTC()
	in, changed := last.Add(freeze)
	if !changed {
		return workflows.FreezeResult{Frozen: in.Frozen}, nil
	}
	_, err = c.startFreezes(withStartingFreeze(ctx, freeze), in, enumspb.WORKFLOW_ID_CONFLICT_POLICY_TERMINATE_EXISTING)
	return workflows.FreezeResult{Changed: true, Frozen: in.Frozen}, err
}

// Unfreeze lifts the freeze with the same selector; where there is none and everything is
// frozen, it releases the resources with the selector. The error is ErrNotManaged where
// nothing is frozen.
func (c *Client) Unfreeze(ctx context.Context, freeze workflows.Freeze) (workflows.FreezeResult, error) {
	var result workflows.FreezeResult
	freeze.Release = freeze.Selector != ""
	m := Message{Name: workflows.UnfreezeUpdate, Input: freeze, Result: &result}
	last, err := c.lastFreezes(ctx)
	if err == nil && !last.running && len(last.Frozen) > 0 {
		_, err = c.startFreezes(ctx, last.HoldFreezeInput, enumspb.WORKFLOW_ID_CONFLICT_POLICY_FAIL)
	}
	if err != nil {
		return result, err
	}
	err = c.Update(ctx, workflows.FreezeWorkflowID, m)
	return result, err
}

// startFreezes starts the freeze workflow with its freezes, and reports false if one runs
// meanwhile that the policy keeps.
func (c *Client) startFreezes(ctx context.Context, in workflows.HoldFreezeInput, running enumspb.WorkflowIdConflictPolicy) (bool, error) {
	if err := c.checkWrite(ctx); err != nil {
		return false, err
	}
	deadline, cancel := context.WithTimeout(ctx, c.workerTimeout)
	defer cancel()
	_, err := c.client.ExecuteWorkflow(deadline, client.StartWorkflowOptions{
		ID: workflows.FreezeWorkflowID, TaskQueue: c.taskQueue, StaticSummary: "freezes in force",
		WorkflowIDConflictPolicy: running, WorkflowExecutionErrorWhenAlreadyStarted: true,
		Priority: temporal.Priority{PriorityKey: workflows.PriorityBrake},
		Memo:     in.Memo(),
	}, workflows.HoldFreezeWorkflow, in)
	if is[*serviceerror.WorkflowExecutionAlreadyStarted](err) {
		return false, nil
	}
	if err != nil {
		return false, c.translateRead(ctx, err)
	}
	return true, nil
}

// lastFreezes are the freezes in the memo of the last run that leaves any in force.
type lastFreezes struct {
	workflows.HoldFreezeInput
	// running is set while the run is open; otherwise it was interrupted.
	running bool
}

// Freezes returns the freezes in force, and whether the workflow that keeps them was
// interrupted: they last all the same. It needs no worker.
func (c *Client) Freezes(ctx context.Context) (freezes []workflows.Freeze, interrupted bool, err error) {
	last, err := c.lastFreezes(ctx)
	return last.Frozen, len(last.Frozen) > 0 && !last.running, err
}

func (c *Client) lastFreezes(ctx context.Context) (lastFreezes, error) {
	deadline, cancel := context.WithTimeout(ctx, readTimeout)
	defer cancel()
	response, err := c.client.DescribeWorkflowExecution(deadline, workflows.FreezeWorkflowID, "")
	if is[*serviceerror.NotFound](err) {
		return lastFreezes{}, nil
	}
	if err != nil {
		return lastFreezes{}, c.translateRead(ctx, err)
	}
	info := response.GetWorkflowExecutionInfo()
	last := lastFreezes{running: info.GetStatus() == enumspb.WORKFLOW_EXECUTION_STATUS_RUNNING}
	for name, into := range map[string]any{workflows.MemoFrozen: &last.Frozen, workflows.MemoStarts: &last.Starts} {
		if memo := info.GetMemo().GetFields()[name]; memo != nil {
			if err := c.converters.Data.FromPayload(memo, into); err != nil {
				return last, cmp.Or(unreadable(err), error(cli.Failed("read the freezes: %w; is this armature older than the worker?", err)))
			}
		}
	}
	if !workflows.FreezesLast(info.GetStatus()) {
		last.Frozen = nil
	}
	return last, nil
}
