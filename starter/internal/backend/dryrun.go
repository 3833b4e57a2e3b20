package backend

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/armature-io/armature/activities"
	"github.com/armature-io/armature/internal/text"
	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/starter/internal/cli"
	"github.com/armature-io/armature/workflows"
	"github.com/google/uuid"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/temporal"
)

// Timeouts of runs that change nothing.
const (
	// dryRunTimeout is longer than a dry run waits for ARM.
	dryRunTimeout = 5 * time.Minute
	// diagnoseTimeout allows ten seconds for each of several unreachable credentials.
	diagnoseTimeout = time.Minute
)

// dryRun is one run of a workflow that changes nothing.
type dryRun struct {
	workflow, id, summary string
	timeout               time.Duration
	in                    any
	// taskQueue is the queue of the worker, "" for that of the client.
	taskQueue string
}

// NewRunID returns the beginning of the IDs of one run of a command: a prefix and 16 random
// hexadecimal digits.
func NewRunID(prefix string) string { return fmt.Sprintf("%s%016x", prefix, rand.Uint64()) }

// Plan returns what a pass would do to a resource. id is the ID of the run.
func (c *Client) Plan(ctx context.Context, id string, in activities.PlanResourceInput) (result activities.PlanResourceResult, err error) {
	err = c.dryRun(ctx, dryRun{workflows.PlanResourceWorkflow, id, summaryOf("plan of ", in.Desired.ID), dryRunTimeout, in, ""}, &result)
	return result, err
}

// PlanDeletion returns what a deletion of a resource depends on. id is the ID of the run,
// which a worker of the task queue runs.
func (c *Client) PlanDeletion(ctx context.Context, id, taskQueue string, in activities.PlanDeletionInput) (result activities.PlanDeletionResult, err error) {
	run := dryRun{workflows.PlanDeletionWorkflow, id, summaryOf("plan of the deletion of ", in.ID), dryRunTimeout, in, taskQueue}
	err = c.dryRun(ctx, run, &result)
	return result, err
}

// Import returns what the manifest of a resource would contain, or its outputs. id is the
// ID of the run.
func (c *Client) Import(ctx context.Context, id string, in activities.ImportResourceInput) (result activities.ImportResourceResult, err error) {
	err = c.dryRun(ctx, dryRun{workflows.ImportResourceWorkflow, id, summaryOf("import of ", in.ID), dryRunTimeout, in, ""}, &result)
	return result, err
}

// Move proves that a resource was moved. id is the ID of the run.
func (c *Client) Move(ctx context.Context, id string, in activities.MoveResourceInput) (result activities.MoveResourceResult, err error) {
	err = c.dryRun(ctx, dryRun{workflows.MoveResourceWorkflow, id, summaryOf("move of ", in.Old), dryRunTimeout, in, ""}, &result)
	return result, err
}

// Diagnose makes a worker check its credentials and its way to Azure.
func (c *Client) Diagnose(ctx context.Context, in activities.DiagnoseInput) (result activities.DiagnoseResult, err error) {
	id := workflows.DiagnoseIDPrefix + uuid.NewString()
	err = c.dryRun(ctx, dryRun{workflows.DiagnoseWorkflow, id, "armature doctor", diagnoseTimeout, in, ""}, &result)
	return result, err
}

func summaryOf(verb string, id resource.ID) string {
	return text.CutBytes(verb+id.Type()+" "+id.Short(), workflows.MaxSummaryBytes)
}

// dryRun runs a workflow and waits for its result. If no worker takes its first task within
// the worker timeout, dryRun terminates it and returns a *NoWorkerError.
func (c *Client) dryRun(ctx context.Context, d dryRun, result any) error {
	if err := c.checkWrite(ctx); err != nil {
		return err
	}
	start, taskQueue := time.Now(), cmp.Or(d.taskQueue, c.taskQueue)
	deadline, cancel := context.WithTimeout(ctx, readTimeout)
	run, err := c.client.ExecuteWorkflow(deadline, client.StartWorkflowOptions{
		ID: d.id, StaticSummary: d.summary, TaskQueue: taskQueue, WorkflowExecutionTimeout: d.timeout,
		Priority: temporal.Priority{PriorityKey: workflows.PriorityUser},
	}, d.workflow, d.in)
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
		if c.isUnstarted(ctx, run) && !c.hasPollSince(ctx, taskQueue, start) {
			stop()
			if err := <-ended; err == nil {
				return nil // a worker completed it in the meantime
			}
			_ = c.client.TerminateWorkflow(ctx, run.GetID(), run.GetRunID(), unstartedReason)
			return &NoWorkerError{TaskQueue: taskQueue}
		}
		err = <-ended
	}
	if is[*temporal.TimeoutError](err) {
		// Temporal keeps the error of the last attempt.
		if last, ok := errors.AsType[*temporal.ApplicationError](err); ok {
			return cli.Failed("it did not end within %s; its last attempt failed: %s", d.timeout, cli.OneLine(last.Message()))
		}
		return cli.Failed("it did not end within %s; is the worker older than this armature?", d.timeout)
	}
	return c.translate(ctx, err)
}

// unstartedReason is why a run is terminated, for the Web UI.
const unstartedReason = "no worker started it"

// isUnstarted reports whether no worker has completed the first task of a run.
func (c *Client) isUnstarted(ctx context.Context, run client.WorkflowRun) bool {
	deadline, cancel := context.WithTimeout(ctx, readTimeout)
	defer cancel()
	response, err := c.client.DescribeWorkflowExecution(deadline, run.GetID(), run.GetRunID())
	// Two events: started and scheduled.
	return err == nil && response.GetWorkflowExecutionInfo().GetHistoryLength() <= 2
}
