package types

import (
	"slices"
	"strings"
)

const (
	// maxInlineSteps is the depth, in properties, to which InlineLists searches.
	maxInlineSteps = 5
	// minShapeOverlap is the share of properties that two equal shapes have in common.
	minShapeOverlap = 0.8
	// minCommonProperties is the number of common properties from which two shapes of
	// different names are not equal by coincidence.
	minCommonProperties = 3
)

// endpointConnections is the one collection of ARM's common types whose items another
// resource (a private endpoint) creates. A PUT of the parent never changes them,
// whatever it lists.
const endpointConnections = "privateEndpointConnections"

// InlineList is a list in the body of a parent whose items are child resources too.
type InlineList struct {
	// Path are the properties that lead to the list, as published.
	Path []string
	// Children are the last segments of the child types, sorted.
	Children []string
}

// InlineLists returns the lists in the body of a type whose items are child resources
// too: the items have a name, list and name are writable, and a writable child type has
// the same shape. Such a child can be created in two ways, and a PUT of the parent
// affects children that were created in the other way. Of each type the version of
// Newest counts.
func InlineLists(name string) []InlineList { return directory().inlineLists(name) }

func (x *index) inlineLists(name string) []InlineList {
	t, found := x.find(name)
	if !found {
		return nil
	}
	f := listFinder{}
	for child := range x.children(t.key) {
		if v := child.newest(); v.writable {
			f.add(child.provider.resource(v.resource))
		}
	}
	if parent := t.provider.resource(t.newest().resource); parent != nil && len(f.children) > 0 {
		f.walk(parent.Body, nil, nil)
	}
	slices.SortFunc(f.lists, func(a, b InlineList) int { return slices.Compare(a.Path, b.Path) })
	return f.lists
}

// listFinder collects the lists of one parent.
type listFinder struct {
	children []*Shape
	lists    []InlineList
}

func (f *listFinder) add(child *Shape) {
	if child != nil {
		f.children = append(f.children, child)
	}
}

func (f *listFinder) walk(n *Node, path []string, ancestors []*Node) {
	if len(path) >= maxInlineSteps || slices.Contains(ancestors, n) {
		return
	}
	ancestors = append(slices.Clone(ancestors), n)
	for _, p := range n.Properties {
		if p.Has(ReadOnly) || strings.EqualFold(p.Name, endpointConnections) {
			continue
		}
		here := append(slices.Clone(path), p.Name)
		switch p.Type.Kind {
		case Object:
			f.walk(p.Type, here, ancestors)
		case List:
			if found := f.matching(p.Name, p.Type.Item); len(found) > 0 {
				f.lists = append(f.lists, InlineList{Path: here, Children: found})
			}
		}
	}
}

// matching returns the names of the child types that have the shape of a list item.
func (f *listFinder) matching(list string, item *Node) []string {
	if name, found := findProperty("name", item.Properties); !found || name.Has(ReadOnly) {
		return nil
	}
	shape := item.Properties
	if p, nested := findProperty("properties", item.Properties); nested {
		shape = p.Type.Properties
	}
	var names []string
	for _, child := range f.children {
		segment := child.Type[strings.LastIndex(child.Type, "/")+1:]
		p, found := findProperty("properties", child.Body.Properties)
		if found && sameShape(shape, p.Type.Properties, strings.EqualFold(list, segment)) {
			names = append(names, segment)
		}
	}
	slices.Sort(names)
	return names
}

// sameShape compares two shapes. If the names are equal, the child must have the
// properties of the item; otherwise both must have each other's, and enough of them to
// exclude a coincidence.
func sameShape(item, child []Property, sameName bool) bool {
	both, all := 0, len(child)
	for _, p := range item {
		switch _, found := findProperty(p.Name, child); {
		case found:
			both++
		case !slices.Contains([]string{"id", "name", "type", "etag"}, strings.ToLower(p.Name)):
			all++
		}
	}
	if sameName {
		return both > 0 && float64(both) >= minShapeOverlap*float64(len(item))
	}
	return both >= minCommonProperties && float64(both) >= minShapeOverlap*float64(all)
}
