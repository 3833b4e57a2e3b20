package manifest

import (
	"slices"

	"github.com/armature-io/armature/internal/nearest"
	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/types"
)

// read is a value of another resource that a manifest reads: by a $ref with a path, or in
// an expression of a $text.
type read struct {
	from resource.Reference
	path resource.Path
	// at is the position of the reference, place its path in the manifest.
	at    position
	place string
}

// checkReads reports values of other resources that their types do not publish: the resource
// would wait for them without an end.
func (v validator) checkReads() {
	for _, r := range v.draft.reads {
		shape := types.Lookup(r.from.ID.Type(), r.from.APIVersion)
		if shape == nil {
			continue
		}
		f := found{rule: types.UnknownProperty, at: r.at, path: r.place}
		properties, missing, near := findPath(shape, r.path)
		switch {
		case missing != nil:
			f.isFault, f.suggestion = near != "" && shape.Exact, near
			v.report(f, "%s publishes no property %s%s; the resource would wait for it without an end", shape.Type, missing, suggestion(near))
		case len(properties) > 0 && !slices.ContainsFunc(properties, func(p types.Property) bool { return !p.Has(types.WriteOnly) }):
			f.isFault = shape.Exact
			v.report(f, "%s of %s is write-only: Azure never shows it, so that the resource would wait without an end", r.path, shape.Type)
		}
	}
}

// findPath returns the properties that a type publishes at a path. missing is the beginning of
// the path up to the first name that is not published, nil for none; near is the published
// name most like that one.
func findPath(shape *types.Shape, path resource.Path) (properties []types.Property, missing resource.Path, near string) {
	if len(path) > 0 && slices.Contains(identityFields(), path[0].Name) {
		return nil, nil, ""
	}
	parents := []*types.Node{shape.Body}
	for i := range path {
		found, free := shape.Find(path[:i+1])
		if free {
			return nil, nil, ""
		}
		if len(found) == 0 {
			return nil, path[:i+1], nearest.Match(path[i].Name, namesOf(parents))
		}
		properties, parents = found, nil
		for _, p := range found {
			parents = append(parents, p.Type)
		}
	}
	return properties, nil, ""
}

// namesOf returns the names of the properties of objects and of their variants.
func namesOf(nodes []*types.Node) []string {
	var names []string
	for _, n := range nodes {
		if n == nil {
			continue
		}
		for _, p := range n.Properties {
			names = append(names, p.Name)
		}
		for _, variant := range n.Variants {
			names = append(names, namesOf([]*types.Node{variant.Type})...)
		}
		names = append(names, namesOf(n.Elements)...)
	}
	return names
}

// suggestion returns " (did you mean X?)", "" for no name.
func suggestion(near string) string {
	if near == "" {
		return ""
	}
	return " (did you mean " + near + "?)"
}
