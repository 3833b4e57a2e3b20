package fleet

import (
	"context"
	"fmt"
	"time"

	"github.com/armature-io/armature/activities"
	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/workflows"
)

// recallTimeout bounds one query: a worker may have to replay the workflow first.
const recallTimeout = 10 * time.Second

// Recall queries the state of a resource that its running workflow keeps, and reports
// false when none runs: the state of a workflow that ended is out of date.
func (f *Fleet) Recall(ctx context.Context, id resource.ID) (activities.Recollection, bool, error) {
	_, known, err := f.Managed(ctx, id)
	if err != nil || !known {
		return activities.Recollection{}, false, err
	}
	ctx, cancel := context.WithTimeout(ctx, recallTimeout)
	defer cancel()
	value, err := f.temporal.QueryWorkflow(ctx, id.WorkflowID(), "", workflows.MemoryQuery)
	if isNotFound(err) {
		return activities.Recollection{}, false, nil
	}
	var memory activities.Recollection
	if err == nil {
		err = value.Get(&memory)
	}
	if err != nil {
		return activities.Recollection{}, false, fmt.Errorf("query %s of %s: %w", workflows.MemoryQuery, id, err)
	}
	return memory, memory.Generation > 0, nil
}
