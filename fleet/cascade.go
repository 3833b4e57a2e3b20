package fleet

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/armature-io/armature/activities"
	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/workflows"
	"github.com/google/uuid"
	workflowpb "go.temporal.io/api/workflow/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/temporal"
	"golang.org/x/sync/errgroup"
)

const (
	// maxConcurrentAborts bounds the concurrent requests of one Abort.
	maxConcurrentAborts = 8
	// abortTimeout bounds one of them: a workflow that does not respond must not keep
	// the deletions of the others.
	abortTimeout = 10 * time.Second
	// maxDeleteWait is how long Abort waits for DELETEs that run: Azure gives up on a
	// provider after as long with a 504.
	maxDeleteWait = time.Minute
	// askAgainAfter is the time between two requests to a workflow whose DELETE runs.
	askAgainAfter = 500 * time.Millisecond
)

// Delete requests the deletion of a resource from its workflow. A workflow that no longer
// runs, or whose management ends, is no error.
func (f *Fleet) Delete(ctx context.Context, id resource.ID, cascade activities.Cascade) error {
	err := f.update(ctx, id, workflows.DeleteUpdate, workflows.DeleteInput{Cascade: true, WithData: cascade.WithData, By: cascade.By, From: cascade.Owner, StatedAt: cascade.StatedAt, Order: cascade.Order})
	if err != nil && !isNotFound(err) && refusalKind(err) != workflows.RefusedNotManaged {
		return fmt.Errorf("request the deletion of %s: %w", id, err)
	}
	return nil
}

// Release lets a held deletion begin. A workflow that no longer runs, and a deletion that was
// taken back, are no errors.
func (f *Fleet) Release(ctx context.Context, id resource.ID, stack, by string) error {
	err := f.update(ctx, id, workflows.DeleteUpdate, workflows.DeleteInput{Continue: true, Stack: stack, By: by})
	if kind := refusalKind(err); err != nil && !isNotFound(err) && kind != workflows.RefusedNotManaged && kind != workflows.RefusedNotDeleted {
		return fmt.Errorf("let the deletion of %s begin: %w", id, err)
	}
	return nil
}

// Apply applies a spec to the workflow of its resource, which it starts if none runs.
func (f *Fleet) Apply(ctx context.Context, desired resource.Desired, by string) error {
	options := workflows.StartOptions(desired, f.options.TaskQueue)
	update := client.UpdateWorkflowOptions{
		WorkflowID: options.ID, UpdateID: uuid.NewString(), UpdateName: workflows.ApplyUpdate, WaitForStage: client.WorkflowUpdateStageCompleted,
		Args: []any{workflows.ApplyInput{Desired: desired, By: by}},
	}
	err := UntilDecided(ctx, func() error {
		handle, err := f.temporal.UpdateWithStartWorkflow(ctx, client.UpdateWithStartWorkflowOptions{
			StartWorkflowOperation: f.temporal.NewWithStartWorkflowOperation(options, workflows.ReconcileResourceWorkflow, workflows.ReconcileResourceInput{}),
			UpdateOptions:          update,
		})
		if err != nil {
			return err //nolint:wrapcheck // Apply wraps it
		}
		return handle.Get(ctx, nil) //nolint:wrapcheck // as above
	})
	if err != nil {
		return fmt.Errorf("apply %s: %w", desired.ID, err)
	}
	return nil
}

// Abort takes back the deletions that a cascade requested. It sends the update to
// everything managed within the owner, because a list does not show what was requested a moment
// ago; the workflows of the others refuse it without a trace. A workflow whose DELETE runs is
// asked again until that has ended, for maxDeleteWait at most.
func (f *Fleet) Abort(ctx context.Context, cascade activities.Cascade) (activities.Aborted, error) {
	dependents := cascade.Resources
	if len(dependents) == 0 {
		var err error
		if dependents, err = f.within(ctx, cascade.Owner); err != nil {
			return activities.Aborted{}, err
		}
	}
	var aborted activities.Aborted
	failed := f.abortEach(ctx, cascade, dependents, &aborted)
	waiting, cancel := context.WithDeadline(ctx, abortsEnd(ctx))
	defer cancel()
	for len(aborted.Running) > 0 && failed == nil && pause(waiting, askAgainAfter) {
		running := aborted.Running
		aborted.Running = nil
		failed = f.abortEach(ctx, cascade, running, &aborted)
	}
	return aborted, failed
}

