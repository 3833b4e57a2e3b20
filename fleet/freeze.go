package fleet

import (
	"cmp"
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/armature-io/armature/activities"
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
	reads shared[[]workflows.Freeze]

	// mu is never held during a request.
	mu   sync.Mutex
	last workflows.LastFreezes
	// attempted is the time when the last request ended, received the time when the last
	// request with a response began.
	attempted, received time.Time
	// start is the freeze that this worker sets at its start, until that is in force.
	start *workflows.Freeze
}

// Frozen returns the freeze that applies to a resource with the labels, and whether there
// is one. The list is read every 2 s; while Temporal is unreachable, the last list is used
// for a minute, and after that Frozen fails.
func (f *Fleet) Frozen(ctx context.Context, labels map[string]string) (writing.Freeze, bool, error) {
	now := time.Now()
	f.freezes.mu.Lock()
	read := f.freezes.start == nil && (servertime.Elapsed(f.freezes.attempted, now) >= maxFreezeAge ||
		servertime.Elapsed(f.freezes.received, now) >= maxFreezeOutage)
	f.freezes.mu.Unlock()
	if read {
		if _, err := f.freezes.reads.join(ctx); err != nil && (ctx.Err() != nil || f.freezes.outdated(now)) {
			return writing.Freeze{}, false, activities.TemporalError(err)
		}
	}
	freeze, frozen := f.KnownFreeze(labels)
	return freeze, frozen, nil
}

// KnownFreeze is Frozen by the last list, without a request.
func (f *Fleet) KnownFreeze(labels map[string]string) (writing.Freeze, bool) {
	f.freezes.mu.Lock()
	defer f.freezes.mu.Unlock()
	if start := f.freezes.start; start != nil {
		return f.freezeOf(*start), true
	}
	for _, freeze := range f.freezes.last.Frozen {
		if freeze.Matches(labels) {
			return f.freezeOf(freeze), true
		}
	}
	return writing.Freeze{}, false
}

// outdated reports whether the last list is too old to be used without Temporal.
func (f *freezes) outdated(now time.Time) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return servertime.Elapsed(f.received, now) >= maxFreezeOutage
}

func (f *Fleet) freezeOf(freeze workflows.Freeze) writing.Freeze {
	freeze = freeze.Open(f.options.Converters.Sealer(f.options.Namespace))
	return writing.Freeze{Selector: freeze.Selector, By: freeze.By, Reason: freeze.Reason, Since: freeze.Since}
}

// readFreezes reads the freezes in force, and keeps the list. Freezes that Temporal has no
// longer stay in force: an unfreeze ends the run first, which a worker that reads each
// minute sees long before the retention ends.
func (f *Fleet) readFreezes(ctx context.Context) ([]workflows.Freeze, error) {
	began := time.Now()
	last, err := f.lastFreezes(ctx)
	f.freezes.mu.Lock()
	defer f.freezes.mu.Unlock()
	f.freezes.attempted = time.Now()
	if err != nil {
		return nil, err
	}
	if last.Status == enumspb.WORKFLOW_EXECUTION_STATUS_UNSPECIFIED {
		last.HoldFreezeInput, last.TaskQueue = f.freezes.last.HoldFreezeInput, f.freezes.last.TaskQueue
	}
	f.freezes.last, f.freezes.received = last, began
	return last.Frozen, nil
}

// lastFreezes reads the freezes that the last run left in force.
func (f *Fleet) lastFreezes(ctx context.Context) (workflows.LastFreezes, error) {
	described, err := f.temporal.DescribeWorkflowExecution(ctx, workflows.FreezeWorkflowID, "")
	if isNotFound(err) {
		return workflows.LastFreezes{}, nil
	}
	if err != nil {
		return workflows.LastFreezes{}, fmt.Errorf("describe the workflow of freezes: %w", err)
	}
	return workflows.ReadFreezes(described.GetWorkflowExecutionInfo(), f.options.Converters.ClearData()), nil
}

// RestoreFreezes starts the workflow that keeps the freezes again if it ended without an
// unfreeze, and reports whether it did. It reads the freezes first, unless a check before a
// write has just done so: one request.
func (f *Fleet) RestoreFreezes(ctx context.Context) (restored bool, err error) {
	f.freezes.mu.Lock()
	read := servertime.Elapsed(f.freezes.received, time.Now()) >= maxFreezeAge
	f.freezes.mu.Unlock()
	if read {
		if _, err := f.freezes.reads.join(ctx); err != nil {
			return false, activities.TemporalError(err)
		}
	}
	f.freezes.mu.Lock()
	last := f.freezes.last
	f.freezes.mu.Unlock()
	if !last.Interrupted() {
		return false, nil
	}
	// Its workers demand the proofs of an unfreeze, which those of a queue for plans may not.
	queue := cmp.Or(last.TaskQueue, f.options.TaskQueue)
	restored, err = f.startFreezes(ctx, workflows.RestartOptions(last.HoldFreezeInput, queue), last.HoldFreezeInput)
	if restored {
		f.freezes.mu.Lock()
		f.freezes.last.Status = enumspb.WORKFLOW_EXECUTION_STATUS_RUNNING
		f.freezes.mu.Unlock()
	}
	return restored, err
}
