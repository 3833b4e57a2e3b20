package main

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
)

const (
	// maxDepth bounds the search for lists, in properties.
	maxDepth = 5
	// minOverlap is the share of properties that two equal shapes have in common.
	minOverlap = 0.8
)

// endpointConnections is the one collection of ARM's common types whose items another
// resource (a private endpoint) creates. A PUT of the parent never changes them,
// whatever it lists.
const endpointConnections = "privateendpointconnections"

// resourceType is a resource type in its newest api-version, a stable one if there is
// any.
type resourceType struct {
	name, version string
	file          file
	at            node
}

func (d resourceType) lastSegment() string { return d.name[strings.LastIndex(d.name, "/")+1:] }

// writeInlineChildren writes the lists in the body of a parent whose items are child
// resources too: the items have a name, list and item are writable, and a writable
// child type has the same shape. Such a child can be created in two ways, and a PUT of
// the parent affects children that were created in the other way.
func writeInlineChildren(from descriptions, out io.Writer) error {
	types, err := newest(from)
	if err != nil {
		return err
	}
	below := map[string][]resourceType{}
	for key, d := range types {
		if i := strings.LastIndex(key, "/"); strings.Count(key, "/") > 1 && d.at.Flags&readOnlyType == 0 {
			below[key[:i]] = append(below[key[:i]], d)
		}
	}
	rows := []string{
		"# Lists in the body of a parent whose items are child resources too: parent, list, child types.",
		"# Made by dev/published; docs/safety.md says from what.",
	}
	for _, key := range slices.Sorted(maps.Keys(below)) {
		if parent, ok := types[key]; ok {
			w := listFinder{parent: parent, children: below[key]}
			w.walk(parent.file.at(parent.at.Body), nil, nil)
			rows = append(rows, slices.Sorted(slices.Values(w.rows))...)
		}
	}
	_, err = fmt.Fprintln(out, strings.Join(rows, "\n"))
	return err
}

// newest returns the types by their name in lower case.
func newest(from descriptions) (map[string]resourceType, error) {
	versions := map[string]string{}
	for full := range from.Resources {
		name, version, _ := strings.Cut(full, "@")
		key := strings.ToLower(name)
		if known, ok := versions[key]; !ok || isNewer(version, known) {
			versions[key] = version
		}
	}
	types, selected := map[string]resourceType{}, descriptions{folder: from.folder, Resources: map[string]reference{}}
	for full, at := range from.Resources {
		if name, version, _ := strings.Cut(full, "@"); versions[strings.ToLower(name)] == version {
			selected.Resources[full] = at
		}
	}
	return types, selected.each(func(name, version string, in file, at reference) {
		types[strings.ToLower(name)] = resourceType{name, version, in, in.at(at)}
	})
}

func isNewer(a, b string) bool {
	const stable = len("2006-01-02")
	if (len(a) == stable) != (len(b) == stable) {
		return len(a) == stable
	}
	return a > b
}

// listFinder collects the lists of one parent.
type listFinder struct {
	parent   resourceType
	children []resourceType
	rows     []string
}

func (w *listFinder) walk(n node, path []string, ancestors []int) {
	if len(path) >= maxDepth {
		return
	}
	for _, members := range []map[string]property{n.Base, n.Properties} {
		for name, p := range members {
			if p.Flags&readOnly != 0 || strings.EqualFold(name, endpointConnections) {
				continue
			}
			next, here := w.parent.file.at(p.Type), append(slices.Clone(path), name)
			switch {
			case slices.Contains(ancestors, p.Type.number()):
			case next.Kind == "ObjectType":
				w.walk(next, here, append(slices.Clone(ancestors), p.Type.number()))
			case next.Kind == "ArrayType":
				if found := w.matchingChildren(name, w.parent.file.at(next.Item)); len(found) > 0 {
					w.rows = append(w.rows, strings.Join([]string{w.parent.name, strings.Join(here, "."), strings.Join(found, ",")}, " "))
				}
			}
		}
	}
}

// matchingChildren returns the names of the child types that have the shape of a list
// item.
func (w *listFinder) matchingChildren(list string, item node) []string {
	shape := item.members()
	name, named := shape["name"]
	if !named || name.Flags&readOnly != 0 {
		return nil
	}
	if p, nested := shape["properties"]; nested {
		shape = w.parent.file.at(p.Type).members()
	}
	var names []string
	for _, child := range w.children {
		p, ok := child.file.at(child.at.Body).members()["properties"]
		if ok && sameShape(shape, child.file.at(p.Type).members(), strings.EqualFold(list, child.lastSegment())) {
			names = append(names, child.lastSegment())
		}
	}
	slices.Sort(names)
	return names
}

// sameShape compares two shapes. If the names are equal, the child must have the
// properties of the item; otherwise both must have each other's, and enough of them to
// exclude a coincidence.
func sameShape(item, child map[string]property, sameName bool) bool {
	both, all := 0, len(child)
	for name := range item {
		switch _, found := child[name]; {
		case found:
			both++
		case !slices.Contains([]string{"id", "name", "type", "etag"}, name):
			all++
		}
	}
	if sameName {
		return both > 0 && float64(both) >= minOverlap*float64(len(item))
	}
	return both >= 3 && float64(both) >= minOverlap*float64(all)
}
