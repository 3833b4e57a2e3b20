package types

import (
	"fmt"
	"iter"
	"slices"
	"strings"

	"github.com/armature-io/armature/internal/jsontree"
	"github.com/armature-io/armature/internal/nearest"
	"github.com/armature-io/armature/resource"
)

// members are the properties that an object may have: the properties of its shape, or of
// a variant and of all variants.
type members struct {
	lists      [][]Property
	additional *Node
}

func (m members) property(name string) (Property, bool) { return findProperty(name, m.lists...) }

// all visits every property once, in the order of the lists.
func (m members) all() iter.Seq2[string, Property] {
	return func(yield func(string, Property) bool) {
		for i, list := range m.lists {
			for _, p := range list {
				if i > 0 {
					if _, again := findProperty(p.Name, m.lists[:i]...); again {
						continue
					}
				}
				if !yield(p.Name, p) {
					return
				}
			}
		}
	}
}

// writable returns the names of the properties that a body may state and object does
// not.
func (m members) writable(object map[string]any) []string {
	var names []string
	for name, p := range m.all() {
		if _, _, stated := jsontree.Member(object, name); !stated && !p.Has(ReadOnly) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// unknown records a property that the shape does not have. It is a fault if its name is
// nearly that of a known property that the object does not state, or the name of a property
// one level up or down.
func (c *checker) unknown(m members, object map[string]any, name string, at place) {
	f := Finding{Rule: UnknownProperty, Path: at.below(resource.Step{Name: name}).path, AtName: true}
	candidates := m.writable(object)
	if match := misspelt(name, candidates); match != "" {
		f.Fault, f.Suggestion, f.Message = true, match, fmt.Sprintf("unknown property (did you mean %s?)", match)
		c.add(f)
		return
	}
	if where, inside := m.below(name); inside {
		f.Rule, f.Fault, f.Suggestion = MisplacedProperty, true, where
		f.Message = fmt.Sprintf("belongs inside %s, not beside it", where)
		c.add(f)
		return
	}
	if p, outside := at.outer.property(name); outside && !p.Has(ReadOnly) && len(at.path) > 0 && !at.path[len(at.path)-1].IsIndex {
		last := at.path[len(at.path)-1].Name
		f.Rule, f.Fault, f.Suggestion = MisplacedProperty, true, p.Name
		f.Message = fmt.Sprintf("belongs beside %s, not inside it", last)
		c.add(f)
		return
	}
	f.Message = "unknown property"
	if f.Suggestion = nearest.Match(name, candidates); f.Suggestion != "" {
		f.Message += fmt.Sprintf(" (did you mean %s?)", f.Suggestion)
	} else if len(at.path) == 0 {
		f.Message = "the type does not have this member; remove it"
	}
	c.add(f)
}

// below returns the property whose object has a writable property of a name.
func (m members) below(name string) (string, bool) {
	for where, p := range m.all() {
		if p.Has(ReadOnly) || p.Type.Kind != Object && p.Type.Kind != Discriminated {
			continue
		}
		if inner, found := p.Type.Property(name); found && !inner.Has(ReadOnly) && strings.EqualFold(inner.Name, name) {
			return where, true
		}
	}
	return "", false
}
