package main

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/workflows"
	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/serviceerror"
	taskqueuepb "go.temporal.io/api/taskqueue/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/temporal"
)

// acceptedUpdateCompleted is the type of the failure with which the server
// answers an update that waits while its run ends or continues as new. All our
// updates may be repeated.
const acceptedUpdateCompleted = "AcceptedUpdateCompletedWorkflow"

// updateTries bounds how often such an update is sent.
const updateTries = 3

func (t *temporalClient) update(ctx context.Context, workflowID string, m message) error {
	return t.send(ctx, m, func(ctx context.Context) (client.WorkflowUpdateHandle, error) {
		return t.client.UpdateWorkflow(ctx, updateOptions(workflowID, m))
	})
}

func (t *temporalClient) updateWithStart(ctx context.Context, desired resource.Desired, m message) error {
	return t.send(ctx, m, func(ctx context.Context) (client.WorkflowUpdateHandle, error) {
		start := t.client.NewWithStartWorkflowOperation(startOptions(desired, t.taskQueue),
			workflows.ReconcileResourceWorkflow, workflows.ReconcileResourceInput{})
		handle, err := t.client.UpdateWithStartWorkflow(ctx, client.UpdateWithStartWorkflowOptions{
			StartWorkflowOperation: start,
			UpdateOptions:          updateOptions(desired.ID.WorkflowID(), m),
		})
		return handle, whileClosing(err)
	})
}

// closingError: the run that an update-with-start found ended in the same
// moment. The next try starts another one.
type closingError struct{ error }

func (e closingError) Unwrap() error { return e.error }

// whileClosing marks what an update-with-start is answered then; there is always
// a run for it otherwise.
func whileClosing(err error) error {
	var notFound *serviceerror.NotFound
	var aborted *serviceerror.Aborted
	if errors.As(err, &notFound) || errors.As(err, &aborted) {
		return closingError{err}
	}
	return err
}

// again reports whether an update met the end of its run and may be sent again.
func again(err error) bool {
	var closing closingError
	var application *temporal.ApplicationError
	return errors.As(err, &closing) || errors.As(err, &application) && application.Type() == acceptedUpdateCompleted
}

// send waits for the answer of one update. Its time begins when it is sent,
// however many wait for their turn.
func (t *temporalClient) send(ctx context.Context, m message, call func(context.Context) (client.WorkflowUpdateHandle, error)) error {
	begun := time.Now()
	deadline, cancel := context.WithTimeout(ctx, t.patience)
	defer cancel()
	var err error
	for range updateTries {
		var handle client.WorkflowUpdateHandle
		if handle, err = call(deadline); err == nil {
			err = handle.Get(deadline, m.result)
		}
		if !again(err) {
			break
		}
	}
	err = t.translate(ctx, err)
	var silent *noWorkerError
	if errors.As(err, &silent) {
		silent.waited, silent.busy = t.patience, t.polledSince(ctx, begun)
	}
	return err
}

// polledSince reports whether a worker asked the task queue for work since a
// time. One that was killed is listed for minutes, but asks no more.
func (t *temporalClient) polledSince(ctx context.Context, since time.Time) bool {
	if t.client == nil {
		return false
	}
	deadline, cancel := context.WithTimeout(ctx, queryTimeout)
	defer cancel()
	answer, err := t.client.DescribeTaskQueue(deadline, t.taskQueue, enumspb.TASK_QUEUE_TYPE_WORKFLOW)
	if err != nil {
		return false
	}
	return slices.ContainsFunc(answer.GetPollers(), func(p *taskqueuepb.PollerInfo) bool {
		return p.GetLastAccessTime().AsTime().After(since)
	})
}

func updateOptions(workflowID string, m message) client.UpdateWorkflowOptions {
	return client.UpdateWorkflowOptions{
		WorkflowID: workflowID, UpdateName: m.name, Args: []any{m.input},
		WaitForStage: client.WorkflowUpdateStageCompleted,
	}
}
