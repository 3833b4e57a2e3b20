package drift

import (
	"slices"

	"github.com/armature-io/armature/internal/jsontree"
	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/types"
)

// Unshown returns the paths of the properties of a resource that no GET shows, and that a
// user may have stated: those that the shape in an api-version marks as write-only or as
// secrets, that observed lacks, and whose object observed has. It looks into no list.
func Unshown(id resource.ID, apiVersion string, observed map[string]any) []string {
	shape := types.Lookup(id.Type(), apiVersion)
	if shape == nil {
		return nil
	}
	var found []string
	add := func(path resource.Path) { found = append(found, path.String()) }
	unshown(shape.Body, observed, nil, func(p types.Property) bool { return p.Has(types.WriteOnly) }, add)
	unshown(shape.Body, observed, nil, func(p types.Property) bool { return p.Type.Sensitive }, add)
	slices.Sort(found)
	return slices.Compact(found)
}

// unshown visits the marked properties that an object lacks, and none below a marked one.
func unshown(n *types.Node, object map[string]any, path resource.Path, marked func(types.Property) bool, visit func(resource.Path)) {
	for _, p := range n.Properties {
		value, below := jsontree.Value(object, p.Name), path.With(resource.Step{Name: p.Name})
		inner, isObject := value.(map[string]any)
		switch {
		case p.Has(types.ReadOnly), marked(p) && value != nil:
		case marked(p):
			visit(below)
		case isObject:
			unshown(p.Type, inner, below, marked, visit)
		}
	}
}
