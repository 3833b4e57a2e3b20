package types

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/armature-io/armature/internal/jsontree"
	"github.com/armature-io/armature/internal/nearest"
	"github.com/armature-io/armature/resource"
)

// discriminated checks an object by the variant that its discriminator selects.
func (c *checker) discriminated(n *Node, object map[string]any, at place) {
	_, selector, found := jsontree.Member(object, n.Discriminator)
	text, isText := selector.(string)
	if n.variant(text) != nil {
		c.properties(n.Members(text), object, at)
		return
	}
	values := make([]string, len(n.Variants))
	for i, v := range n.Variants {
		values[i] = v.Value
	}
	at2 := at.below(resource.Step{Name: n.Discriminator})
	switch {
	case found && (isUnknown(selector) || isUnknownText(selector)):
	case !found && len(at.path) == 0 && n.Discriminator == nameMember: // see Shape.Named
	case !found:
		c.warn(MissingProperty, at2, "is missing; it selects the form of %s; allowed: %s", at.text(), list(values))
	case !isText:
		c.wrongKind(at2, selector, "a text")
	default:
		message, suggestion := fmt.Sprintf("%s is not a published value", at2.show(text)), nearest.Match(text, values)
		if suggestion != "" {
			message += fmt.Sprintf(" (did you mean %s?)", suggestion)
		}
		c.add(Finding{Rule: UnknownDiscriminator, Path: at2.path, Suggestion: suggestion, Message: message + "; published: " + list(values)})
	}
	c.properties(Members{common: n.Properties, Additional: anyKind}, object, at)
}

// properties checks the members of an object, and whether required ones are missing.
func (c *checker) properties(m Members, object map[string]any, at place) {
	inner := at
	inner.outer = m
	top := len(at.path) == 0
	for _, name := range slices.Sorted(maps.Keys(object)) {
		if top && name == nameMember || strings.HasPrefix(name, "$") {
			continue
		}
		next := inner.below(resource.Step{Name: name})
		p, found := m.Property(name)
		switch {
		case !found && m.Additional != nil:
			c.value(m.Additional, object[name], next)
			continue
		case !found:
			c.unknown(m, object, name, at)
			continue
		case p.Has(ReadOnly):
			c.add(Finding{Rule: ReadOnlyProperty, Path: next.path, AtName: true, Message: "is set by Azure and cannot be stated; remove it"})
			continue
		case p.Name != name:
			c.add(Finding{Rule: LetterCase, Path: next.path, AtName: true, Suggestion: p.Name, Message: "is published as " + p.Name})
		}
		c.value(p.Type, object[name], next)
	}
	for p := range m.All() {
		if !p.Has(Required) || p.Has(ReadOnly) || top && p.Name == nameMember {
			continue
		}
		if _, _, stated := jsontree.Member(object, p.Name); !stated {
			c.warn(MissingProperty, at.below(resource.Step{Name: p.Name}), "is missing and required%s", expectation(p.Type))
		}
	}
}

// expectation returns what a missing property is, as the end of its message.
func expectation(n *Node) string {
	if values, open := n.Values(); len(values) > 0 && open {
		return "; for example " + list(values)
	} else if len(values) > 0 {
		return "; allowed: " + list(values)
	}
	switch n.Kind {
	case Boolean:
		return "; write true or false"
	case Text:
		return "; write a text"
	case Integer:
		return "; write a number"
	case List:
		return "; write a list"
	case Object, Discriminated:
		return "; write " + mapping(n)
	}
	return ""
}

// mapping describes an object by the properties that it must have.
func mapping(n *Node) string {
	if names := requiredNames(n); len(names) > 0 {
		return "a mapping with " + list(names)
	}
	return "a mapping"
}

// requiredNames returns the names of the properties that an object must state.
func requiredNames(n *Node) []string {
	var names []string
	for _, p := range n.Properties {
		if p.Has(Required) && !p.Has(ReadOnly) {
			names = append(names, p.Name)
		}
	}
	if n.Discriminator != "" && !slices.Contains(names, n.Discriminator) {
		names = append(names, n.Discriminator)
	}
	return names
}
