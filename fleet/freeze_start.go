package fleet

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/armature-io/armature/workflows"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/sdk/client"
)

const (
	// startFreezeTimeout bounds one try to set the freeze of a start.
	startFreezeTimeout = 10 * time.Second
	// startFreezeInterval is the wait before the next try.
	startFreezeInterval = 2 * time.Second
)

// StartFrozen makes this worker write nothing until the freeze is in force in Temporal,
// where KeepFrozen sets it. The freeze needs a Start.
func (f *Fleet) StartFrozen(freeze workflows.Freeze) {
	sealed, err := freeze.Seal(f.options.Converters.Sealer(f.options.Namespace))
	if err != nil {
		freeze.By, freeze.Reason = "", "" // a freeze needs no author
		sealed = freeze
	}
	freeze = sealed
	f.freezes.mu.Lock()
	defer f.freezes.mu.Unlock()
	f.freezes.start = &freeze
}

// KeepFrozen sets the freeze of StartFrozen in Temporal, and tries until ctx is done: a
// workflow that keeps freezes already needs a worker to take one more. It reports whether
// another worker, or an earlier start of this one, had set it: then a user may have lifted
// it, and nothing changes. Failures are passed to failed.
func (f *Fleet) KeepFrozen(ctx context.Context, failed func(error)) (known bool, err error) {
	f.freezes.mu.Lock()
	start := f.freezes.start
	f.freezes.mu.Unlock()
	if start == nil {
		return false, nil
	}
	for {
		attempt, cancel := context.WithTimeout(ctx, startFreezeTimeout)
		known, err = f.keepFrozen(attempt, *start)
		cancel()
		if err == nil {
			// A read that began earlier may not know the freeze.
			_, readErr := f.freezes.reads.after(ctx)
			f.freezes.mu.Lock()
			f.freezes.start = nil
			if readErr != nil {
				f.freezes.attempted, f.freezes.received = time.Time{}, time.Time{}
			}
			f.freezes.mu.Unlock()
			return known, nil
		}
		if ctx.Err() != nil {
			return false, ctx.Err()
		}
		failed(err)
		select {
		case <-ctx.Done():
			return false, ctx.Err()
		case <-time.After(startFreezeInterval):
		}
	}
}

// keepFrozen is one try. It succeeds when the memo has the name of the start.
func (f *Fleet) keepFrozen(ctx context.Context, freeze workflows.Freeze) (known bool, err error) {
	last, err := f.lastFreezes(ctx)
	switch {
	case err != nil:
		return false, err
	case slices.Contains(last.Starts, freeze.Start):
		return true, nil
	case last.Running():
		err = f.updateFreezes(ctx, freeze)
	default:
		in, _ := last.Add(freeze)
		_, err = f.startFreezes(ctx, workflows.FreezeStartOptions(in, f.options.TaskQueue), in)
	}
	if err != nil {
		return false, err
	}
	if last, err = f.lastFreezes(ctx); err != nil {
		return false, err
	}
	if !slices.Contains(last.Starts, freeze.Start) {
		return false, errors.New("the workflow that keeps freezes did not record the start: a worker of an older release may serve it, or another worker started it now")
	}
	return false, nil
}

// startFreezes starts the workflow that keeps freezes, and reports false if the server
// refuses that: another run is open, or completed meanwhile.
func (f *Fleet) startFreezes(ctx context.Context, options client.StartWorkflowOptions, in workflows.HoldFreezeInput) (bool, error) {
	_, err := f.temporal.ExecuteWorkflow(ctx, options, workflows.HoldFreezeWorkflow, in)
	if _, started := errors.AsType[*serviceerror.WorkflowExecutionAlreadyStarted](err); started {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("start the workflow of freezes: %w", err)
	}
	return true, nil
}

// updateFreezes sends the freeze to the running workflow.
func (f *Fleet) updateFreezes(ctx context.Context, freeze workflows.Freeze) error {
	handle, err := f.temporal.UpdateWorkflow(ctx, client.UpdateWorkflowOptions{
		WorkflowID: workflows.FreezeWorkflowID, UpdateName: workflows.FreezeUpdate, Args: []any{freeze},
		WaitForStage: client.WorkflowUpdateStageCompleted,
	})
	if err == nil {
		err = handle.Get(ctx, nil)
	}
	if err != nil {
		return fmt.Errorf("send the freeze to the workflow of freezes: %w", err)
	}
	return nil
}
