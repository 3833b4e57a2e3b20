package fleet

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/armature-io/armature/activities"
	"github.com/armature-io/armature/internal/searchattr"
	"github.com/armature-io/armature/resource"
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
	woken, err := f.wakes.Do(ctx, change)
	return woken.count, errors.Join(err, woken.err)
}

// woken is the result of one change of a batch. Its errors come from its own signals:
// a change is not repeated because a signal of another one failed.
type woken struct {
	count int
	err   error
}

// wakeAll signals the workflows that wait for one of the changed resources.
func (f *Fleet) wakeAll(ctx context.Context, changes []activities.Change) ([]woken, error) {
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
	results := make([]woken, len(changes))
	var mu sync.Mutex
	var signals errgroup.Group
	signals.SetLimit(maxSignals)
	err := f.pages(ctx, keysQuery(searchattr.ReconcileWaitingFor, keys), func(page []*workflowpb.WorkflowExecutionInfo) bool {
		for _, info := range page {
			for _, i := range changed(info, at) {
				signals.Go(func() error {
					sent, err := f.wake(ctx, info.GetExecution().GetWorkflowId(), changes[i])
					mu.Lock()
					defer mu.Unlock()
					if sent {
						results[i].count++
					}
					results[i].err = errors.Join(results[i].err, err)
					return nil
				})
			}
		}
		return ctx.Err() != nil
	})
	_ = signals.Wait() // the errors are in the results
	return results, err
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

// wake signals one workflow that waits, and reports false if it ended meanwhile.
func (f *Fleet) wake(ctx context.Context, workflowID string, change activities.Change) (bool, error) {
	return f.signal(ctx, workflowID, workflows.WakeSignal, workflows.WakeInput(change))
}

// signal signals one workflow, and reports false if it ended meanwhile.
func (f *Fleet) signal(ctx context.Context, workflowID, name string, input any) (bool, error) {
	err := f.temporal.SignalWorkflow(ctx, workflowID, "", name, input)
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
	var total atomic.Int64
	var all errgroup.Group
	for _, id := range needed {
		all.Go(func() error {
			result, err := f.targets.Do(ctx, target{id, change})
			total.Add(int64(result.count))
			return errors.Join(err, result.err)
		})
	}
	err := all.Wait()
	return int(total.Load()), err
}

// WakeFallen signals resources that fell with a replaced one, whatever they wait for, and
// returns how many. The approval to create them again is an update as of a user, which the
// worker's checks of senders see; a signal approves nothing.
func (f *Fleet) WakeFallen(ctx context.Context, change activities.Change, fallen []resource.ID) (int, error) {
	var total atomic.Int64
	var all errgroup.Group
	all.SetLimit(maxSignals)
	for _, id := range fallen {
		all.Go(func() error {
			sent, err := f.wake(ctx, id.WorkflowID(), change)
			if err != nil || !sent {
				return err
			}
			total.Add(1)
			err = f.update(ctx, id, workflows.ReconcileUpdate, workflows.ReconcileInput{Recreate: true, By: "replacement of " + change.ID.Short()})
			if err != nil && !isNotFound(err) && refusalKind(err) != workflows.RefusedNotManaged {
				return fmt.Errorf("approve the recreation of %s: %w", id, err)
			}
			return nil
		})
	}
	err := all.Wait()
	return int(total.Load()), err
}

// wakeDeletingAll signals each resource once, with its latest change: the resource may
// know an older one, and a known change wakes no workflow.
func (f *Fleet) wakeDeletingAll(ctx context.Context, targets []target) ([]woken, error) {
	last := map[string]int{}
	for i, t := range targets {
		if known, ok := last[t.id.Key()]; !ok || t.change.At.After(targets[known].change.At) {
			last[t.id.Key()] = i
		}
	}
	results := make([]woken, len(targets))
	var all errgroup.Group
	all.SetLimit(maxSignals)
	for _, i := range last {
		all.Go(func() error {
			results[i] = f.wakeDeleting(ctx, targets[i])
			return nil
		})
	}
	_ = all.Wait() // the errors are in the results
	return results, nil
}

// wakeDeleting signals one resource if it is being deleted.
func (f *Fleet) wakeDeleting(ctx context.Context, t target) woken {
	managed, known, err := f.Managed(ctx, t.id)
	if err != nil || !known || !managed.Deleting {
		return woken{err: err}
	}
	sent, err := f.wake(ctx, t.id.WorkflowID(), t.change)
	if sent {
		return woken{count: 1, err: err}
	}
	return woken{err: err}
}

// Awaited reports whether a workflow waits for a resource. Concurrent calls share one list.
func (f *Fleet) Awaited(ctx context.Context, id resource.ID) (bool, error) {
	return f.awaited.Do(ctx, id)
}

// awaitedOf reports of each resource whether a workflow waits for it.
func (f *Fleet) awaitedOf(ctx context.Context, ids []resource.ID) ([]bool, error) {
	found := map[string]bool{}
	for _, id := range ids {
		found[workflows.WaitingKey(id)] = false
	}
	missing := len(found)
	err := f.pages(ctx, keysQuery(searchattr.ReconcileWaitingFor, slices.Sorted(maps.Keys(found))), func(page []*workflowpb.WorkflowExecutionInfo) bool {
		for _, info := range page {
			for _, key := range keysIn(info, searchattr.ReconcileWaitingFor) {
				if awaited, asked := found[key]; asked && !awaited {
					found[key] = true
					missing--
				}
			}
		}
		return missing == 0 || ctx.Err() != nil
	})
	results := make([]bool, len(ids))
	for i, id := range ids {
		results[i] = found[workflows.WaitingKey(id)]
	}
	return results, errors.Join(err, ctx.Err())
}
