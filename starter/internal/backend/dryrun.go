package backend

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/armature-io/armature/activities"
	"github.com/armature-io/armature/internal/text"
	"github.com/armature-io/armature/starter/internal/cli"
	"github.com/armature-io/armature/workflows"
	"github.com/google/uuid"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/temporal"
)

// Timeouts of workflows that change nothing.
const (
	// dryRunTimeout is longer than a dry run waits for ARM.
	dryRunTimeout = 5 * time.Minute
	// diagnoseTimeout allows ten seconds for each of several unreachable credentials.
	diagnoseTimeout = time.Minute
)

// NewRunID returns the beginning of the workflow IDs of one run of a command: a prefix
// and 16 random hexadecimal digits.
func NewRunID(prefix string) string { return fmt.Sprintf("%s%016x", prefix, rand.Uint64()) }

// Plan runs a PlanResource workflow and returns its result.
func (c *Client) Plan(ctx context.Context, workflowID string, in activities.PlanResourceInput) (result activities.PlanResourceResult, err error) {
	err = c.dryRun(ctx, client.StartWorkflowOptions{
		ID: workflowID, StaticSummary: text.CutBytes("plan of "+in.Desired.ID.Type()+" "+in.Desired.ID.Short(), maxSummaryBytes),
	}, workflows.PlanResourceWorkflow, in, &result)
	return result, err
}

// Import runs an ImportResource workflow and returns its result.
func (c *Client) Import(ctx context.Context, workflowID string, in activities.ImportResourceInput) (result activities.ImportResourceResult, err error) {
	err = c.dryRun(ctx, client.StartWorkflowOptions{
		ID: workflowID, StaticSummary: text.CutBytes("import of "+in.ID.Type()+" "+in.ID.Short(), maxSummaryBytes),
	}, workflows.ImportResourceWorkflow, in, &result)
	return result, err
}

// Move runs a MoveResource workflow and returns its result.
func (c *Client) Move(ctx context.Context, workflowID string, in activities.MoveResourceInput) (result activities.MoveResourceResult, err error) {
	err = c.dryRun(ctx, client.StartWorkflowOptions{
		ID: workflowID, StaticSummary: text.CutBytes("move of "+in.Old.Type()+" "+in.Old.Short(), maxSummaryBytes),
	}, workflows.MoveResourceWorkflow, in, &result)
	return result, err
}

// Diagnose runs a Diagnose workflow: a worker checks its credentials and its way to
// Azure.
func (c *Client) Diagnose(ctx context.Context, in activities.DiagnoseInput) (result activities.DiagnoseResult, err error) {
	err = c.dryRun(ctx, client.StartWorkflowOptions{
		ID: workflows.DiagnoseIDPrefix + uuid.NewString(), StaticSummary: "armature doctor",
		WorkflowExecutionTimeout: diagnoseTimeout,
	}, workflows.DiagnoseWorkflow, in, &result)
	return result, err
}

// dryRun starts a short workflow and waits for its result. If no
// worker takes its first task, dryRun terminates it and returns a *NoWorkerError.
func (c *Client) dryRun(ctx context.Context, options client.StartWorkflowOptions, name string, in, result any) error {
	options.Priority = temporal.Priority{PriorityKey: workflows.PriorityUser}
	options.TaskQueue, options.WorkflowExecutionTimeout = c.taskQueue, cmp.Or(options.WorkflowExecutionTimeout, dryRunTimeout)
	start := time.Now()
	deadline, cancel := context.WithTimeout(ctx, readTimeout)
	run, err := c.client.ExecuteWorkflow(deadline, options, name, in)
	cancel()
	if err != nil {
		return c.translateRead(ctx, err)
	}
	waiting, stop := context.WithCancel(ctx)
	defer stop()
	ended := make(chan error, 1)
	go func() { ended <- run.Get(waiting, result) }()
	select {
	case err = <-ended:
	case <-time.After(c.workerTimeout):
		if c.isUnstarted(ctx, run) && !c.hasPollSince(ctx, start) {
			stop()
			if err := <-ended; err == nil {
				return nil // a worker completed it in the meantime
			}
			_ = c.client.TerminateWorkflow(ctx, run.GetID(), run.GetRunID(), "no worker started it")
			return &NoWorkerError{TaskQueue: c.taskQueue}
		}
		err = <-ended
	}
	if is[*temporal.TimeoutError](err) {
		return cli.Failed("it did not end within %s; is the worker older than this armature?", options.WorkflowExecutionTimeout)
	}
	return c.translate(ctx, err)
}

// isUnstarted reports whether no worker has completed the first task of a run.
func (c *Client) isUnstarted(ctx context.Context, run client.WorkflowRun) bool {
	deadline, cancel := context.WithTimeout(ctx, readTimeout)
	defer cancel()
	response, err := c.client.DescribeWorkflowExecution(deadline, run.GetID(), run.GetRunID())
	// Two events: started and scheduled.
	return err == nil && response.GetWorkflowExecutionInfo().GetHistoryLength() <= 2
}
