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

// takeAll requests turns of one parent.
func (f *Fleet) takeAll(ctx context.Context, parent resource.ID, turns []activities.Turn) ([]activities.Position, error) {
	return askKeeper[activities.Turn, activities.Position](ctx, f, client.StartWorkflowOptions{
		ID: workflows.SiblingsWorkflowID(parent), StaticSummary: "turns of " + text.CutBytes(parent.Short(), maxSummaryBytes),
	}, workflows.SerializeSiblingsWorkflow, workflows.SerializeSiblingsInput{}, workflows.TakeTurnUpdate, turns)
}

// maxSummaryBytes bounds a name in a static summary; the server accepts 400 bytes.
const maxSummaryBytes = 200
