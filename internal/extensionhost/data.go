package extensionhost

import (
	"slices"

	"github.com/armature-io/armature/extensions"
	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/types"
)

// maxDataDepth is the number of levels of children with fixed names that are searched for
// data.
const maxDataDepth = 4

// HoldsUnlistedData reports whether a DELETE of a resource of a type deletes data that no
// list of ARM shows.
func (r *Registry) HoldsUnlistedData(resourceType string) bool {
	switch r.Facts(resourceType).Data.Kind {
	case extensions.DataUnlisted:
		return true
	case extensions.DataNone, extensions.DataItem:
		return false
	}
	return r.losesData(resourceType) && !r.hasDataChildren(resourceType, 0)
}

// MayHoldData reports whether a DELETE of a resource of a type may delete data, in it or in
// its children.
func (r *Registry) MayHoldData(resourceType string) bool {
	itself := r.holdsData(resourceType) && r.Facts(resourceType).Data.Kind != extensions.DataNone
	return itself || r.hasDataChildren(resourceType, 0)
}

// holdsData reports whether a resource of a type holds data or is data.
func (r *Registry) holdsData(resourceType string) bool {
	kind := r.Facts(resourceType).Data.Kind
	return kind == extensions.DataUnlisted || kind == extensions.DataItem || r.losesData(resourceType)
}

// losesData reports whether the recreation of a type loses data.
func (r *Registry) losesData(resourceType string) bool {
	known := r.Recreation(resourceType)
	return known.Default == resource.RecreateNever && known.Loss == extensions.LossData
}

// hasDataChildren reports whether a type has collections of data, or of views of data, also
// in its children with fixed names.
func (r *Registry) hasDataChildren(resourceType string, depth int) bool {
	return slices.ContainsFunc(types.Children(resourceType), func(child types.Child) bool {
		kind := r.Facts(child.Type).Child.Kind
		switch {
		case !child.Writable || kind == extensions.ChildCopy || kind == extensions.ChildPart:
			return false
		case len(child.Names) > 0 && !child.Open:
			return depth < maxDataDepth && r.hasDataChildren(child.Type, depth+1)
		}
		return r.holdsData(child.Type)
	})
}
