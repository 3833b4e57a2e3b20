package drift

import (
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/armature-io/armature/internal/jsontree"
	"github.com/armature-io/armature/resource"
)

// Part is a part of a resource that its GET hides and other requests return. Reads of the resource
// are completed with it; if that fails, the part is unverified.
type Part struct {
	// Path leads to the part, through properties only.
	Path string `yaml:"path"`
	// Child is the type and the name of the child whose properties are the part (config/web),
	// Action the action of the child that returns it, "" for its GET.
	Child  string `yaml:"child"`
	Action string `yaml:"action"`
	// Value is set if the part is a list of items with a name, and the child has an object with
	// these names instead. It is the member of an item that has the value.
	Value string `yaml:"value"`
	// Whole is set if a PUT with the part replaces all of it. In other parts, a PUT changes only
	// the members that it has.
	Whole bool `yaml:"whole"`
	// Plain are patterns of path.Match for names of items, ignoring case, whose values an import
	// writes. Values of others may be secrets, whatever their names are.
	Plain  []string `yaml:"plain"`
	Source string   `yaml:"source"`
}

// StatedParts returns the parts of which a body has a value.
func (f Facts) StatedParts(body map[string]any) []Part {
	parts := newParts(f.Parts, nil)
	var stated []Part
	for i, part := range f.Parts {
		value, found := parts[i].path.Get(body)
		if found && parts.states(parts[i].path, value) {
			stated = append(stated, part)
		}
	}
	return stated
}

// Complete sets the part in a body to the properties of its child.
func (p Part) Complete(body, properties map[string]any) {
	for _, path := range resource.ParsePaths([]string{p.Path}) {
		if path.Set(body, properties); p.Value != "" {
			path.Set(body, p.items(properties))
		}
	}
}

// Right returns the right that a request for the part needs.
func (p Part) Right(resourceType string) string {
	child, _, _ := strings.Cut(p.Child, "/")
	if p.Action == "" {
		return resourceType + "/" + child + "/read"
	}
	return resourceType + "/" + child + "/" + p.Action + "/action"
}

// ForImport prepares a completed read for a manifest: it masks values that may be secrets
// (Part.Plain), and removes the items that the service adds by itself.
func (f Facts) ForImport(observed map[string]any) {
	for _, part := range f.Parts {
		editList(observed, part.Path, func(items []any) []any {
			for _, item := range items {
				part.maskUnknown(item)
			}
			return items
		})
	}
	service := &subject{properties: f.Properties}
	for _, property := range f.Properties {
		path, err := resource.ParsePath(property.Path)
		if property.Implied == "" || err != nil {
			continue
		}
		editList(observed, property.Path, func(items []any) []any {
			return slices.DeleteFunc(items, func(item any) bool { return service.isImplied(path, item) })
		})
	}
}

// maskUnknown masks the value of an item that may be a secret.
func (p Part) maskUnknown(item any) {
	members, _ := item.(map[string]any)
	text, isText := members[p.Value].(string)
	name := strings.ToLower(jsontree.Text(members, "name"))
	isPlain := slices.ContainsFunc(p.Plain, func(plain string) bool {
		matches, err := path.Match(strings.ToLower(plain), name)
		return matches && err == nil
	})
	if isText && !isPlain && !resource.VaultReference(text) && !resource.Masked(text) {
		members[p.Value] = resource.MaskWithoutKey
	}
}

// editList replaces the list at a path, if there is one.
func editList(body map[string]any, at string, edit func([]any) []any) {
	for _, path := range resource.ParsePaths([]string{at}) {
		value, _ := path.Get(body)
		if items, isList := value.([]any); isList {
			path.Set(body, edit(items))
		}
	}
}

// items returns the items of a list from an object with their names.
func (p Part) items(properties map[string]any) []any {
	items := make([]any, 0, len(properties))
	for _, name := range slices.Sorted(maps.Keys(properties)) {
		item := map[string]any{}
		if members, isObject := properties[name].(map[string]any); isObject {
			maps.Copy(item, members)
			delete(item, "value")
			item[p.Value] = members["value"]
		} else {
			item[p.Value] = properties[name]
		}
		item["name"] = name
		items = append(items, item)
	}
	return items
}

// partList are the parts of one resource.
type partList []partAt

