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
	workflowpb "go.temporal.io/api/workflow/v1"
	"golang.org/x/sync/errgroup"
)

// maxSignals bounds the signals that are sent at a time.
const maxSignals = 16

// Wake signals the workflows that wait for a resource and returns how many. Concurrent
// wakes share one list. A workflow that waits for several changed resources gets a signal
// for each, otherwise it might use a reading from before a change.
func (f *Fleet) Wake(ctx context.Context, change activities.Change) (int, error) {
	return f.wakes.do(ctx, change)
}

// wakeAll signals the workflows that wait for one of the changed resources.
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
	// Not cancelled together: one signal that fails must not prevent the others.
	var signals errgroup.Group
	signals.SetLimit(maxSignals)
	err := f.pages(ctx, keysQuery(searchattr.ReconcileWaitingFor, keys), func(page []*workflowpb.WorkflowExecutionInfo) bool {
		for _, info := range page {
			for _, i := range changed(info, at) {
				signals.Go(func() error {
					sent, err := f.signal(ctx, info.GetExecution().GetWorkflowId(), changes[i])
					if sent {
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

// changed returns the indexes of the changes that a workflow waits for.
func changed(info *workflowpb.WorkflowExecutionInfo, at map[string]int) []int {
	var found []int
	for _, key := range keysIn(info, searchattr.ReconcileWaitingFor) {
		if i, known := at[key]; known {
			found = append(found, i)
		}
	}
	return found
}

// signal wakes one workflow, and reports false when it ended meanwhile.
func (f *Fleet) signal(ctx context.Context, workflowID string, change activities.Change) (bool, error) {
	err := f.temporal.SignalWorkflow(ctx, workflowID, "", workflows.WakeSignal, workflows.WakeInput(change))
	switch {
	case isNotFound(err):
		return false, nil
	case err != nil:
		return false, fmt.Errorf("signal %s: %w", workflowID, err)
	}
	return true, nil
}

// target is a resource to wake if it is being deleted.
type target struct {
	id     resource.ID
	change activities.Change
}

// WakeDeleting signals the needed resources that are being deleted, and returns
// how many. Many children that end together cause one signal to their owner.
func (f *Fleet) WakeDeleting(ctx context.Context, change activities.Change, needed []resource.ID) (int, error) {
	var woken atomic.Int64
	var all errgroup.Group
	for _, id := range needed {
		all.Go(func() error {
			sent, err := f.targets.do(ctx, target{id, change})
			if sent {
				woken.Add(1)
			}
			return err
		})
	}
	err := all.Wait()
	return int(woken.Load()), err
}

// wakeDeletingAll signals each resource once, with its latest change: the resource may
// know an older one, and a known change wakes no workflow.
func (f *Fleet) wakeDeletingAll(ctx context.Context, targets []target) ([]bool, error) {
	last := map[string]int{}
	for i, t := range targets {
		if known, ok := last[t.id.Key()]; !ok || t.change.At.After(targets[known].change.At) {
			last[t.id.Key()] = i
		}
	}
	woken := make([]bool, len(targets))
	var all errgroup.Group
	all.SetLimit(maxSignals)
	for _, i := range last {
		all.Go(func() error {
			managed, known, err := f.Managed(ctx, targets[i].id)
			if err != nil || !known || !managed.Deleting {
				return err
			}
			woken[i], err = f.signal(ctx, targets[i].id.WorkflowID(), targets[i].change)
			return err
		})
	}
	return woken, all.Wait()
}
