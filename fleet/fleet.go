package fleet

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/armature-io/armature/activities"
	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/workflows"
	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/converter"
	"golang.org/x/time/rate"
)

var (
	_ activities.Fleet = (*Fleet)(nil)
	_ activities.Waker = (*Fleet)(nil)
	_ activities.Turns = (*Fleet)(nil)

	_ activities.Freezer  = (*Fleet)(nil)
	_ activities.Recaller = (*Fleet)(nil)
)

// Temporal is what the fleet needs of a client.Client.
type Temporal interface {
	ListWorkflow(ctx context.Context, request *workflowservice.ListWorkflowExecutionsRequest) (*workflowservice.ListWorkflowExecutionsResponse, error)
	DescribeWorkflowExecution(ctx context.Context, workflowID, runID string) (*workflowservice.DescribeWorkflowExecutionResponse, error)
	QueryWorkflow(ctx context.Context, workflowID, runID, queryType string, args ...any) (converter.EncodedValue, error)
	SignalWorkflow(ctx context.Context, workflowID, runID, signal string, input any) error
	UpdateWorkflow(ctx context.Context, options client.UpdateWorkflowOptions) (client.WorkflowUpdateHandle, error)
	UpdateWithStartWorkflow(ctx context.Context, options client.UpdateWithStartWorkflowOptions) (client.WorkflowUpdateHandle, error)
	NewWithStartWorkflowOperation(options client.StartWorkflowOptions, workflow any, args ...any) client.WithStartWorkflowOperation
}

// Options of a fleet; the zero value works but for the names.
type Options struct {
	// Namespace and TaskQueue are those of the worker.
	Namespace, TaskQueue string
	// Collect is how long calls are collected; default 250 ms.
	Collect time.Duration
	// ListsPerSecond bounds the list requests of this worker; default 2. A
	// namespace allows 10 a second to all of its clients.
	ListsPerSecond float64
	// PageSize is the number of workflows of one list request; default 250. On
	// SQLite a page of 250 took 50 ms and one of 1,000 over 10 s, the deadline of
	// the request (server v1.32.1).
	PageSize int32
}

// Fleet implements what the activities need to know of the other resources. It
// is safe for concurrent use.
type Fleet struct {
	temporal   Temporal
	options    Options
	lists      *rate.Limiter
	freezes    freezes
	wakes      collector[activities.Change, int]
	dependents collector[resource.ID, activities.Dependents]
	targets    collector[target, bool]
}

// Bounds of one batch: a query names its keys, and a query may hold so much.
const keysMost = 100

// New makes the fleet of a namespace.
func New(temporal Temporal, options Options) *Fleet {
	if options.Collect <= 0 {
		options.Collect = 250 * time.Millisecond
	}
	if options.ListsPerSecond <= 0 {
		options.ListsPerSecond = 2
	}
	if options.PageSize <= 0 {
		options.PageSize = 250
	}
	f := &Fleet{temporal: temporal, options: options, lists: rate.NewLimiter(rate.Limit(options.ListsPerSecond), 2)}
	f.wakes = collector[activities.Change, int]{moment: options.Collect, most: keysMost, slot: f.lists.Wait, run: f.wakeAll}
	f.dependents = collector[resource.ID, activities.Dependents]{moment: options.Collect, most: keysMost, slot: f.lists.Wait, run: f.dependentsOf}
	f.targets = collector[target, bool]{moment: options.Collect, most: keysMost, run: f.tellDeleting}
	return f
}

// Managed describes the workflow of a resource, which does not lag behind.
func (f *Fleet) Managed(ctx context.Context, id resource.ID) (activities.Managed, bool, error) {
	answer, err := f.temporal.DescribeWorkflowExecution(ctx, id.WorkflowID(), "")
	var notFound *serviceerror.NotFound
	switch {
	case errors.As(err, &notFound):
		return activities.Managed{}, false, nil
	case err != nil:
		return activities.Managed{}, false, fmt.Errorf("describe workflow of %s: %w", id, err)
	}
	info := answer.GetWorkflowExecutionInfo()
	if info.GetStatus() != enumspb.WORKFLOW_EXECUTION_STATUS_RUNNING {
		return activities.Managed{}, false, nil
	}
	managed := managedOf(info)
	managed.ID = id
	return managed, true, nil
}

// Delete asks the workflow of a resource to delete it. One that is not there any
// more has nothing to do.
func (f *Fleet) Delete(ctx context.Context, id resource.ID, by string) error {
	handle, err := f.temporal.UpdateWorkflow(ctx, client.UpdateWorkflowOptions{
		WorkflowID: id.WorkflowID(), UpdateName: workflows.DeleteUpdate, WaitForStage: client.WorkflowUpdateStageCompleted,
		Args: []any{workflows.DeleteInput{Cascade: true, By: by}},
	})
	if err == nil {
		err = handle.Get(ctx, nil)
	}
	var notFound *serviceerror.NotFound
	if err != nil && !errors.As(err, &notFound) {
		return fmt.Errorf("ask the workflow of %s to delete it: %w", id, err)
	}
	return nil
}
