package activities

import (
	"context"
	"fmt"
	"time"

	"github.com/armature-io/armature/internal/text"
	"github.com/armature-io/armature/resource"
)

// Freeze stops every PUT and DELETE of the resources that its selector matches.
type Freeze struct {
	Selector, By, Reason string
	Since                time.Time
}

// Freezer looks up freezes.
type Freezer interface {
	// Frozen returns the freeze that applies to a resource with such labels.
	Frozen(ctx context.Context, labels map[string]string) (Freeze, bool, error)
}

// checkFreeze returns the verdict that stops a write of a frozen resource, and every write
// of a read-only worker, nil where nothing does. A worker that cannot look up freezes sends
// nothing.
func (f fences) checkFreeze(ctx context.Context, desired resource.Desired) *resource.Verdict {
	if f.readOnly {
		return new(resource.Block(resource.ReasonReadOnly, "this worker is read-only (read-only in its configuration): "+
			"reads continue, nothing is written; a worker without it, on the same task queue, writes"))
	}
	freeze, frozen, err := f.freezer.Frozen(ctx, desired.Labels)
	switch {
	case err != nil:
		return new(resource.Fail(resource.ReasonCheckFailed, resource.RetrySlow,
			fmt.Sprintf("cannot look up freezes of %s in Temporal, so nothing is written: %v", desired.ID.Short(), err)))
	case !frozen:
		return nil
	}
	what, command := "everything", "armature unfreeze"
	if freeze.Selector != "" {
		what, command = "every resource with "+freeze.Selector, "armature unfreeze -l "+freeze.Selector
	}
	message := fmt.Sprintf("%s froze %s at %s", freeze.By, what, text.Time(freeze.Since))
	if freeze.Reason != "" {
		message += " (" + freeze.Reason + ")"
	}
	return new(resource.Block(resource.ReasonFrozen, message+": reads continue, nothing is written; to lift it, run "+command))
}

// checkAdoption applies the manifest's adopt to a resource that exists and was
// never applied by this workflow, and recreate to one that disappeared. The second
// result makes the differences the baseline.
func (a *Activities) checkAdoption(now time.Time, verdict resource.Verdict, in PreCheckInput, exists bool) (resource.Verdict, bool) {
	desired := in.Desired
	switch {
	case !exists && !in.Moved.IsZero():
		return movedVerdict(in), false
	case verdict.Stops():
	case !exists && in.unshown(now):
		return unshownVerdict(in, now), false
	case !exists && in.disappeared():
		return a.disappearedVerdict(verdict, in), false
	case !exists && desired.Put == resource.PutPatch:
		stop := resource.Block(resource.ReasonNotFound, desired.ID.Short()+" does not exist in Azure, and put: patch only changes what exists")
		stop.Class = resource.RetryVerySlow
		return stop, false
	case !exists && desired.Adopt == resource.AdoptOnly:
		stop := resource.Block(resource.ReasonNotFound, desired.ID.Short()+" does not exist in Azure, and adopt: only creates nothing")
		stop.Class = resource.RetryVerySlow
		return stop, false
	case exists && !in.Applied && desired.Adopt == resource.AdoptNever:
		return resource.Fail(resource.ReasonAlreadyExists, resource.RetryNone, fmt.Sprintf(
			"%s exists in Azure and was not created by this manifest (adopt: never); nothing is changed. To manage it, set adopt: always, or as-is to keep its differences",
			desired.ID.Short())), false
	case exists && !in.Applied && desired.Adopt == resource.AdoptAsIs && verdict.Action == resource.ActionProceed:
		return resource.Verdict{
			Action: resource.ActionSkip, Reason: resource.ReasonInSync, Differences: verdict.Differences, More: verdict.More,
			Message: fmt.Sprintf("adopted as-is: its differences from the manifest (%d) are kept and not corrected", len(verdict.Differences)+verdict.More),
		}, true
	}
	return verdict, false
}

// createdSinceRead is the verdict of a PUT that would change a resource which was
// created since the pass read it: the next pass adopts it as the manifest allows.
func createdSinceRead(desired resource.Desired) resource.Verdict {
	verdict := resource.Block(resource.ReasonAlreadyExists, fmt.Sprintf(
		"another tool or user created %s since this pass read it (adopt: %s); nothing is changed", desired.ID.Short(), desired.Adopt))
	verdict.Class = resource.RetrySlow
	return verdict
}
