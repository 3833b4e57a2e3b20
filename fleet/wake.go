package fleet

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/armature-io/armature/activities"
	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/searchattr"
	"github.com/armature-io/armature/workflows"
	"go.temporal.io/api/serviceerror"
	workflowpb "go.temporal.io/api/workflow/v1"
	"golang.org/x/sync/errgroup"
)

// signalsAtOnce bounds the signals that are on their way.
const signalsAtOnce = 16

// Wake signals who waits for a resource. Wakes of a moment share one list. A
// workflow that waits for several of them hears of each: what it does not hear of
// it would read from before the change.
func (f *Fleet) Wake(ctx context.Context, change activities.Change) (int, error) {
	return f.wakes.do(ctx, change)
}

// wakeAll signals who waits for one of the changed resources.
func (f *Fleet) wakeAll(ctx context.Context, changes []activities.Change) ([]int, error) {
	at := make(map[string]int, len(changes))
	var keys []string
	for i, change := range changes {
		key := workflows.WaitingKey(change.ID)
		last, known := at[key]
		if !known {
			keys = append(keys, key)
		}
		if !known || change.At.After(changes[last].At) {
			at[key] = i
		}
	}
	woken := make([]int, len(changes))
	var mu sync.Mutex
	// Not bound together: who cannot be told must not keep the others asleep.
	var signals errgroup.Group
	signals.SetLimit(signalsAtOnce)
	err := f.pages(ctx, searchattr.ReconcileWaitingFor, keys, func(page []*workflowpb.WorkflowExecutionInfo) bool {
		for _, info := range page {
			for _, i := range changed(info, at) {
				signals.Go(func() error {
					told, err := f.signal(ctx, info.GetExecution().GetWorkflowId(), changes[i])
					if told {
						mu.Lock()
						woken[i]++
						mu.Unlock()
					}
					return err
				})
			}
		}
		return ctx.Err() != nil
	})
	return woken, errors.Join(err, signals.Wait())
}

// changed are the changes for which a workflow waits.
func changed(info *workflowpb.WorkflowExecutionInfo, at map[string]int) []int {
	var found []int
	for _, key := range keysIn(info, searchattr.ReconcileWaitingFor) {
		if i, known := at[key]; known {
			found = append(found, i)
		}
	}
	return found
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

// tellDeleting tells each resource once, of the latest change: an older one may
// be known there, and what is known wakes nobody.
func (f *Fleet) tellDeleting(ctx context.Context, targets []target) ([]bool, error) {
	last := map[string]int{}
	for i, t := range targets {
		if known, ok := last[t.id.Key()]; !ok || t.change.At.After(targets[known].change.At) {
			last[t.id.Key()] = i
		}
	}
	told := make([]bool, len(targets))
	var all errgroup.Group
	all.SetLimit(signalsAtOnce)
	for _, i := range last {
		all.Go(func() error {
			managed, known, err := f.Managed(ctx, targets[i].id)
			if err != nil || !known || !managed.Deleting {
				return err
			}
			told[i], err = f.signal(ctx, targets[i].id.WorkflowID(), targets[i].change)
			return err
		})
	}
	return told, all.Wait()
}
