package activities

import (
	"fmt"
	"time"

	"github.com/armature-io/armature/resource"
)

// reportDrift returns a verdict that names a due write without making it, where the
// policy is observe; any other verdict as it is.
func reportDrift(verdict resource.Verdict, desired resource.Desired) resource.Verdict {
	if desired.Policy != resource.PolicyObserve || verdict.Action != resource.ActionProceed {
		return verdict
	}
	message := "Drift: " + verdict.Message
	if verdict.Create {
		message = desired.ID.Short() + " does not exist in Azure"
	}
	return resource.Verdict{
		Action: resource.ActionFailure, Reason: resource.ReasonDriftDetected, Severity: resource.SeverityWarning,
		Class: resource.ReasonDriftDetected.Class(), Message: message + " (policy observe: nothing is changed)",
		Differences: verdict.Differences, More: verdict.More, RequestID: verdict.RequestID,
	}
}

// checkAdoption applies the manifest's adopt to a resource that exists and was
// never applied by this workflow, and recreate to one that disappeared. The second
// result makes the differences the baseline.
func (c *comparer) checkAdoption(now time.Time, verdict resource.Verdict, in PreCheckInput, exists bool) (resource.Verdict, bool) {
	desired := in.Desired
	switch {
	case !exists && !in.Moved.IsZero():
		return movedVerdict(in), false
	case verdict.Stops():
	case !exists && c.isSettling(in, now):
		return c.settlingVerdict(in, now), false
	case !exists && in.disappeared():
		return c.disappearedVerdict(verdict, in), false
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
