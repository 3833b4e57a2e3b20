package manifest

import (
	"fmt"
	"slices"
	"strings"

	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/types"
)

// isConsequence reports whether a property is missing only because another finding is
// about it: it is misspelt, or one level up or down.
func isConsequence(missing types.Finding, all []types.Finding) bool {
	object, name := parent(missing.Path), missing.Path[len(missing.Path)-1].Name
	return slices.ContainsFunc(all, func(f types.Finding) bool {
		if len(f.Path) == 0 {
			return false
		}
		around, stated := parent(f.Path), f.Path[len(f.Path)-1].Name
		switch {
		case f.Rule == types.UnknownProperty:
			return f.Suggestion == name && slices.Equal(around, object)
		case f.Rule != types.MisplacedProperty || !strings.EqualFold(stated, name):
			return false
		}
		inside := around.With(resource.Step{Name: f.Suggestion})
		return slices.Equal(inside, object) || len(around) > 0 && slices.Equal(parent(around), object)
	})
}

func parent(path resource.Path) resource.Path { return path[:len(path)-1] }

// advice returns what a finding itself cannot know, as the end of its message: how a
// marker becomes what is expected, and where the known properties are listed.
func advice(shape *types.Shape, f types.Finding, value *node) string {
	switch {
	case f.Rule == types.WrongKind && value != nil && markerOf(value) == resource.RefMarker:
		return "; $ref without path is a resource ID: add path, or write {id: {$ref: ...}}"
	case f.Rule == types.WrongKind && value != nil && markerOf(value) == resource.SecretMarker:
		return "; $secret is a text"
	case f.Rule == types.ReadOnlyProperty && f.Path.String() == "apiVersion":
		return "; the api-version is the part of type after the @"
	case f.Rule == types.UnknownProperty && f.Suggestion == "" && len(f.Path) > 1:
		return "; `armature explain " + explained(shape, parent(f.Path)) + "` lists the known ones"
	}
	return ""
}

// explained returns an object of a type as the command explain takes it, quoted for the
// shell where it has lists.
func explained(shape *types.Shape, object resource.Path) string {
	path := slices.Clone(object)
	for i, step := range path {
		if step.IsIndex {
			path[i] = resource.Step{Any: true}
		}
	}
	text := fmt.Sprintf("%s@%s.%s", shape.Type, shape.Version, strings.ReplaceAll(path.String(), "[*]", "[]"))
	if strings.Contains(text, "[") {
		return "'" + text + "'"
	}
	return text
}

// locateFinding returns the position of a finding in the file, its path as messages
// write it, and the value there. A missing property has the position of the name of the
// object that lacks it.
func locateFinding(d *draft, finding types.Finding) (at position, path string, value *node) {
	value = d.root.get("body")
	name := d.position("body")
	where := cursor{path: append(newPath(), resource.Step{Name: "body"})}
	for i, step := range finding.Path {
		var next *node
		switch {
		case value == nil:
		case step.IsIndex && step.Index < len(value.items):
			next = value.items[step.Index]
			where, name = where.item(step.Index, next), next.position
		default:
			where.path = append(where.path, step)
			if j := slices.IndexFunc(value.fields, func(f field) bool { return f.name == step.Name }); j >= 0 {
				next, name = value.fields[j].value, value.fields[j].position
			}
		}
		if next == nil {
			return name, append(where.path, finding.Path[i+1:]...).String(), nil
		}
		value = next
	}
	if finding.AtName {
		return name, where.path.String(), value
	}
	return value.position, where.path.String(), value
}
