package writing

import (
	"fmt"

	"github.com/armature-io/armature/resource"
)

// CheckPolicy returns the verdict of a write that the policy does not allow, and
// nil where it does. No pass requests such a write: this is the last guard before
// ARM.
func CheckPolicy(desired resource.Desired, method string) *resource.Verdict {
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
