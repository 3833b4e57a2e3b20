package manifest

import (
	"slices"
	"strings"

	"github.com/armature-io/armature/internal/nearest"
	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/types"
)

// Facts are facts about a type beside its published shape.
type Facts struct {
	// Values are values beside the published ones, by the path of their property: an
	// extension replaces them before the PUT.
	Values map[string][]string
	// ReadActions are actions that only read although their names do not begin with "list".
	ReadActions []string
	// Owned returns the stated values that others move; nil for none.
	Owned func(Owning) []Owned
	// DeletingMember returns the member of a body for which ARM deletes resources that no
	// manifest names, "" if there is none; nil if the type has no such members.
	DeletingMember func(body map[string]any) string
	// Public are the paths of values that are no secrets although their names say so.
	Public []string
}

// isPublic reports whether a path is in Public.
func (f Facts) isPublic(path resource.Path) bool {
	return slices.ContainsFunc(f.Public, func(public string) bool { return strings.EqualFold(public, path.String()) })
}

// facts returns the facts about a type.
func (o Options) facts(resourceType string) Facts {
	if o.Facts == nil {
		return Facts{}
	}
	return o.Facts(resourceType)
}

// hasValue reports whether an extension replaces a value before it is sent.
func (f Facts) hasValue(path resource.Path, value *node) bool {
	for at, values := range f.Values {
		if strings.EqualFold(at, path.String()) && value != nil && slices.ContainsFunc(values, func(other string) bool { return strings.EqualFold(other, value.text) }) {
			return true
		}
	}
	return false
}

// checkMarker reports an object whose only property, but for a path, is nearly a marker.
func (v validator) checkMarker(n *node, path resource.Path) bool {
	if len(n.fields) == 0 || len(n.fields) > 2 || len(n.fields) == 2 && n.get("path") == nil {
		return false
	}
	for _, f := range n.fields {
		if !strings.HasPrefix(f.name, "$") {
			continue
		}
		for _, marker := range resource.Markers() {
			if f.name != marker && nearest.Distance(strings.ToLower(f.name), marker) <= 1 {
				v.report(found{rule: UnknownMarker, isFault: true, at: f.position, path: path.String(), suggestion: marker},
					"%s is not a marker (did you mean %s?)", f.name, marker)
				return true
			}
		}
	}
	return false
}

// checkOutputs reports outputs with paths that the type lacks, or that are secrets of it.
func (v validator) checkOutputs(shape *types.Shape) {
	outputs := v.draft.root.get("outputs")
	if outputs == nil {
		return
	}
	for _, f := range outputs.fields {
		path, err := resource.ParsePath(f.value.text)
		if err != nil || f.value.kind != kindText {
			continue
		}
		properties, missing, near := findPath(shape, path)
		at := found{rule: types.UnknownProperty, at: f.value.position, path: "outputs." + f.name, isFault: near != "" && shape.Exact, suggestion: near}
		switch {
		case missing != nil:
			v.report(at, "the type publishes no property %s%s; the output may never have a value", missing, suggestion(near))
		case slices.ContainsFunc(properties, func(p types.Property) bool { return p.Type != nil && p.Type.Sensitive }):
			at.isFault = true
			v.report(at, "%s is published as a secret, which is no output", f.value.text)
		}
	}
}
