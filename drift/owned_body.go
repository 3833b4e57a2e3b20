package drift

import (
	"slices"

	"github.com/armature-io/armature/internal/jsontree"
	"github.com/armature-io/armature/types"
)

// OwnedIn returns the values of a body that another owner moves, by the switches in the body
// and in the body of its owner. If owner is nil, its switches count as on. Values of switches
// without a path are left out.
func (o Options) OwnedIn(body, owner map[string]any) []Owned {
	var found []Owned
	for _, v := range o.ownedIn(body, owner) {
		found = append(found, Owned{Path: v.text, By: v.by, Kind: v.kind})
	}
	return found
}

func (o Options) ownedIn(body, owner map[string]any) []ownedValue {
	o.ownerBody = owner
	return slices.DeleteFunc(o.ownedValues(body, body), func(v ownedValue) bool { return !v.on || v.by == ownerAzure })
}

// WithoutOwned returns a copy of a body without the values of OwnedIn, and these values. Values
// that a creation needs stay: required ones, and those of a swap.
func (o Options) WithoutOwned(body, owner map[string]any) (map[string]any, []Owned) {
	var left []Owned
	shape := types.Lookup(o.Type, o.APIVersion)
	rest := jsontree.Clone(body)
	for _, v := range o.ownedIn(body, owner) {
		if v.kind == SwitchSwaps {
			continue
		}
		without := jsontree.Clone(rest)
		v.path.Remove(without)
		if shape != nil && missing(shape, without) > missing(shape, rest) {
			continue
		}
		rest, left = without, append(left, Owned{Path: v.text, By: v.by})
	}
	return rest, left
}

// missing returns the number of required properties that a body lacks.
func missing(shape *types.Shape, body map[string]any) int {
	count := 0
	for _, finding := range shape.Check(body) {
		if finding.Rule == types.MissingProperty {
			count++
		}
	}
	return count
}
