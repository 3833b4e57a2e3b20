package backend

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/armature-io/armature/fleet"
	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/workflows"
	"github.com/google/uuid"
	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/serviceerror"
	taskqueuepb "go.temporal.io/api/taskqueue/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/temporal"
)

// Message is one update. Result is a pointer that receives the result.
type Message struct {
	Name   string
	Input  any
	Result any
}

// acceptedUpdateCompleted is the type of the server's failure for an update that
// waits while its run ends or continues as new. Every update of Armature may be
// repeated.
const acceptedUpdateCompleted = "AcceptedUpdateCompletedWorkflow"

// maxUpdateAttempts bounds the attempts of such an update.
const maxUpdateAttempts = 3

// notReadyPause is the pause before an update is sent again that the server refused
// because the workflow's task keeps failing.
const notReadyPause = 500 * time.Millisecond

// Update sends a message to a running workflow. It returns ErrNotManaged when none
// runs.
func (c *Client) Update(ctx context.Context, workflowID string, m Message) error {
	if err := c.checkWrite(ctx); err != nil {
		return err
	}
	options := updateOptions(workflowID, m)
	return c.send(ctx, m, func(ctx context.Context) (client.WorkflowUpdateHandle, error) {
		return c.client.UpdateWorkflow(ctx, options)
	})
}

// UpdateWithStart sends a message to the workflow of a resource and starts the
// workflow if none runs.
func (c *Client) UpdateWithStart(ctx context.Context, desired resource.Desired, m Message) error {
	return c.updateWithStart(ctx, m, workflows.StartOptions(desired, c.taskQueue), workflows.ReconcileResourceWorkflow, workflows.ReconcileResourceInput{})
}

func (c *Client) updateWithStart(ctx context.Context, m Message, options client.StartWorkflowOptions, workflow string, input any) error {
	if err := c.checkWrite(ctx); err != nil {
		return err
	}
	update := updateOptions(options.ID, m)
	return c.send(ctx, m, func(ctx context.Context) (client.WorkflowUpdateHandle, error) {
		handle, err := c.client.UpdateWithStartWorkflow(ctx, client.UpdateWithStartWorkflowOptions{
			StartWorkflowOperation: c.client.NewWithStartWorkflowOperation(options, workflow, input),
			UpdateOptions:          update,
		})
		return handle, markClosing(err)
	})
}

// closingError means that the run found by an update-with-start ended at the same
// moment. The next attempt starts a new run.
type closingError struct{ error }

func (e closingError) Unwrap() error { return e.error }

// markClosing wraps the errors that the server returns for a closing run; without
// that race an update-with-start always has a run.
func markClosing(err error) error {
	if is[*serviceerror.NotFound](err) || is[*serviceerror.Aborted](err) {
		return closingError{err}
	}
	return err
}

// isRunEnd reports whether an update failed only because its run ended.
func isRunEnd(err error) bool {
	application, ok := errors.AsType[*temporal.ApplicationError](err)
	return is[closingError](err) || ok && application.Type() == acceptedUpdateCompleted
}

// complete sends an update with call and waits for its result. While the server refuses it
// because the workflow's task keeps failing, complete sends it again until ctx ends: a
// worker that started a moment ago may complete the task.
func complete(ctx context.Context, m Message, call func(context.Context) (client.WorkflowUpdateHandle, error)) error {
	for {
		handle, err := call(ctx)
		if err == nil {
			return handle.Get(ctx, m.Result)
		}
		if !is[*serviceerror.WorkflowNotReady](err) {
			return err
		}
		select {
		case <-time.After(notReadyPause):
		case <-ctx.Done():
			return err
		}
	}
}

// send runs call until a worker has decided about the update and it does not meet the end of
// a run, and waits for the result. Each call must send the same update. The timeout starts
// here, so time in a queue of the caller does not count, and again after each answer of a
// worker.
func (c *Client) send(ctx context.Context, m Message, call func(context.Context) (client.WorkflowUpdateHandle, error)) error {
	var start time.Time
	ctx = withMessageToken(ctx)
	err := c.translate(ctx, fleet.UntilDecided(ctx, func() error {
		start = time.Now()
		deadline, cancel := context.WithTimeout(ctx, c.workerTimeout)
		defer cancel()
		var err error
		for range maxUpdateAttempts {
			if err = complete(deadline, m, call); !isRunEnd(err) {
				break
			}
		}
		return err
	}))
	if noWorker, ok := errors.AsType[*NoWorkerError](err); ok {
		noWorker.Waited, noWorker.Busy, noWorker.Sent = c.workerTimeout, c.hasPollSince(ctx, c.taskQueue, start), true
	}
	return err
}

// hasPollSince reports whether a worker polled the task queue after a time. The
// server lists a killed worker for minutes, but with an old poll.
func (c *Client) hasPollSince(ctx context.Context, taskQueue string, since time.Time) bool {
	if c.client == nil {
		return false
	}
	deadline, cancel := context.WithTimeout(ctx, queryTimeout)
	defer cancel()
	response, err := c.client.DescribeTaskQueue(deadline, taskQueue, enumspb.TASK_QUEUE_TYPE_WORKFLOW)
	if err != nil {
		return false
	}
	return slices.ContainsFunc(response.GetPollers(), func(p *taskqueuepb.PollerInfo) bool {
		return p.GetLastAccessTime().AsTime().After(since)
	})
}

// Polled reports whether a worker polled a task queue within the last two minutes. It
// reports true when Temporal does not respond, because other requests show that better.
func (c *Client) Polled(ctx context.Context, taskQueue string) bool {
	deadline, cancel := context.WithTimeout(ctx, queryTimeout)
	defer cancel()
	response, err := c.client.DescribeTaskQueue(deadline, taskQueue, enumspb.TASK_QUEUE_TYPE_WORKFLOW)
	if err != nil {
		return true
	}
	return slices.ContainsFunc(response.GetPollers(), func(p *taskqueuepb.PollerInfo) bool {
		return time.Since(p.GetLastAccessTime().AsTime()) < workflows.MaxPollAge
	})
}

// updateOptions returns the options of a message. It has an ID, so that its repetitions are
// the same message.
func updateOptions(workflowID string, m Message) client.UpdateWorkflowOptions {
	return client.UpdateWorkflowOptions{
		WorkflowID: workflowID, UpdateID: uuid.NewString(), UpdateName: m.Name, Args: []any{m.Input},
		WaitForStage: client.WorkflowUpdateStageCompleted,
	}
}
