package resource

import (
	"maps"
	"slices"
	"strings"
)

// Identity has values by which Azure identifies one resource, by the path of their member.
// Across a move to another group or subscription only GUIDs count, such as properties.vmId.
// At one ID, location and time of creation do too. Empty means that Azure shows none for the
// type.
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

// ETagMember is the member of an Identity that has the ETag of the read.
const ETagMember = "etag"

// Differs returns the member that proves that other is another resource, with the same ID,
// "" if none does. An equal ETag proves sameness, a different one proves nothing, and so does
// a member that only one of them has.
func (i Identity) Differs(other Identity) string {
	if etag := i[ETagMember]; etag != "" && etag == other[ETagMember] {
		return ""
	}
	for _, member := range slices.Sorted(maps.Keys(i)) {
		shown, known := other[member]
		if known && member != ETagMember && !strings.EqualFold(shown, i[member]) {
			return member
		}
	}
	return ""
}

// String returns the paths, sorted.
func (i Identity) String() string { return strings.Join(slices.Sorted(maps.Keys(i)), ", ") }

// IsMovable reports whether Azure can move a resource by itself: what is at the top of a
// resource group. What is in another resource moves with it.
func IsMovable(id ID) bool {
	owner := id.Owner()
	return !owner.IsZero() && strings.EqualFold(owner.Type(), TypeResourceGroup)
}