// abortEach asks workflows to take their deletions back, and adds the results to aborted.
func (f *Fleet) abortEach(ctx context.Context, cascade activities.Cascade, ids []resource.ID, aborted *activities.Aborted) error {
	var (
		mu     sync.Mutex
		failed []error
		group  errgroup.Group
	)
	group.SetLimit(maxConcurrentAborts)
	for _, id := range ids {
		group.Go(func() error {
			messageID := uuid.NewString()
			err := UntilDecided(ctx, func() error {
				one, cancel := context.WithTimeout(ctx, abortTimeout)
				defer cancel()
				return f.send(one, messageID, id, workflows.AbortUpdate, workflows.AbortInput{By: cascade.By, From: cascade.Owner, Stack: cascade.Stack})
			})
			mu.Lock()
			defer mu.Unlock()
			switch kind := refusalKind(err); {
			case err == nil:
				aborted.Count++
			case kind == workflows.RefusedDeleting:
				aborted.Sent = append(aborted.Sent, id)
			case kind == workflows.RefusedRunning:
				aborted.Running = append(aborted.Running, id)
			case kind != workflows.RefusedNotDeleted && kind != workflows.RefusedNotManaged && !isNotFound(err):
				failed = append(failed, fmt.Errorf("take back the deletion of %s: %w", id, err))
			}
			return nil
		})
	}
	_ = group.Wait() // the errors are in failed
	return errors.Join(failed...)
}

// abortsEnd returns when Abort stops to wait for DELETEs: early enough before the end of ctx
// for a last request to each workflow.
func abortsEnd(ctx context.Context) time.Time {
	end := time.Now().Add(maxDeleteWait)
	if deadline, bounded := ctx.Deadline(); bounded && deadline.Add(-abortTimeout).Before(end) {
		return deadline.Add(-abortTimeout)
	}
	return end
}

// pause waits, and reports false where ctx ends first.
func pause(ctx context.Context, length time.Duration) bool {
	select {
	case <-ctx.Done():
		return false
	case <-time.After(length):
		return true
	}
}

// within returns the managed resources that are in an owner.
func (f *Fleet) within(ctx context.Context, owner resource.ID) ([]resource.ID, error) {
	if err := f.awaitList(ctx); err != nil {
		return nil, fmt.Errorf("list what is in %s: %w", owner, err)
	}
	var found []resource.ID
	err := f.pages(ctx, belowQuery([]resource.ID{owner}), func(page []*workflowpb.WorkflowExecutionInfo) bool {
		for _, info := range page {
			if managed := f.managedOf(info); activities.Contains(owner, managed.ID) {
				found = append(found, managed.ID)
			}
		}
		return false
	})
	return found, err
}

// update sends an update to the workflow of a resource and waits for its result.
func (f *Fleet) update(ctx context.Context, id resource.ID, name string, input any) error {
	messageID := uuid.NewString()
	return UntilDecided(ctx, func() error { return f.send(ctx, messageID, id, name, input) })
}

// send sends an update once.
func (f *Fleet) send(ctx context.Context, messageID string, id resource.ID, name string, input any) error {
	handle, err := f.temporal.UpdateWorkflow(ctx, client.UpdateWorkflowOptions{
		WorkflowID: id.WorkflowID(), UpdateID: messageID, UpdateName: name, WaitForStage: client.WorkflowUpdateStageCompleted, Args: []any{input},
	})
	if err != nil {
		return err //nolint:wrapcheck // the callers act on its type and wrap it
	}
	return handle.Get(ctx, nil) //nolint:wrapcheck // as above
}

// refusalKind returns the type of the error with which a workflow refused an update, ""
// for any other error.
func refusalKind(err error) string {
	if application, ok := errors.AsType[*temporal.ApplicationError](err); ok {
		return application.Type()
	}
	return ""
}
