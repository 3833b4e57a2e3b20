package activities

import (
	"context"
	"time"

	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/temporal"

	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/secrets"
)

// secondSweep is how long after the first sweep the second one comes: a
// workflow that began to wait just before the first is visible by then.
const secondSweep = 5 * time.Second

// wakeFaults bounds the doublings of the delay after a fault: 16 s at most, for
// a wake that is too late is none.
const wakeFaults = 4

// errorWake is the type of a fault while waking; it lives in histories.
const errorWake = "WakeFailed"

// WakeDependentsInput names a resource that changed.
type WakeDependentsInput struct {
	ID    resource.ID `json:"id"`
	State string      `json:"state"`
	// At is when the workflow saw the change.
	At time.Time `json:"at"`
	// Needed are the resources that a deleted one needed: if they are being
	// deleted, it may have held them up.
	Needed []resource.ID `json:"needed,omitempty"`
	// Once leaves the second sweep out: the run is about to end.
	Once bool `json:"once,omitempty"`
}

// WakeDependentsResult counts the signals.
type WakeDependentsResult struct {
	Woken int `json:"woken"`
}

// WakeDependents tells the workflows that wait for a resource that it changed,
// twice. The wait in between is in place; where there is no place for it, the
// second sweep is another attempt. When the resource is gone, those that it needed
// and that are being deleted are told too.
func (a *Activities) WakeDependents(ctx context.Context, in WakeDependentsInput) (WakeDependentsResult, error) {
	heart := startHeart[wakeProgress](ctx)
	defer heart.stop()
	progress := heart.progress()
	for {
		woken, err := a.sweep(ctx, in)
		progress.Woken += woken
		if err != nil {
			heart.record(progress)
			return WakeDependentsResult{}, temporal.NewApplicationErrorWithOptions(
				"wake those who wait for "+in.ID.Short()+": "+secrets.Scrub(err.Error(), nil), errorWake,
				temporal.ApplicationErrorOptions{NextRetryDelay: faultDelay << min(activity.GetInfo(ctx).Attempt-1, wakeFaults)})
		}
		progress.Sweeps++
		if in.Once || progress.Sweeps >= 2 {
			return WakeDependentsResult{Woken: progress.Woken}, nil
		}
		heart.keep(progress)
		if !a.waitInPlace(ctx, secondSweep) {
			heart.record(progress)
			return WakeDependentsResult{}, notYet("the second sweep comes in "+secondSweep.String(), secondSweep)
		}
	}
}

// sweep tells those who wait now.
func (a *Activities) sweep(ctx context.Context, in WakeDependentsInput) (int, error) {
	woken, err := 0, error(nil)
	if !a.Registry.Leaf(in.ID.Type()) {
		woken, err = a.Waker.Wake(ctx, in.change())
	}
	if err == nil && len(in.Needed) > 0 {
		told := 0
		told, err = a.Waker.WakeDeleting(ctx, in.change(), in.Needed)
		woken += told
	}
	return woken, err
}

// wakeProgress is what an attempt leaves to the next one.
type wakeProgress struct {
	Sweeps int `json:"sweeps"`
	Woken  int `json:"woken"`
}

func (in WakeDependentsInput) change() Change { return Change{ID: in.ID, State: in.State, At: in.At} }
