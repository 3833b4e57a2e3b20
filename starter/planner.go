package main

import (
	"cmp"
	"context"
	"errors"
	"time"

	"github.com/armature-io/armature/activities"
	"github.com/armature-io/armature/workflows"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/temporal"
)

// dryTimeout bounds one dry run: longer than it waits for ARM.
const dryTimeout = 5 * time.Minute

// planner runs what changes nothing on a worker and waits for the result.
type planner interface {
	// plan runs a PlanResource workflow.
	plan(ctx context.Context, workflowID string, in activities.PlanResourceInput) (activities.PlanResourceResult, error)
	// importResource runs an ImportResource workflow.
	importResource(ctx context.Context, workflowID string, in activities.ImportResourceInput) (activities.ImportResourceResult, error)
}

func (t *temporalClient) plan(ctx context.Context, workflowID string, in activities.PlanResourceInput) (activities.PlanResourceResult, error) {
	var result activities.PlanResourceResult
	err := t.dryRun(ctx, client.StartWorkflowOptions{
		ID: workflowID, StaticSummary: cutBytes("plan of "+in.Desired.ID.Type()+" "+in.Desired.ID.Short(), summaryMax),
	}, workflows.PlanResourceWorkflow, in, &result)
	return result, err
}

// dryRun starts a short workflow and waits for its result. One that no worker
// takes up is ended again.
func (t *temporalClient) dryRun(ctx context.Context, options client.StartWorkflowOptions, name string, in, result any) error {
	options.TaskQueue, options.WorkflowExecutionTimeout = t.taskQueue, cmp.Or(options.WorkflowExecutionTimeout, dryTimeout)
	begun := time.Now()
	deadline, cancel := context.WithTimeout(ctx, readTimeout)
	run, err := t.client.ExecuteWorkflow(deadline, options, name, in)
	cancel()
	if err != nil {
		return t.translateRead(ctx, err)
	}
	waiting, stop := context.WithCancel(ctx)
	defer stop()
	answered := make(chan error, 1)
	go func() { answered <- run.Get(waiting, result) }()
	slow := time.NewTimer(t.patience)
	defer slow.Stop()
	select {
	case err = <-answered:
	case <-slow.C:
		if t.untouched(ctx, run) && !t.polledSince(ctx, begun) {
			stop()
			if err := <-answered; err == nil {
				return nil // it was taken up after all
			}
			_ = t.client.TerminateWorkflow(ctx, run.GetID(), run.GetRunID(), "no worker took it up")
			return &noWorkerError{taskQueue: t.taskQueue}
		}
		err = <-answered
	}
	var late *temporal.TimeoutError
	if errors.As(err, &late) {
		return failed("it did not end within %s; is the worker older than this armature?", options.WorkflowExecutionTimeout)
	}
	return t.translate(ctx, err)
}

// untouched reports whether no worker has taken the first task of a run.
func (t *temporalClient) untouched(ctx context.Context, run client.WorkflowRun) bool {
	deadline, cancel := context.WithTimeout(ctx, readTimeout)
	defer cancel()
	answer, err := t.client.DescribeWorkflowExecution(deadline, run.GetID(), run.GetRunID())
	// Started and scheduled: two events.
	return err == nil && answer.GetWorkflowExecutionInfo().GetHistoryLength() <= 2
}
