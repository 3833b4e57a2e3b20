package fleet

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/armature-io/armature/activities"
	"github.com/armature-io/armature/internal/searchattr"
	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/workflows"
	enumspb "go.temporal.io/api/enums/v1"
	workflowpb "go.temporal.io/api/workflow/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/temporal"
	"golang.org/x/sync/errgroup"
)

// maxFeedStateAge is how long the last reading of the state of a feed is used while Temporal is
// unreachable.
const maxFeedStateAge = 5 * time.Minute

// feedStates are the states of feeds that this worker read last.
type feedStates struct {
	mu   sync.Mutex
	last map[string]feedState // by credential
}

type feedState struct {
	activities.FeedState
	read time.Time
}

// Report signals the workflow of a resource, and returns false where nothing manages it.
func (f *Fleet) Report(ctx context.Context, id resource.ID, reports activities.Reports) (bool, error) {
	sent, err := f.signal(ctx, id.WorkflowID(), workflows.ReportSignal, reports)
	if err != nil {
		err = activities.TemporalError(err)
	}
	return sent, err
}

// ReportParts signals the workflows of the children of a resource of the types, relative to its
// own, and returns their number.
func (f *Fleet) ReportParts(ctx context.Context, id resource.ID, types []string, reports activities.Reports) (int, error) {
	isPart := func(info *workflowpb.WorkflowExecutionInfo) bool {
		child, err := resource.ParseWorkflowID(info.GetExecution().GetWorkflowId())
		relative := strings.TrimPrefix(strings.ToLower(child.Type()), strings.ToLower(id.Type())+"/")
		return err == nil && child.Owner().Equal(id) && slices.ContainsFunc(types, func(t string) bool { return strings.EqualFold(t, relative) })
	}
	return f.reportListed(ctx, belowQuery([]resource.ID{id}), isPart, reports)
}

// ReportAll signals the workflows of all resources that are Ready, and returns their number.
func (f *Fleet) ReportAll(ctx context.Context, reports activities.Reports) (int, error) {
	query := keysQuery(searchattr.ReconcilePhase, []string{string(workflows.PhaseReady)})
	return f.reportListed(ctx, query, func(*workflowpb.WorkflowExecutionInfo) bool { return true }, reports)
}

// reportListed signals the workflows of a list that are chosen.
func (f *Fleet) reportListed(ctx context.Context, query string, chosen func(*workflowpb.WorkflowExecutionInfo) bool, reports activities.Reports) (int, error) {
	if err := f.awaitList(ctx); err != nil {
		return 0, fmt.Errorf("list workflows: %w", err)
	}
	var total atomic.Int64
	var signals errgroup.Group
	signals.SetLimit(maxSignals)
	err := f.pages(ctx, query, func(page []*workflowpb.WorkflowExecutionInfo) bool {
		for _, info := range page {
			if chosen(info) {
				signals.Go(func() error {
					sent, err := f.signal(ctx, info.GetExecution().GetWorkflowId(), workflows.ReportSignal, reports)
					if sent {
						total.Add(1)
					}
					return err
				})
			}
		}
		return ctx.Err() != nil
	})
	if failed := signals.Wait(); err == nil {
		err = failed
	}
	if err != nil {
		err = activities.TemporalError(err)
	}
	return int(total.Load()), err
}

// FollowFeed starts the workflow that follows the changes which a credential sees, unless it
// runs, and reads its state.
func (f *Fleet) FollowFeed(ctx context.Context, credential string) (activities.FeedState, error) {
	id := workflows.FollowChangesWorkflowID(f.options.TaskQueue, credential)
	described, err := f.temporal.DescribeWorkflowExecution(ctx, id, "")
	info := described.GetWorkflowExecutionInfo()
	if isNotFound(err) || err == nil && info.GetStatus() != enumspb.WORKFLOW_EXECUTION_STATUS_RUNNING {
		_, err = f.temporal.ExecuteWorkflow(ctx, client.StartWorkflowOptions{
			ID: id, TaskQueue: f.options.TaskQueue, StaticSummary: "changes that " + credential + " sees",
			WorkflowIDConflictPolicy: enumspb.WORKFLOW_ID_CONFLICT_POLICY_USE_EXISTING,
			Priority:                 temporal.Priority{PriorityKey: workflows.PriorityBrake},
		}, workflows.FollowChangesWorkflow, activities.FollowChangesInput{Credential: credential})
		if err != nil {
			return activities.FeedState{}, activities.TemporalError(fmt.Errorf("start the workflow of the changes: %w", err))
		}
		return activities.FeedState{}, nil
	}
	if err != nil {
		return activities.FeedState{}, activities.TemporalError(fmt.Errorf("describe the workflow of the changes: %w", err))
	}
	var state activities.FeedState
	if err := f.readMemo(info, workflows.MemoFeed, &state); err != nil {
		return activities.FeedState{}, fmt.Errorf("read the state of the feed: %w", err)
	}
	f.feeds.mu.Lock()
	defer f.feeds.mu.Unlock()
	if f.feeds.last == nil {
		f.feeds.last = map[string]feedState{}
	}
	f.feeds.last[credential] = feedState{state, time.Now()}
	return state, nil
}

// FeedState returns the state of the feed of a credential as FollowFeed last read it, and false
// if it did not do so within five minutes.
func (f *Fleet) FeedState(credential string) (activities.FeedState, bool) {
	f.feeds.mu.Lock()
	defer f.feeds.mu.Unlock()
	last, known := f.feeds.last[credential]
	return last.FeedState, known && time.Since(last.read) < maxFeedStateAge
}
