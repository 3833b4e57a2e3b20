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
	enumspb "go.temporal.io/api/enums/v1"
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

// TryChecks runs checks of a resource, each by itself. id is the ID of the run, which a worker
// of the task queue runs.
func (c *Client) TryChecks(ctx context.Context, id string, in activities.TryChecksInput) (result activities.TryChecksResult, err error) {
	err = c.dryRun(ctx, dryRun{workflows.TryChecksWorkflow, id, summaryOf("trial of the checks of ", in.ID), dryRunTimeout, in, ""}, &result)
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
// the worker timeout, dryRun terminates it and returns a *NoWorkerError. If workers keep
// failing its task, because they cannot read its input for example, it terminates it too.
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
	for waits := true; waits; {
		select {
		case err = <-ended:
			waits = false
		case <-time.After(c.workerTimeout):
			hopeless := c.hopeless(ctx, run, taskQueue, start)
			if hopeless == nil {
				continue
			}
			stop()
			if err := <-ended; err == nil {
				return nil // a worker completed it in the meantime
			}
			_ = c.client.TerminateWorkflow(ctx, run.GetID(), run.GetRunID(), cli.OneLine(hopeless.Error()))
			return hopeless
		}
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

// hopeless returns why a run will not end: no worker has polled since its start and taken its
// first task, or workers keep failing a task. It returns nil if it may end.
func (c *Client) hopeless(ctx context.Context, run client.WorkflowRun, taskQueue string, start time.Time) error {
	deadline, cancel := context.WithTimeout(ctx, readTimeout)
	defer cancel()
	response, err := c.client.DescribeWorkflowExecution(deadline, run.GetID(), run.GetRunID())
	if err != nil {
		return nil //nolint:nilerr // the next look may succeed
	}
	// Two events: started and scheduled.
	isUnstarted := response.GetWorkflowExecutionInfo().GetHistoryLength() <= 2
	if isUnstarted && !c.hasPollSince(ctx, taskQueue, start) {
		return &NoWorkerError{TaskQueue: taskQueue}
	}
	failing := describeStuck(nil, response.GetPendingWorkflowTask().GetAttempt())
	if failing != "" && !c.timedOut(deadline, run) {
		return cli.Failed("workers on task queue %s cannot run it: %s; read the worker's log. `armature doctor` compares keys and versions", taskQueue, failing)
	}
	return nil
}

// timedOut reports whether the workflow task of a run timed out, as it does on a busy worker,
// and did not fail. The history has the first of several attempts.
func (c *Client) timedOut(ctx context.Context, run client.WorkflowRun) bool {
	ended := enumspb.EVENT_TYPE_UNSPECIFIED
	events := c.client.GetWorkflowHistory(ctx, run.GetID(), run.GetRunID(), false, enumspb.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT)
	for events.HasNext() {
		event, err := events.Next()
		if err != nil {
			return false
		}
		switch event.GetEventType() {
		case enumspb.EVENT_TYPE_WORKFLOW_TASK_FAILED, enumspb.EVENT_TYPE_WORKFLOW_TASK_TIMED_OUT:
			ended = event.GetEventType()
		}
	}
	return ended == enumspb.EVENT_TYPE_WORKFLOW_TASK_TIMED_OUT
}
