package fleet

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/armature-io/armature/activities"
	"github.com/armature-io/armature/payload"
	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/workflows"
)

const (
	// maxFreezeAge is the age at which the list of freezes is read again.
	maxFreezeAge = 2 * time.Second
	// maxFreezeOutage is the age up to which the list is used while Temporal is
	// unreachable. A worker that reads it only before it writes may have an old one.
	maxFreezeOutage = time.Minute
)

// freezes is the list of freezes that this worker read last.
type freezes struct {
	mu   sync.Mutex
	list []workflows.Freeze
	// attempted is the time of the last request, received the time of the last response.
	attempted, received time.Time
}

// Frozen returns the freeze that applies to a resource with the labels, and whether there
// is one. The list is read every 2 s; while Temporal is unreachable, the last list is used
// for a minute, and after that Frozen fails.
func (f *Fleet) Frozen(ctx context.Context, labels map[string]string) (activities.Freeze, bool, error) {
	f.freezes.mu.Lock()
	defer f.freezes.mu.Unlock()
	if now := time.Now(); now.Sub(f.freezes.attempted) >= maxFreezeAge {
		list, err := f.readFreezes(ctx)
		if err != nil && now.Sub(f.freezes.received) >= maxFreezeOutage {
			return activities.Freeze{}, false, err
		}
		if err == nil {
			f.freezes.list, f.freezes.received = list, now
		}
		f.freezes.attempted = now
	}
	for _, freeze := range f.freezes.list {
		selector, err := resource.ParseSelector(freeze.Selector)
		// A selector that does not parse was written by a later version: it matches all.
		if err != nil || selector.Matches(labels) {
			return activities.Freeze{Selector: freeze.Selector, By: freeze.By, Reason: freeze.Reason, Since: freeze.Since}, true, nil
		}
	}
	return activities.Freeze{}, false, nil
}

// readFreezes reads the memo of the workflow that keeps the freezes. Without a workflow,
// and after one that completed, nothing is frozen; a memo that does not decode is an error.
func (f *Fleet) readFreezes(ctx context.Context) ([]workflows.Freeze, error) {
	described, err := f.temporal.DescribeWorkflowExecution(ctx, workflows.FreezeWorkflowID, "")
	if isNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("describe the workflow of freezes: %w", err)
	}
	info := described.GetWorkflowExecutionInfo()
	if !workflows.FreezesLast(info.GetStatus()) {
		return nil, nil
	}
	var list []workflows.Freeze
	if memo := info.GetMemo().GetFields()[workflows.MemoFrozen]; memo != nil {
		if err := payload.DataConverter().FromPayload(memo, &list); err != nil {
			return nil, fmt.Errorf("decode freezes: %w", err)
		}
	}
	return list, nil
}
