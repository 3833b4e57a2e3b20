package extensionhost

import "github.com/armature-io/armature/extensions"

// SeesOwner reports whether a link of the type gets the owner, so that the caller reads its
// Ready condition too.
func (r *Registry) SeesOwner(resourceType string) bool {
	for _, link := range r.links(resourceType) {
		switch link.(type) {
		case extensions.PreReconciliationOwnerChecker, extensions.PreReconciliationChecker, extensions.PostReconciliationChecker, extensions.ARMResourceModifier, extensions.SuccessHandler:
			return true
		}
	}
	return false
}
