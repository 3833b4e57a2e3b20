package activities

import (
	"context"
	"time"

	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/temporal"

	"github.com/armature-io/armature/internal/tracing"
	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/secrets"
)

// sweepInterval is the time between the first sweep and the second one: a workflow
// that began to wait just before the first is visible by then.
const sweepInterval = 5 * time.Second

// maxWakeDoublings bounds the doublings of the delay after an error, to 16 s: a
// late wake is useless.
const maxWakeDoublings = 4

// errorWake is the type of an error while waking; it is in histories.
const errorWake = "WakeFailed"

// WakeDependentsInput is a resource that changed.
type WakeDependentsInput struct {
	ID    resource.ID `json:"id"`
	State string      `json:"state"`
	// At is when the workflow noticed the change.
	At time.Time `json:"at"`
	// Needed are the resources that a deleted one needed: if they are being deleted,
	// it may have blocked them.
	Needed []resource.ID `json:"needed,omitempty"`
	// Fallen are the resources that fell with one that is replaced, with the approval of the user
	// who replaced it: they read themselves now, and are created again.
	Fallen []resource.ID `json:"fallen,omitempty"`
	// Once skips the second sweep: the run is about to end.
	Once bool `json:"once,omitempty"`
}

// WakeDependentsResult counts the signals.
type WakeDependentsResult struct {
	Woken int `json:"woken"`
}

// WakeDependents notifies the workflows that wait for a resource that it changed,
// in two sweeps. It waits between them in its slot, or makes the second one in
// another attempt. After a deletion it also wakes the needed resources that are
// being deleted.
func (a *Activities) WakeDependents(ctx context.Context, in WakeDependentsInput) (WakeDependentsResult, error) {
	heartbeat := startHeartbeat[wakeProgress](ctx)
	defer heartbeat.stop()
	progress := heartbeat.progress()
	for {
		woken, err := a.sweep(ctx, in)
		progress.Woken += woken
		if err != nil {
			heartbeat.send(progress)
			return WakeDependentsResult{}, temporal.NewApplicationErrorWithOptions(
				"wake dependents of "+in.ID.Short()+": "+secrets.Scrub(err.Error(), nil), errorWake,
				temporal.ApplicationErrorOptions{NextRetryDelay: transientDelay << min(activity.GetInfo(ctx).Attempt-1, maxWakeDoublings)})
		}
		progress.Sweeps++
		if in.Once || progress.Sweeps >= 2 {
			return WakeDependentsResult{Woken: progress.Woken}, nil
		}
		heartbeat.set(progress)
		if !a.waitInSlot(ctx, sweepInterval) {
			heartbeat.send(progress)
			return WakeDependentsResult{}, notYet("second sweep in "+sweepInterval.String(), sweepInterval)
		}
	}
}

// sweep wakes the resources that wait now, and returns their number.
func (a *Activities) sweep(ctx context.Context, in WakeDependentsInput) (int, error) {
	change := Change{ID: in.ID, State: in.State, At: in.At, Trace: tracing.ParentOf(ctx).Traceparent}
	woken, err := 0, error(nil)
	if !a.Registry.Leaf(in.ID.Type()) {
		woken, err = a.Waker.Wake(ctx, change)
	}
	if err == nil && len(in.Fallen) > 0 {
		var fallen int
		fallen, err = a.Waker.WakeFallen(ctx, change, in.Fallen)
		woken += fallen
	}
	if err != nil || len(in.Needed) == 0 {
		return woken, err
	}
	deleting, err := a.Waker.WakeDeleting(ctx, change, in.Needed)
	return woken + deleting, err
}

// wakeProgress is what an attempt records for the next one.
type wakeProgress struct {
	Sweeps int `json:"sweeps"`
	Woken  int `json:"woken"`
}
