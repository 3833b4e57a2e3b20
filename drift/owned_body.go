package drift

import (
	"slices"

	"github.com/armature-io/armature/internal/jsontree"
	"github.com/armature-io/armature/types"
)

// OwnedIn returns the values that a body states and another owner moves, by the switches in
// the body itself and in that of the owner. A nil owner counts as one with all its switches
// on. Values that move in one direction without a switch are not among them.
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

// WithoutOwned returns a body for a manifest without the values of OwnedIn, and these values.
// It keeps those that a creation needs: what the published shape requires, and the values of
// a swap. body is not modified.
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
