package author

import (
	"slices"
	"strings"

	"github.com/armature-io/armature/starter/internal/cli"
	"github.com/armature-io/armature/types"
)

// withExtraValues returns a shape with the values that Armature's extensions add to
// published ones. Nodes are shared, so those on the way are copied.
func withExtraValues(shape *types.Shape) *types.Shape {
	for path, values := range cli.TypeFacts(shape.Type).Values {
		changed := *shape
		changed.Body = withValues(shape.Body, strings.Split(path, "."), values)
		shape = &changed
	}
	return shape
}

// withValues returns a copy of a node in which the property at a path has more values.
func withValues(n *types.Node, path, values []string) *types.Node {
	changed := *n
	if len(path) == 0 {
		changed.Kind = types.Union
		changed.Elements = slices.Clone(n.Elements)
		for _, value := range values {
			changed.Elements = append(changed.Elements, &types.Node{Kind: types.Literal, Name: value})
		}
		return &changed
	}
	changed.Properties = slices.Clone(n.Properties)
	for i, p := range changed.Properties {
		if strings.EqualFold(p.Name, path[0]) {
			changed.Properties[i].Type = withValues(p.Type, path[1:], values)
		}
	}
	return &changed
}
