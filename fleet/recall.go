package fleet

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/armature-io/armature/activities"
	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/workflows"
	"go.temporal.io/api/serviceerror"
)

// recallTimeout bounds one query: a worker may have to replay the workflow
// first.
const recallTimeout = 10 * time.Second

// Recall asks the running workflow of a resource what it remembers. The answer
// of one that ended is no longer true.
func (f *Fleet) Recall(ctx context.Context, id resource.ID) (activities.Recollection, bool, error) {
	_, known, err := f.Managed(ctx, id)
	if err != nil || !known {
		return activities.Recollection{}, false, err
	}
	ctx, cancel := context.WithTimeout(ctx, recallTimeout)
	defer cancel()
	value, err := f.temporal.QueryWorkflow(ctx, id.WorkflowID(), "", workflows.MemoryQuery)
	var notFound *serviceerror.NotFound
	if errors.As(err, &notFound) {
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
