package types

import (
	"fmt"
	"slices"
	"strings"

	"github.com/armature-io/armature/internal/jsontree"
	"github.com/armature-io/armature/internal/nearest"
	"github.com/armature-io/armature/resource"
)

// writable returns the names of the properties that a body may state and object does
// not.
func (m Members) writable(object map[string]any) []string {
	var names []string
	for p := range m.All() {
		if _, _, stated := jsontree.Member(object, p.Name); !stated && !p.Has(ReadOnly) {
			names = append(names, p.Name)
		}
	}
	slices.Sort(names)
	return names
}

// unknown records a property that the shape does not have. It is a fault if its name is
// nearly that of a known property that the object does not state, or the name of a property
// one level up or down.
func (c *checker) unknown(m Members, object map[string]any, name string, at place) {
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
	if p, outside := at.outer.Property(name); outside && !p.Has(ReadOnly) && len(at.path) > 0 && !at.path[len(at.path)-1].IsIndex {
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
func (m Members) below(name string) (string, bool) {
	for p := range m.All() {
		if p.Has(ReadOnly) || p.Type.Kind != Object && p.Type.Kind != Discriminated {
			continue
		}
		if inner, found := p.Type.Property(name); found && !inner.Has(ReadOnly) && strings.EqualFold(inner.Name, name) {
			return p.Name, true
		}
	}
	return "", false
}
