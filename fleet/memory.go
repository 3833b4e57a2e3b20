package fleet

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"github.com/armature-io/armature/activities"
	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/workflows"
)

// memoryTimeout bounds one query: a worker may have to replay the workflow first.
const memoryTimeout = 10 * time.Second

// ReadMemory queries the state of a resource that its running workflow keeps, and reports
// false when none runs: the state of a workflow that ended is out of date.
func (f *Fleet) ReadMemory(ctx context.Context, id resource.ID) (activities.WorkflowMemory, bool, error) {
	managed, known, err := f.Managed(ctx, id)
	if err = cmp.Or(err, managed.Unreadable); err != nil || !known {
		return activities.WorkflowMemory{}, false, err
	}
	ctx, cancel := context.WithTimeout(ctx, memoryTimeout)
	defer cancel()
	value, err := f.temporal.QueryWorkflow(ctx, id.WorkflowID(), "", workflows.MemoryQuery)
	if isNotFound(err) {
		return activities.WorkflowMemory{}, false, nil
	}
	var memory activities.WorkflowMemory
	if err == nil {
		err = value.Get(&memory)
	}
	if err != nil {
		return activities.WorkflowMemory{}, false, activities.TemporalError(fmt.Errorf("query %s of %s: %w", workflows.MemoryQuery, id, err))
	}
	return memory, memory.Generation > 0, nil
}
