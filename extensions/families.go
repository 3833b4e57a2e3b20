package extensions

import (
	"path"
	"strings"

	"github.com/armature-io/armature/resource"
)

// FamilyHead returns the parent below which ARM accepts one change at a time,
// and whether there is one: a virtual network for its subnets, its peerings
// and itself. A member must take the head's turn before it changes. Of nested
// families the outermost counts.
func (r *Registry) FamilyHead(id resource.ID) (head resource.ID, ok bool) {
	below := ""
	for at := id; !at.IsZero(); {
		if family := r.families[strings.ToLower(at.Type())]; family[strings.ToLower(below)] || below == "" && family != nil {
			head, ok = at, true
		}
		if !at.IsChild() {
			break
		}
		below = path.Join(path.Base(at.Type()), below)
		at = at.Owner()
	}
	return head, ok
}

// addFamily adds children to the family of a parent type.
func (r *Registry) addFamily(parent string, children []string) {
	if len(children) > 0 && r.families[parent] == nil {
		r.families[parent] = map[string]bool{}
	}
	for _, child := range children {
		r.families[parent][strings.ToLower(child)] = true
	}
}

// Leaf reports whether a type can have no children in ARM and is nothing that
// other resources wait for: when one of its resources becomes Ready, there is
// nothing to wake.
func (r *Registry) Leaf(armType string) bool { return r.leaves[strings.ToLower(armType)] }
