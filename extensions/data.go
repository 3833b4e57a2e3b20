package extensions

import (
	"slices"

	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/types"
)

// Data states which data a DELETE of a resource deletes. It is another fact than Recreation:
// a new DNS zone has no records, and all records of the old one are in lists of ARM.
type Data struct {
	Kind   DataKind `yaml:"kind"`
	Source Source   `yaml:"source"`
}

// DataKind is the kind of data in Data. A type without one holds unlisted data if its
// recreation loses data (LossData) and no type of its children holds data.
type DataKind string

// The kinds of data.
const (
	// DataNone is no data but the data in contents that ARM lists, if there are such.
	DataNone DataKind = "none"
	// DataUnlisted is data in the resource itself, which no list of ARM shows.
	DataUnlisted DataKind = "unlisted"
	// DataItem marks a type whose resources are the data of their parent, such as the
	// secrets of a vault. Lists of ARM show them.
	DataItem DataKind = "item"
)

// maxDataDepth is the number of levels of children with fixed names that are searched for
// data.
const maxDataDepth = 4

// HoldsUnlistedData reports whether a DELETE of a resource of a type deletes data that no
// list of ARM shows.
func (r *Registry) HoldsUnlistedData(resourceType string) bool {
	switch r.Facts(resourceType).Data.Kind {
	case DataUnlisted:
		return true
	case DataNone, DataItem:
		return false
	}
	return r.losesData(resourceType) && !r.hasDataChildren(resourceType, 0)
}

// MayHoldData reports whether a DELETE of a resource of a type may delete data, in it or in
// its children.
func (r *Registry) MayHoldData(resourceType string) bool {
	itself := r.holdsData(resourceType) && r.Facts(resourceType).Data.Kind != DataNone
	return itself || r.hasDataChildren(resourceType, 0)
}

// holdsData reports whether a resource of a type holds data or is data.
func (r *Registry) holdsData(resourceType string) bool {
	kind := r.Facts(resourceType).Data.Kind
	return kind == DataUnlisted || kind == DataItem || r.losesData(resourceType)
}

// losesData reports whether the recreation of a type loses data.
func (r *Registry) losesData(resourceType string) bool {
	known := r.Recreation(resourceType)
	return known.Default == resource.RecreateNever && known.Loss == LossData
}

// hasDataChildren reports whether a type has collections of data, or of views of data, also
// in its children with fixed names.
func (r *Registry) hasDataChildren(resourceType string, depth int) bool {
	return slices.ContainsFunc(types.Children(resourceType), func(child types.Child) bool {
		kind := r.Facts(child.Type).Child.Kind
		switch {
		case !child.Writable || kind == ChildCopy || kind == ChildPart:
			return false
		case len(child.Names) > 0 && !child.Open:
			return depth < maxDataDepth && r.hasDataChildren(child.Type, depth+1)
		}
		return r.holdsData(child.Type)
	})
}
