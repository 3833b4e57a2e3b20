package resource

import (
	"maps"
	"slices"
	"strings"
)

// Identity has values by which Azure identifies one resource, also after it was moved to
// another group or subscription: GUIDs by the path of their member, such as
// properties.vmId. Empty means that Azure shows none for the type.
type Identity map[string]string

// Proves reports whether other belongs to the same resource: at least one member is equal,
// and none differs.
func (i Identity) Proves(other Identity) bool {
	equal := false
	for path, value := range i {
		switch shown, known := other[path]; {
		case known && !strings.EqualFold(shown, value):
			return false
		case known:
			equal = true
		}
	}
	return equal
}

// String returns the paths, sorted.
func (i Identity) String() string { return strings.Join(slices.Sorted(maps.Keys(i)), ", ") }

// IsMovable reports whether Azure can move a resource by itself: what is at the top of a
// resource group. What is in another resource moves with it.
func IsMovable(id ID) bool {
	owner := id.Owner()
	return !owner.IsZero() && strings.EqualFold(owner.Type(), TypeResourceGroup)
}
