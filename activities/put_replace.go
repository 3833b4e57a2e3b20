package activities

import (
	"fmt"

	"github.com/armature-io/armature/arm"
	"github.com/armature-io/armature/internal/extensionhost"
	"github.com/armature-io/armature/resource"
)

// replaces reports whether a resource is deleted and created again, because Azure refuses to
// change a property of it: its manifest states recreate: on-immutable, and a user approved
// it. Otherwise it adds to the verdict of the refusal what would do that, or why nothing
// does.
func (p *put) replaces(failure *arm.Error, verdict *resource.Verdict) bool {
	desired := p.in.Desired
	if failure.Refusal() != arm.RefusalImmutable || desired.Recreate != resource.RecreateOnImmutable || !p.request.Object.Exists() {
		return false
	}
	switch blocker := replaceBlocker(p.registry, desired); {
	case blocker != "":
		verdict.Message += "; recreate: on-immutable does not replace it, because " + blocker
		return false
	case !p.in.Approved.Replacement:
		verdict.Message += fmt.Sprintf("; armature reconcile --recreate %s deletes it and creates it again (recreate: on-immutable)", desired.ID.Short())
		return false
	}
	return true
}

// replaceBlocker returns why a resource is never replaced, "" where nothing prevents it.
func replaceBlocker(registry *extensionhost.Registry, desired resource.Desired) string {
	recreation := registry.Recreation(desired.ID.Type())
	switch {
	case desired.Policy.PreventsDelete() || desired.Policy.Detaches():
		return fmt.Sprintf("policy %s allows no DELETE", desired.Policy)
	case desired.Adopt == resource.AdoptOnly:
		return "adopt: only creates nothing"
	case recreation.Default == resource.RecreateNever:
		return fmt.Sprintf("a new one does not bring back what is lost: %s %s", desired.ID.Type(), recreation.Loss)
	case registry.Facts(desired.ID.Type()).Purge.Known():
		return "Azure keeps the name of a deleted one"
	}
	return ""
}
