package fleet

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/armature-io/armature/activities"
	"github.com/armature-io/armature/activities/writing"
	"github.com/armature-io/armature/internal/batching"
	"github.com/armature-io/armature/internal/payload"
	"github.com/armature-io/armature/internal/searchattr"
	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/workflows"
	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/serviceerror"
	workflowpb "go.temporal.io/api/workflow/v1"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/converter"
)

var (
	_ activities.Fleet = (*Fleet)(nil)
	_ activities.Waker = (*Fleet)(nil)
	_ activities.Turns = (*Fleet)(nil)
	_ activities.Feeds = (*Fleet)(nil)

	_ writing.Freezer         = (*Fleet)(nil)
	_ writing.Budgets         = (*Fleet)(nil)
	_ activities.MemoryReader = (*Fleet)(nil)
	_ writing.Attempts        = (*Fleet)(nil)
)

// Temporal is the part of client.Client that the fleet needs.
type Temporal interface {
	CountWorkflow(ctx context.Context, request *workflowservice.CountWorkflowExecutionsRequest) (*workflowservice.CountWorkflowExecutionsResponse, error)
	ListWorkflow(ctx context.Context, request *workflowservice.ListWorkflowExecutionsRequest) (*workflowservice.ListWorkflowExecutionsResponse, error)
	DescribeTaskQueue(ctx context.Context, taskQueue string, taskQueueType enumspb.TaskQueueType) (*workflowservice.DescribeTaskQueueResponse, error)
	DescribeWorkflowExecution(ctx context.Context, workflowID, runID string) (*workflowservice.DescribeWorkflowExecutionResponse, error)
	RecordActivityHeartbeat(ctx context.Context, taskToken []byte, details ...any) error
	QueryWorkflow(ctx context.Context, workflowID, runID, queryType string, args ...any) (converter.EncodedValue, error)
	ExecuteWorkflow(ctx context.Context, options client.StartWorkflowOptions, workflow any, args ...any) (client.WorkflowRun, error)
	SignalWorkflow(ctx context.Context, workflowID, runID, signal string, input any) error
	UpdateWorkflow(ctx context.Context, options client.UpdateWorkflowOptions) (client.WorkflowUpdateHandle, error)
	UpdateWithStartWorkflow(ctx context.Context, options client.UpdateWithStartWorkflowOptions) (client.WorkflowUpdateHandle, error)
	NewWithStartWorkflowOperation(options client.StartWorkflowOptions, workflow any, args ...any) client.WithStartWorkflowOperation
}

// Options configure a fleet. Namespace and TaskQueue are required.
type Options struct {
	// Namespace and TaskQueue of the worker.
	Namespace, TaskQueue string
	// Collect is how long a batch collects calls; default 250 ms.
	Collect time.Duration
	// ListsPerSecond bounds the list requests of all live workers of the task queue
	// together; default 4. A namespace allows 10 per second to all of its clients.
	ListsPerSecond float64
	// PageSize is the number of workflows of one list request; default 250. On
	// SQLite a page of 250 took 50 ms and one of 1,000 over 10 s, the deadline of
	// the request (server v1.32.1).
	PageSize int32
	// Now returns the time of the server; default time.Now.
	Now func() time.Time
	// Observed are the resources that are only observed, whatever policy their memos name.
	Observed resource.Observed
	// Converters read memos; default are those without keys.
	Converters *payload.Converters
}

// Fleet gives activities access to the other managed resources. It is safe for
// concurrent use.
type Fleet struct {
	temporal   Temporal
	options    Options
	lists      *pace
	freezes    freezes
	budgets    budgets
	turns      turnQueues
	feeds      feedStates
	wakes      batching.Batcher[activities.Change, woken]
	dependents batching.Batcher[resource.ID, activities.Dependents]
	targets    batching.Batcher[target, woken]
	awaited    batching.Batcher[resource.ID, bool]
}

// maxBatch bounds the calls of one batch: a list query names a key for each of them.
const maxBatch = 100

