package writing

import (
	"context"
	"fmt"
	"net/http"

	"github.com/armature-io/armature/resource"
)

// CheckPolicy returns the verdict of a write that the policy of the manifest, or the worker's
// setting observe, does not allow; nil if both do. A pass requests such a write only to delete
// what the setting observes: this is the last guard before ARM.
func (c Checks) CheckPolicy(desired resource.Desired, method string) *resource.Verdict {
	policy, origin := c.Observed.PolicyOf(desired)
	allowed := policy != resource.PolicyObserve
	if method == http.MethodDelete {
		allowed = !policy.PreventsDelete()
	}
	if allowed {
		return nil
	}
	message := fmt.Sprintf("%s of %s allows no %s; nothing was sent", origin, desired.ID.Short(), method)
	if policy != desired.Policy {
		message = fmt.Sprintf("%s allows no %s of %s; nothing was sent. Workers without it in the setting write", origin, method, desired.ID.Short())
	}
	return new(resource.Fail(resource.ReasonProtected, resource.RetryVerySlow, message))
}

// CheckDeletion returns the verdict that stops a DELETE or a purge before it is prepared, nil
// if nothing does.
func (c Checks) CheckDeletion(ctx context.Context, desired resource.Desired, deletion SignedDeletion) *resource.Verdict {
	if stop := c.CheckPolicy(desired, http.MethodDelete); stop != nil {
		return stop
	}
	if stop := c.checkDeletionSigned(ctx, desired, deletion); stop != nil {
		return stop
	}
	return c.CheckFreeze(ctx, desired)
}
