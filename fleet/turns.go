package fleet

import (
	"context"
	"fmt"
	"sync"

	"github.com/armature-io/armature/activities"
	"github.com/armature-io/armature/internal/batching"
	"github.com/armature-io/armature/internal/text"
	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/workflows"
	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/client"
)

// turnQueues join the requests for turns of this worker by parent: Temporal accepts ten updates
// of a workflow at a time.
type turnQueues struct {
	mu       sync.Mutex
	byParent map[string]*batching.Batcher[activities.Turn, activities.Position]
}

// of returns the queue of a parent.
func (q *turnQueues) of(f *Fleet, parent resource.ID) *batching.Batcher[activities.Turn, activities.Position] {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.byParent == nil {
		q.byParent = map[string]*batching.Batcher[activities.Turn, activities.Position]{}
	}
	queue, known := q.byParent[parent.Key()]
	if !known {
		queue = batching.Serial(maxBatch, func(ctx context.Context, turns []activities.Turn) ([]activities.Position, error) {
			return f.takeAll(ctx, parent, turns)
		})
		q.byParent[parent.Key()] = queue
	}
	return queue
}

// Take requests a turn from the queue of the parent, together with the other requests of this
// worker that arrive while one is in flight.
func (f *Fleet) Take(ctx context.Context, turn activities.Turn) (activities.Position, error) {
	position, err := f.turns.of(f, turn.Parent).Do(ctx, turn)
	if err != nil {
		return activities.Position{}, fmt.Errorf("take turn in %s: %w", turn.Parent, err)
	}
	return position, nil
}

// takeAll requests turns of one parent. It starts the queue's workflow if none runs.
func (f *Fleet) takeAll(ctx context.Context, parent resource.ID, turns []activities.Turn) ([]activities.Position, error) {
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	id := workflows.SiblingsWorkflowID(parent)
	handle, err := f.temporal.UpdateWithStartWorkflow(ctx, client.UpdateWithStartWorkflowOptions{
		StartWorkflowOperation: f.temporal.NewWithStartWorkflowOperation(client.StartWorkflowOptions{
			ID: id, TaskQueue: f.options.TaskQueue,
			WorkflowIDConflictPolicy: enumspb.WORKFLOW_ID_CONFLICT_POLICY_USE_EXISTING,
			StaticSummary:            "turns of " + text.CutBytes(parent.Short(), maxSummaryBytes),
		}, workflows.SerializeSiblingsWorkflow, workflows.SerializeSiblingsInput{}),
		UpdateOptions: client.UpdateWorkflowOptions{
			WorkflowID: id, UpdateName: workflows.TakeTurnUpdate, Args: []any{turns},
			WaitForStage: client.WorkflowUpdateStageCompleted,
		},
	})
	var positions []activities.Position
	if err == nil {
		err = handle.Get(ctx, &positions)
	}
	if err == nil && len(positions) != len(turns) {
		err = fmt.Errorf("the queue returned %d positions for %d requests", len(positions), len(turns))
	}
	return positions, err //nolint:wrapcheck // Take adds the parent
}

// maxSummaryBytes bounds a name in a static summary; the server accepts 400 bytes.
const maxSummaryBytes = 200
