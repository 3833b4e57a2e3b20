package activities

import (
	"context"
	"fmt"
	"strings"
	"time"

	"golang.org/x/time/rate"

	"github.com/armature-io/armature/internal/text"
	"github.com/armature-io/armature/resource"
)

// Freeze is a stop of every PUT and DELETE of the resources that its selector
// matches.
type Freeze struct {
	Selector, By, Reason string
	Since                time.Time
}

// Freezer knows what is frozen.
type Freezer interface {
	// Frozen is the freeze that holds a resource with such labels.
	Frozen(ctx context.Context, labels map[string]string) (Freeze, bool, error)
}

// frozen is the verdict that keeps a write of a frozen resource from being sent;
// nil when nothing does. Whoever does not know sends nothing.
func (a *Activities) frozen(ctx context.Context, desired resource.Desired) *resource.Verdict {
	freeze, held, err := a.Freezer.Frozen(ctx, desired.Labels)
	switch {
	case err != nil:
		verdict := resource.Fail(resource.ReasonCheckFailed, resource.RetrySlow,
			fmt.Sprintf("Temporal could not tell whether %s is frozen, so nothing is written: %v", desired.ID.Short(), err))
		return &verdict
	case !held:
		return nil
	}
	what, take := "everything", "armature unfreeze"
	if freeze.Selector != "" {
		what, take = "every resource with "+freeze.Selector, "armature unfreeze -l "+freeze.Selector
	}
	message := fmt.Sprintf("%s froze %s at %s", freeze.By, what, text.Time(freeze.Since))
	if freeze.Reason != "" {
		message += " (" + freeze.Reason + ")"
	}
	verdict := resource.Block(resource.ReasonFrozen, message+": reads go on, nothing is written; "+take+" ends it")
	return &verdict
}

// newBudget bounds the corrections of one worker: perHour of them at once, and
// as many in each hour.
func newBudget(perHour int) *rate.Limiter {
	if perHour <= 0 {
		return rate.NewLimiter(rate.Inf, 0)
	}
	return rate.NewLimiter(rate.Limit(float64(perHour)/time.Hour.Seconds()), perHour)
}

// overBudget is the verdict that holds a correction back which is one too many
// for this worker and hour; nil when it is not. A correction is a PUT that
// nobody asked for: the spec was Ready before. So one release that sees
// differences everywhere cannot rewrite a fleet.
func (a *Activities) overBudget(correction bool) *resource.Verdict {
	if !correction || a.budget.AllowN(a.now(), 1) {
		return nil
	}
	verdict := resource.Block(resource.ReasonHeld, fmt.Sprintf(
		"this worker has put back %d resources within an hour, which is its put-budget, and holds this PUT back; look whether the differences are real. "+
			"It goes on by itself at the pace of the budget; armature apply of a changed manifest is not held", a.options.PutBudget))
	verdict.RetryAfter = time.Duration(float64(time.Hour) / float64(a.options.PutBudget))
	return &verdict
}

// adopted judges what the pre-check says by the manifest's wishes for a resource
// that exists and was never applied here (adopt), and for one that vanished
// (recreate). The second result asks for the differences to become the baseline.
func adopted(verdict resource.Verdict, in PreCheckInput, exists bool) (resource.Verdict, bool) {
	desired := in.Desired
	switch {
	case verdict.Stops():
	case !exists && in.Applied:
		return disappeared(verdict, desired), false
	case !exists && desired.Adopt == resource.AdoptOnly:
		stop := resource.Block(resource.ReasonNotFound, desired.ID.Short()+" does not exist in Azure, and adopt: only creates nothing")
		stop.Class = resource.RetryVerySlow
		return stop, false
	case exists && !in.Applied && desired.Adopt == resource.AdoptNever:
		return resource.Fail(resource.ReasonAlreadyExists, resource.RetryNone, fmt.Sprintf(
			"%s exists in Azure and was not made by this manifest (adopt: never); nothing is changed. To take it over, write adopt: always, or as-is to keep it as it is",
			desired.ID.Short())), false
	case exists && !in.Applied && desired.Adopt == resource.AdoptAsIs && verdict.Action == resource.ActionProceed:
		return resource.Verdict{
			Action: resource.ActionSkip, Reason: resource.ReasonInSync, Differences: verdict.Differences, More: verdict.More,
			Message: fmt.Sprintf("adopted as it is: its differences from the manifest (%d) are kept and not fought", len(verdict.Differences)+verdict.More),
		}, true
	}
	return verdict, false
}

// makesNothing reports whether a manifest lets what vanished stay away.
func makesNothing(desired resource.Desired) bool {
	return desired.Adopt == resource.AdoptOnly || strings.EqualFold(string(desired.Recreate), string(resource.RecreateNever))
}

// vanished is the verdict of a PUT that would make again what was there when the
// pass read it: the next pass says why it stays away.
func vanished(desired resource.Desired) resource.Verdict {
	return resource.Block(resource.ReasonDisappeared, desired.ID.Short()+" vanished since this pass read it, and the manifest does not let it be made again")
}

// appeared is the verdict of a PUT that would make what somebody else made since
// the pass read it: the next pass adopts it as the manifest says.
func appeared(desired resource.Desired) resource.Verdict {
	verdict := resource.Block(resource.ReasonAlreadyExists, fmt.Sprintf(
		"somebody made %s since this pass read it (adopt: %s); nothing is changed", desired.ID.Short(), desired.Adopt))
	verdict.Class = resource.RetrySlow
	return verdict
}

// disappeared names a create that nobody asked for.
func disappeared(verdict resource.Verdict, desired resource.Desired) resource.Verdict {
	if strings.EqualFold(string(desired.Recreate), string(resource.RecreateNever)) {
		stop := resource.Block(resource.ReasonDisappeared, desired.ID.Short()+
			" was deleted by somebody else, and recreate: never leaves it so; delete it here too, or write recreate: always")
		stop.Class = resource.RetryVerySlow
		return stop
	}
	verdict.Reason = resource.ReasonDisappeared
	verdict.Message = "it was deleted by somebody else and is created again"
	return verdict
}
