package fleet

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/armature-io/armature/activities"
	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/workflows"
	"go.temporal.io/api/serviceerror"
	workflowpb "go.temporal.io/api/workflow/v1"
	"golang.org/x/sync/errgroup"
)

// signalsAtOnce bounds the signals that are on their way.
const signalsAtOnce = 16

// Wake signals who waits for a resource. Wakes of a moment share one list, and a
// workflow that waits for several of them gets one signal.
func (f *Fleet) Wake(ctx context.Context, change activities.Change) (int, error) {
	return f.wakes.do(ctx, change)
}

// wakeAll signals who waits for one of the changed resources.
func (f *Fleet) wakeAll(ctx context.Context, changes []activities.Change) ([]int, error) {
	at := make(map[string]int, len(changes))
	var keys []string
	for i, change := range changes {
		key := workflows.WaitingKey(change.ID)
		if _, known := at[key]; !known {
			keys = append(keys, key)
		}
		at[key] = i // the later change of one resource counts
	}
	woken := make([]int, len(changes))
	var mu sync.Mutex
	signals, signaling := errgroup.WithContext(ctx)
	signals.SetLimit(signalsAtOnce)
	err := f.pages(ctx, attributeWaitingFor, keys, func(page []*workflowpb.WorkflowExecutionInfo) bool {
		for _, info := range page {
			i := changed(info, at)
			if i < 0 {
				continue
			}
			signals.Go(func() error {
				told, err := f.signal(signaling, info.GetExecution().GetWorkflowId(), changes[i])
				if told {
					mu.Lock()
					woken[i]++
					mu.Unlock()
				}
				return err
			})
		}
		return signaling.Err() != nil
	})
	return woken, errors.Join(err, signals.Wait())
}

// changed is the first change for which a workflow waits, -1 for none.
func changed(info *workflowpb.WorkflowExecutionInfo, at map[string]int) int {
	for _, key := range keysIn(info, attributeWaitingFor) {
		if i, known := at[key]; known {
			return i
		}
	}
	return -1
}

// signal tells one workflow; false when it ended meanwhile.
func (f *Fleet) signal(ctx context.Context, workflowID string, change activities.Change) (bool, error) {
	err := f.temporal.SignalWorkflow(ctx, workflowID, "", workflows.WakeSignal, workflows.WakeInput(change))
	var notFound *serviceerror.NotFound
	switch {
	case errors.As(err, &notFound):
		return false, nil
	case err != nil:
		return false, fmt.Errorf("signal %s: %w", workflowID, err)
	}
	return true, nil
}

// target is a resource that is to be told if it is being deleted.
type target struct {
	id     resource.ID
	change activities.Change
}

// WakeDeleting signals the workflows of resources that are being deleted. Many
// children that end together are one signal to their owner.
func (f *Fleet) WakeDeleting(ctx context.Context, change activities.Change, needed []resource.ID) (int, error) {
	var told atomic.Int64
	var all errgroup.Group
	for _, id := range needed {
		all.Go(func() error {
			one, err := f.targets.do(ctx, target{id, change})
			if one {
				told.Add(1)
			}
			return err
		})
	}
	err := all.Wait()
	return int(told.Load()), err
}

func (f *Fleet) tellDeleting(ctx context.Context, targets []target) ([]bool, error) {
	told := make([]bool, len(targets))
	done := map[string]bool{}
	for i := len(targets) - 1; i >= 0; i-- {
		key := targets[i].id.Key()
		if done[key] {
			continue
		}
		done[key] = true
		managed, known, err := f.Managed(ctx, targets[i].id)
		if err != nil {
			return nil, err
		}
		if !known || !managed.Deleting {
			continue
		}
		if told[i], err = f.signal(ctx, targets[i].id.WorkflowID(), targets[i].change); err != nil {
			return nil, err
		}
	}
	return told, nil
}
