package fleet

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/armature-io/armature/activities"
	"github.com/armature-io/armature/payload"
	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/workflows"
	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/serviceerror"
)

const (
	// freezeMaxAge is how long what is known of freezes counts.
	freezeMaxAge = 2 * time.Second
	// freezeTrusted is how long it counts while Temporal does not answer. A worker
	// that asks only before it writes may have its last answer from long ago.
	freezeTrusted = time.Minute
)

// freezes are what this worker knows of them.
type freezes struct {
	mu   sync.Mutex
	list []workflows.Freeze
	// asked is the time of the last question, answered that of the last answer.
	asked, answered time.Time
}

// Frozen is the freeze that holds a resource with such labels, and whether there
// is one. What is known counts for 2 s; while Temporal does not answer, the last
// known counts on for a minute. Without it, it is an error.
func (f *Fleet) Frozen(ctx context.Context, labels map[string]string) (activities.Freeze, bool, error) {
	f.freezes.mu.Lock()
	defer f.freezes.mu.Unlock()
	if now := time.Now(); now.Sub(f.freezes.asked) >= freezeMaxAge {
		list, err := f.readFreezes(ctx)
		if err != nil && now.Sub(f.freezes.answered) >= freezeTrusted {
			return activities.Freeze{}, false, err
		}
		if err == nil {
			f.freezes.list, f.freezes.answered = list, now
		}
		f.freezes.asked = now
	}
	for _, freeze := range f.freezes.list {
		selector, err := resource.ParseSelector(freeze.Selector)
		// One that cannot be read was written by a later version: it holds all.
		if err != nil || selector.Matches(labels) {
			return activities.Freeze{Selector: freeze.Selector, By: freeze.By, Reason: freeze.Reason, Since: freeze.Since}, true, nil
		}
	}
	return activities.Freeze{}, false, nil
}

// readFreezes reads the memo of the workflow that holds them; where none runs,
// nothing is frozen. A memo that cannot be read is no answer.
func (f *Fleet) readFreezes(ctx context.Context) ([]workflows.Freeze, error) {
	answer, err := f.temporal.DescribeWorkflowExecution(ctx, workflows.FreezeWorkflowID, "")
	var notFound *serviceerror.NotFound
	if errors.As(err, &notFound) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("ask what is frozen: %w", err)
	}
	info := answer.GetWorkflowExecutionInfo()
	if info.GetStatus() != enumspb.WORKFLOW_EXECUTION_STATUS_RUNNING {
		return nil, nil
	}
	var list []workflows.Freeze
	if memo := info.GetMemo().GetFields()[workflows.MemoFrozen]; memo != nil {
		if err := payload.DataConverter().FromPayload(memo, &list); err != nil {
			return nil, fmt.Errorf("read what is frozen: %w", err)
		}
	}
	return list, nil
}
