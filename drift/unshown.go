package drift

import (
	"slices"
	"strings"

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
	for _, path := range append(shape.WriteOnlyPaths(), shape.SensitivePaths()...) {
		if name, absent := spelledPath(shape.Body, strings.Split(path, "."), observed); absent {
			found = append(found, name)
		}
	}
	slices.Sort(found)
	return slices.Compact(found)
}

// spelledPath returns a path in the form of Walk as it is published, and whether an object
// has everything above it and not the property itself.
func spelledPath(node *types.Node, path []string, object map[string]any) (string, bool) {
	var names []string
	for at, step := range path {
		i := slices.IndexFunc(node.Properties, func(p types.Property) bool { return strings.EqualFold(p.Name, step) })
		if i < 0 {
			return "", false // in a list, a map, or a variant
		}
		published := node.Properties[i]
		if published.Has(types.ReadOnly) {
			return "", false
		}
		names = append(names, published.Name)
		_, value, isStated := jsontree.Member(object, published.Name)
		if at == len(path)-1 {
			return strings.Join(names, "."), !isStated || value == nil
		}
		below, isObject := value.(map[string]any)
		if !isObject {
			return "", false
		}
		node, object = published.Type, below
	}
	return "", false
}
