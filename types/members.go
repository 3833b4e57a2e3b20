package types

import (
	"iter"
	"slices"
	"strings"
)

// Members are the properties that an object may have: those of the form that its
// discriminator selects, if it has one, and those of all forms.
type Members struct {
	form, common []Property
	// Additional is the kind of the values under other names; nil if no other name is legal.
	Additional *Node
}

// anyKind is the kind of a value of which nothing is published.
var anyKind = &Node{Kind: Any}

// Members returns the properties of an object with a value of its discriminator, ignoring
// case; for another value those of all forms. Under a node that is no object every name is
// legal.
func (n *Node) Members(selector string) Members {
	switch n.Kind {
	case Object:
		return Members{common: n.Properties, Additional: n.Additional}
	case Discriminated:
		if form := n.variant(selector); form != nil {
			return Members{form: form.Properties, common: n.Properties, Additional: form.Additional}
		}
		return Members{common: n.Properties}
	}
	return Members{Additional: anyKind}
}

// variant returns what a value of the discriminator adds to the object, ignoring case; nil
// if no variant has the value.
func (n *Node) variant(value string) *Node {
	i := slices.IndexFunc(n.Variants, func(v Variant) bool { return strings.EqualFold(v.Value, value) })
	if i < 0 {
		return nil
	}
	return n.Variants[i].Type
}

// Form returns an object of its own that has the properties of one form and those of all
// forms, by name; nil if no form has the value of the discriminator, ignoring case.
func (n *Node) Form(value string) *Node {
	v := n.variant(value)
	if v == nil {
		return nil
	}
	form := *v
	form.Properties = slices.SortedFunc(n.Members(value).All(), func(a, b Property) int { return strings.Compare(a.Name, b.Name) })
	return &form
}

// Property returns a property by its name, ignoring case if there is no exact match.
func (m Members) Property(name string) (Property, bool) { return findProperty(name, m.form, m.common) }

// Find is Property; a name that is not published stands for a value of Additional, whose
// property has no name.
func (m Members) Find(name string) (Property, bool) {
	p, found := m.Property(name)
	if !found && m.Additional != nil {
		return Property{Type: m.Additional}, true
	}
	return p, found
}

// All returns every property once: those of the form before those of all forms.
func (m Members) All() iter.Seq[Property] {
	return func(yield func(Property) bool) {
		for _, p := range m.form {
			if !yield(p) {
				return
			}
		}
		for _, p := range m.common {
			if _, again := findProperty(p.Name, m.form); !again && !yield(p) {
				return
			}
		}
	}
}

// Innermost returns the kind of the values in a list, or in lists of lists; another kind is
// its own.
func (n *Node) Innermost() *Node {
	for n.Kind == List {
		n = n.Item
	}
	return n
}
