package types

import (
	"strings"

	"github.com/armature-io/armature/resource"
)

// Find returns what the shape has at a path of a body, ignoring case: a property, for
// each variant that has it; the items of a list as a property named "[]"; the values of
// a map as one named "*". It returns nothing for an unknown path. free is true if the
// path leads into a value of any kind, below which every name is legal.
func (s *Shape) Find(path resource.Path) (found []Property, free bool) {
	nodes := []*Node{s.Body}
	for _, step := range path {
		f := finder{name: step.Name}
		for _, n := range nodes {
			f.search(n, 0)
		}
		found, free, nodes = f.found, free || f.free, nil
		for _, p := range found {
			nodes = append(nodes, p.Type)
		}
	}
	return found, free
}

// finder takes one step into a node and its variants and elements.
type finder struct {
	// name is the property to find, "" for the items of a list.
	name  string
	found []Property
	free  bool
}

func (f *finder) search(n *Node, depth int) {
	if depth > maxWalkSteps {
		return
	}
	f.free = f.free || n.Kind == Any
	for _, v := range n.Variants {
		f.search(v.Type, depth+1)
	}
	for _, element := range n.Elements {
		f.search(element, depth+1)
	}
	if f.name == "" {
		if n.Item != nil {
			f.found = append(f.found, Property{Name: "[]", Type: n.Item})
		}
		return
	}
	if p, found := findProperty(f.name, n.Properties); found {
		f.found = append(f.found, p)
	} else if n.Additional != nil {
		f.found = append(f.found, Property{Name: "*", Type: n.Additional})
	}
}

// IsValue reports whether a text is a published value of a property at a path,
// ignoring case.
func (s *Shape) IsValue(path resource.Path, text string) bool {
	found, _ := s.Find(path)
	for _, p := range found {
		values, _ := p.Type.Values()
		for _, value := range values {
			if strings.EqualFold(value, text) {
				return true
			}
		}
	}
	return false
}

// IsSecret reports whether a type publishes a text at a path as a secret: as such, alone or in
// an object, or as write-only, if the text looks random (resource.LooksRandom). A published
// value and a resource ID are none. A nil shape has no secrets.
func (s *Shape) IsSecret(path resource.Path, text string) bool {
	if s == nil || s.IsValue(path, text) {
		return false
	}
	if _, err := resource.ParseID(text); err == nil {
		return false
	}
	random := resource.LooksRandom(text)
	for i := range path {
		found, _ := s.Find(path[:i+1])
		for _, p := range found {
			if p.Type.isSecret() || random && p.Has(WriteOnly) {
				return true
			}
		}
	}
	return false
}
