package fleet

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/armature-io/armature/activities/writing"
	"github.com/armature-io/armature/internal/servertime"
	"github.com/armature-io/armature/workflows"
	enumspb "go.temporal.io/api/enums/v1"
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
	// attempted is the time when the last request ended, received the time of the last response.
	attempted, received time.Time
	// start is the freeze that this worker sets at its start, until that is in force.
	start *workflows.Freeze
}

// Frozen returns the freeze that applies to a resource with the labels, and whether there
// is one. The list is read every 2 s; while Temporal is unreachable, the last list is used
// for a minute, and after that Frozen fails.
func (f *Fleet) Frozen(ctx context.Context, labels map[string]string) (writing.Freeze, bool, error) {
	f.freezes.mu.Lock()
	defer f.freezes.mu.Unlock()
	if start := f.freezes.start; start != nil {
		return freezeOf(*start), true, nil
	}
	if now := time.Now(); servertime.Elapsed(f.freezes.attempted, now) >= maxFreezeAge {
		list, err := f.readFreezes(ctx)
		if err != nil && servertime.Elapsed(f.freezes.received, now) >= maxFreezeOutage {
			return writing.Freeze{}, false, err
		}
		if err == nil {
			f.freezes.list, f.freezes.received = list, now
		}
		// A request may take longer than a list counts: all who waited for it share it.
		f.freezes.attempted = time.Now()
	}
	for _, freeze := range f.freezes.list {
		if freeze.Matches(labels) {
			return freezeOf(freeze), true, nil
		}
	}
	return writing.Freeze{}, false, nil
}

func freezeOf(freeze workflows.Freeze) writing.Freeze {
	return writing.Freeze{Selector: freeze.Selector, By: freeze.By, Reason: freeze.Reason, Since: freeze.Since}
}

// readFreezes returns the freezes in force. Without a workflow, and after one that
// completed, nothing is frozen; a memo that does not decode is an error.
func (f *Fleet) readFreezes(ctx context.Context) ([]workflows.Freeze, error) {
	last, err := f.lastFreezes(ctx)
	return last.Frozen, err
}

// lastFreezes is what the memo of the last run that keeps freezes contains.
type lastFreezes struct {
	workflows.HoldFreezeInput
	running bool
}

// lastFreezes reads the memo of the workflow that keeps the freezes. Of a run that
// completed it returns the starts alone.
func (f *Fleet) lastFreezes(ctx context.Context) (last lastFreezes, err error) {
	described, err := f.temporal.DescribeWorkflowExecution(ctx, workflows.FreezeWorkflowID, "")
	if isNotFound(err) {
		return last, nil
	}
	if err != nil {
		return last, fmt.Errorf("describe the workflow of freezes: %w", err)
	}
	info := described.GetWorkflowExecutionInfo()
	last.running = info.GetStatus() == enumspb.WORKFLOW_EXECUTION_STATUS_RUNNING
	for name, into := range map[string]any{workflows.MemoFrozen: &last.Frozen, workflows.MemoStarts: &last.Starts} {
		if memo := info.GetMemo().GetFields()[name]; memo != nil {
			if err := f.options.Converters.Data.FromPayload(memo, into); err != nil {
				return lastFreezes{}, fmt.Errorf("decode freezes: %w", err)
			}
		}
	}
	if !workflows.FreezesLast(info.GetStatus()) {
		last.Frozen = nil
	}
	return last, nil
}