// New returns the fleet of a namespace.
func New(temporal Temporal, options Options) *Fleet {
	if options.Collect <= 0 {
		options.Collect = 250 * time.Millisecond
	}
	if options.ListsPerSecond <= 0 {
		options.ListsPerSecond = 4
	}
	if options.Converters == nil {
		options.Converters = payload.Clear()
	}
	if options.PageSize <= 0 {
		options.PageSize = 250
	}
	if options.Now == nil {
		options.Now = time.Now
	}
	f := &Fleet{temporal: temporal, options: options, lists: newPace(options.ListsPerSecond)}
	f.freezes.reads.request = f.readFreezes
	f.budgets = budgets{requests: batching.Serial(maxBatch, f.spendAll), refusals: map[string]spending{}}
	f.wakes = batching.Batcher[activities.Change, woken]{Delay: options.Collect, MaxCalls: maxBatch, Slot: f.awaitList, Run: f.wakeAll}
	f.awaited = batching.Batcher[resource.ID, bool]{Delay: options.Collect, MaxCalls: maxBatch, Slot: f.awaitList, Run: f.awaitedOf}
	f.dependents = batching.Batcher[resource.ID, activities.Dependents]{Delay: options.Collect, MaxCalls: maxBatch, Slot: f.awaitList, Run: f.dependentsOf}
	f.targets = batching.Batcher[target, woken]{Delay: options.Collect, MaxCalls: maxBatch, Run: f.wakeDeletingAll}
	return f
}

// Managed describes the workflow of a resource, and reports false when none runs. Unlike
// a list, it does not lag behind.
func (f *Fleet) Managed(ctx context.Context, id resource.ID) (activities.Managed, bool, error) {
	described, err := f.temporal.DescribeWorkflowExecution(ctx, id.WorkflowID(), "")
	switch {
	case isNotFound(err):
		return activities.Managed{}, false, nil
	case err != nil:
		return activities.Managed{}, false, activities.TemporalError(fmt.Errorf("describe workflow of %s: %w", id, err))
	}
	info := described.GetWorkflowExecutionInfo()
	if info.GetStatus() != enumspb.WORKFLOW_EXECUTION_STATUS_RUNNING {
		return activities.Managed{}, false, nil
	}
	managed := f.managedOf(info)
	managed.ID, managed.Sleeping = id, sleeps(described)
	managed.Operating = managed.Operating || !managed.Deleting && runs(described, polling)
	f.addSummary(&managed, info)
	return managed, true, nil
}

// refusalDelay is the time between tries from which on an error of Azure is a refusal.
const refusalDelay = time.Minute

// addSummary adds what the summary and the labels of a run show.
func (f *Fleet) addSummary(managed *activities.Managed, info *workflowpb.WorkflowExecutionInfo) {
	var summary workflows.Summary
	var since time.Time
	attributes := info.GetSearchAttributes().GetIndexedFields()
	_ = f.readMemo(info, workflows.MemoSummary, &summary) // "" without one
	readAttribute(attributes[searchattr.ReconcileSince], &since)
	managed.Generation, managed.Since, managed.Message = summary.Generation, since, summary.Condition.Message
	// All other reasons of Armature are states that a deletion waits for; the rest are codes of
	// Azure. What time ends is tried again soon. During a pass, which may wait long for the
	// operation of a DELETE, the summary is of before.
	reason := summary.Condition.Reason
	refused := !reason.IsKnown() && summary.RetryWithin > refusalDelay
	managed.Stopped = managed.Deleting && managed.Sleeping && (refused || reason == resource.ReasonCreatedAgain)
	if summary.Condition.Ready == managed.Ready && !summary.Condition.LastTransitionTime.IsZero() {
		managed.Since = summary.Condition.LastTransitionTime
	}
	managed.Labels = labelsOf(info)
}

// labelsOf returns the labels of a run, nil without any.
func labelsOf(info *workflowpb.WorkflowExecutionInfo) map[string]string {
	var labels map[string]string
	for _, keyword := range keysIn(info, searchattr.ReconcileLabels) {
		if name, value, ok := strings.Cut(keyword, "="); ok {
			if labels == nil {
				labels = map[string]string{}
			}
			labels[name] = value
		}
	}
	return labels
}

// sleeps reports whether a run waits for a timer or a message: between the steps of a
// pass it has a workflow task.
func sleeps(described *workflowservice.DescribeWorkflowExecutionResponse) bool {
	return described.GetPendingWorkflowTask() == nil &&
		!slices.ContainsFunc(described.GetPendingActivities(), func(pending *workflowpb.PendingActivityInfo) bool {
			return pending.GetActivityType().GetName() != notification
		})
}

// runs reports whether an activity with a name is pending.
func runs(described *workflowservice.DescribeWorkflowExecutionResponse, name string) bool {
	return slices.ContainsFunc(described.GetPendingActivities(), func(pending *workflowpb.PendingActivityInfo) bool {
		return pending.GetActivityType().GetName() == name
	})
}

// notification is the activity that runs beside the passes, polling the one that waits for an
// operation: the phase shows only those that last.
const (
	notification = "WakeDependents"
	polling      = "PollOperation"
)

// isNotFound reports whether Temporal has no such workflow, or it no longer runs.
func isNotFound(err error) bool {
	_, ok := errors.AsType[*serviceerror.NotFound](err)
	return ok
}
