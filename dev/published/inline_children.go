package main

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
)

const (
	// searched bounds the search for lists, in properties.
	searched = 5
	// alike is the share of properties that two shapes have in common.
	alike = 0.8
)

// fromTheOtherSide is the one collection of ARM's common types whose items are
// made by another resource (a private endpoint) and never by a PUT of the parent,
// which leaves them alone whatever it lists.
const fromTheOtherSide = "privateendpointconnections"

// described is a resource type in its newest api-version, a stable one if any.
type described struct {
	name, version string
	file          file
	at            node
}

func (d described) lastSegment() string { return d.name[strings.LastIndex(d.name, "/")+1:] }

// writeInlineChildren writes the lists in the body of a parent whose items are
// child resources too: they have a name of their own, list and item may be
// written, and a child type that may be written has the same shape. Then the same
// thing can be made in two ways, and a PUT of the parent meets what the other way
// made.
func writeInlineChildren(from descriptions, out io.Writer) error {
	types, err := newest(from)
	if err != nil {
		return err
	}
	below := map[string][]described{}
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
			w := lister{parent: parent, children: below[key]}
			w.walk(parent.file.at(parent.at.Body), nil, nil)
			rows = append(rows, slices.Sorted(slices.Values(w.rows))...)
		}
	}
	_, err = fmt.Fprintln(out, strings.Join(rows, "\n"))
	return err
}

// newest are the types by their name in lower case.
func newest(from descriptions) (map[string]described, error) {
	versions := map[string]string{}
	for full := range from.Resources {
		name, version, _ := strings.Cut(full, "@")
		key := strings.ToLower(name)
		if known, ok := versions[key]; !ok || newer(version, known) {
			versions[key] = version
		}
	}
	types, kept := map[string]described{}, descriptions{folder: from.folder, Resources: map[string]reference{}}
	for full, at := range from.Resources {
		if name, version, _ := strings.Cut(full, "@"); versions[strings.ToLower(name)] == version {
			kept.Resources[full] = at
		}
	}
	return types, kept.each(func(name, version string, in file, at reference) {
		types[strings.ToLower(name)] = described{name, version, in, in.at(at)}
	})
}

func newer(a, b string) bool {
	const stable = len("2006-01-02")
	if (len(a) == stable) != (len(b) == stable) {
		return len(a) == stable
	}
	return a > b
}

// lister looks for the lists of one parent.
type lister struct {
	parent   described
	children []described
	rows     []string
}

func (w *lister) walk(n node, path []string, above []int) {
	if len(path) >= searched {
		return
	}
	for _, members := range []map[string]property{n.Base, n.Properties} {
		for name, p := range members {
			if p.Flags&readOnly != 0 || strings.EqualFold(name, fromTheOtherSide) {
				continue
			}
			next, here := w.parent.file.at(p.Type), append(slices.Clone(path), name)
			switch {
			case slices.Contains(above, p.Type.number()):
			case next.Kind == "ObjectType":
				w.walk(next, here, append(slices.Clone(above), p.Type.number()))
			case next.Kind == "ArrayType":
				if found := w.same(name, w.parent.file.at(next.Item)); len(found) > 0 {
					w.rows = append(w.rows, strings.Join([]string{w.parent.name, strings.Join(here, "."), strings.Join(found, ",")}, " "))
				}
			}
		}
	}
}

// same are the child types that an item of a list is, too.
func (w *lister) same(list string, item node) []string {
	shape := item.members()
	name, named := shape["name"]
	if !named || name.Flags&readOnly != 0 {
		return nil
	}
	if p, nested := shape["properties"]; nested {
		shape = w.parent.file.at(p.Type).members()
	}
	var found []string
	for _, child := range w.children {
		p, ok := child.file.at(child.at.Body).members()["properties"]
		if ok && common(shape, child.file.at(p.Type).members(), strings.EqualFold(list, child.lastSegment())) {
			found = append(found, child.lastSegment())
		}
	}
	slices.Sort(found)
	return found
}

// common compares two shapes. Of the same name, all that the item has is in the
// child; of another, both ways, and enough to be no accident.
func common(item, child map[string]property, sameName bool) bool {
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
		return both > 0 && float64(both) >= alike*float64(len(item))
	}
	return both >= 3 && float64(both) >= alike*float64(all)
}
