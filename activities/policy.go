package activities

import (
	"fmt"

	"github.com/armature-io/armature/resource"
)

// reported turns a write that is due into a report where the policy writes
// nothing: drift, or an absence, is named and left.
func reported(verdict resource.Verdict, desired resource.Desired) resource.Verdict {
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

// forbidden is the verdict of a write that the policy does not allow; nil for
// any other. No pass asks for one: it is the last guard before ARM.
func forbidden(desired resource.Desired, method string) *resource.Verdict {
	allowed := desired.Policy != resource.PolicyObserve
	if method == "DELETE" {
		allowed = !desired.Policy.PreventsDelete()
	}
	if allowed {
		return nil
	}
	verdict := resource.Fail(resource.ReasonProtected, resource.RetryVerySlow, fmt.Sprintf(
		"policy %s of %s allows no %s; nothing was sent", desired.Policy, desired.ID.Short(), method))
	return &verdict
}
