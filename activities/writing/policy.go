package writing

import (
	"context"
	"fmt"
	"net/http"

	"github.com/armature-io/armature/resource"
)

// CheckPolicy returns the verdict of a write that the policy does not allow, and
// nil where it does. No pass requests such a write: this is the last guard before
// ARM.
func CheckPolicy(desired resource.Desired, method string) *resource.Verdict {
	allowed := desired.Policy != resource.PolicyObserve
	if method == http.MethodDelete {
		allowed = !desired.Policy.PreventsDelete()
	}
	if allowed {
		return nil
	}
	return new(resource.Fail(resource.ReasonProtected, resource.RetryVerySlow, fmt.Sprintf(
		"policy %s of %s allows no %s; nothing was sent", desired.Policy, desired.ID.Short(), method)))
}

// CheckDeletion returns the verdict that stops a DELETE or a purge before it is prepared, nil
// if nothing does.
func (c Checks) CheckDeletion(ctx context.Context, desired resource.Desired, deletion SignedDeletion) *resource.Verdict {
	if stop := CheckPolicy(desired, http.MethodDelete); stop != nil {
		return stop
	}
	if stop := c.checkDeletionSigned(ctx, desired, deletion); stop != nil {
		return stop
	}
	return c.CheckFreeze(ctx, desired)
}