type partAt struct {
	name string // Part.Path
	path resource.Path
	// whole is Part.Whole; verified is set if the read was completed with the part.
	whole, verified bool
}

func newParts(facts []Part, completed []string) partList {
	found := make(partList, 0, len(facts))
	for _, part := range facts {
		path, err := resource.ParsePath(part.Path)
		if err == nil {
			found = append(found, partAt{name: part.Path, path: path, whole: part.Whole, verified: slices.Contains(completed, part.Path)})
		}
	}
	return found
}

// of returns the innermost part around a path, or nil.
func (p partList) of(path resource.Path) *partAt {
	var found *partAt
	for i, part := range p {
		if isBelow(path, part.path) && (found == nil || len(part.path) > len(found.path)) {
			found = &p[i]
		}
	}
	return found
}

// around reports whether a part is below a path.
func (p partList) around(path resource.Path) bool {
	return slices.ContainsFunc(p, func(part partAt) bool { return len(part.path) > len(path) && isBelow(part.path, path) })
}

// isBelow reports whether a path is another one, or below it.
func isBelow(path, other resource.Path) bool {
	return len(path) >= len(other) && slices.EqualFunc(path[:len(other)], other, func(a, b resource.Step) bool {
		return a.Name != "" && strings.EqualFold(a.Name, b.Name)
	})
}

// states reports whether a value has anything outside of the parts below its path.
func (p partList) states(path resource.Path, value any) bool {
	members, isObject := value.(map[string]any)
	if !isObject || isMarker(value) || !p.around(path) {
		return value != nil
	}
	for name, member := range members {
		below := path.With(resource.Step{Name: name})
		if part := p.of(below); part != nil && len(part.path) == len(below) {
			continue
		}
		if p.states(below, member) {
			return true
		}
	}
	return false
}

// unverified reports whether a path is in a part with which the read was not completed.
func (p partList) unverified(path resource.Path) bool {
	part := p.of(path)
	return part != nil && !part.verified
}

// keepOmitted reports whether Azure keeps a value that a PUT omits: it is a member of a part that a
// PUT does not replace.
func (p partList) keepOmitted(path resource.Path) bool {
	part := p.of(path)
	return part != nil && !part.whole && len(path) == len(part.path)+1
}

// removeUnverified removes the unverified parts from the body of a correction: Azure may have more
// values there than the manifest.
func (p partList) removeUnverified(path resource.Path, body map[string]any) {
	for name, value := range body {
		below := path.With(resource.Step{Name: name})
		members, isObject := value.(map[string]any)
		switch {
		case isObject && p.around(below):
			p.removeUnverified(below, members)
			if len(members) == 0 {
				delete(body, name)
			}
		case p.unverified(below):
			delete(body, name)
		}
	}
}

// withoutUnverified removes unverified parts from the body of a correction.
func withoutUnverified(body map[string]any, opts Options) {
	if opts.Hold && len(opts.Facts.Parts) > 0 {
		newParts(opts.Facts.Parts, opts.Completed).removeUnverified(nil, body)
	}
}

// unverifiable returns the paths of the values that no request shows. It leaves out secrets and the
// values for a creation, because users know that these are not compared.
func unverifiable(found []difference) (paths []string) {
	for _, d := range found {
		if d.hidden && (d.rule == hiddenWriteOnly || d.rule == hiddenUnverified) {
			paths = appendLeaves(paths, cursorAt(d.path, d.desired))
		}
	}
	return paths
}

// UnverifiedText ends a sentence about a resource with the number of Unverified, "" for none.
func (r Result) UnverifiedText() string {
	switch n := len(r.Unverified) + r.MoreUnverified; n {
	case 0:
		return ""
	case 1:
		return "; 1 stated property cannot be verified"
	default:
		return fmt.Sprintf("; %d stated properties cannot be verified", n)
	}
}

func appendLeaves(paths []string, p cursor) []string {
	members, isObject := p.desired.(map[string]any)
	switch {
	case isSecret(p) || isUnset(p.desired):
		return paths
	case !isObject:
		return append(paths, p.path.String())
	}
	for name := range jsontree.Names(members) {
		paths = appendLeaves(paths, p.at(resource.Step{Name: name}, members[name], nil, false))
	}
	return paths
}
