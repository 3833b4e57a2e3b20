package activities

import (
	"fmt"

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

// checkPolicy returns the verdict of a write that the policy does not allow, and
// nil where it does. No pass requests such a write: this is the last guard before
// ARM.
func checkPolicy(desired resource.Desired, method string) *resource.Verdict {
	allowed := desired.Policy != resource.PolicyObserve
	if method == "DELETE" {
		allowed = !desired.Policy.PreventsDelete()
	}
	if allowed {
		return nil
	}
	return new(resource.Fail(resource.ReasonProtected, resource.RetryVerySlow, fmt.Sprintf(
		"policy %s of %s allows no %s; nothing was sent", desired.Policy, desired.ID.Short(), method)))
}
