package activities

import (
	"fmt"
	"time"

	"github.com/armature-io/armature/resource"
)

// policyOf returns the policy under which this worker handles a resource.
func (m *requestMaker) policyOf(desired resource.Desired) resource.Policy {
	policy, _ := m.observed.PolicyOf(desired)
	return policy
}

// observing returns why a resource is only observed: "policy observe", or the setting of the
// worker; "" if it may be written.
func (m *requestMaker) observing(desired resource.Desired) string {
	policy, origin := m.observed.PolicyOf(desired)
	if policy != resource.PolicyObserve {
		return ""
	}
	return origin
}

// reportDrift returns a verdict that names a due write without making it, for the reason that
// the resource is only observed; any other verdict, and each without a reason, as it is.
func reportDrift(verdict resource.Verdict, desired resource.Desired, observing string) resource.Verdict {
	if observing == "" || verdict.Action != resource.ActionProceed {
		return verdict
	}
	how := observing + ": nothing is changed"
	if desired.Policy != resource.PolicyObserve {
		how = "observed by " + observing + "; nothing is changed"
	}
	message := "Drift: " + verdict.Message
	if verdict.Create {
		message = desired.ID.Short() + " does not exist in Azure"
	}
	return resource.Verdict{
		Action: resource.ActionFailure, Reason: resource.ReasonDriftDetected, Severity: resource.SeverityWarning,
		Class: resource.ReasonDriftDetected.Class(), Message: message + " (" + how + ")",
		Create: verdict.Create, Differences: verdict.Differences, More: verdict.More, Drops: verdict.Drops, MoreDrops: verdict.MoreDrops, RequestID: verdict.RequestID,
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

// createdSinceRead is the verdict of a PUT that would change a resource which the read of the pass
// lacks: the next pass adopts it as the manifest allows.
func createdSinceRead(desired resource.Desired) resource.Verdict {
	verdict := resource.Block(resource.ReasonAlreadyExists, fmt.Sprintf(
		"another tool or user created %s, which the read of this pass does not show (adopt: %s); nothing is changed", desired.ID.Short(), desired.Adopt))
	verdict.Class = resource.RetrySlow
	return verdict
}
