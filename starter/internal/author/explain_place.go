package author

import (
	"fmt"
	"slices"
	"strings"

	"github.com/armature-io/armature/internal/nearest"
	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/types"
)

// place is a position in a shape. form is the form (a value of a discriminator) on the
// way to it that the path does not state, "" if there is none.
type place struct {
	property types.Property
	form     form
}

// form is one variant of a discriminated mapping.
type form struct{ path, discriminator, value string }

// in returns a path below the form with the form stated.
func (f form) in(path string) string {
	inner := strings.TrimPrefix(strings.TrimPrefix(path, f.path), ".")
	return join(fmt.Sprintf("%s[%s=%s]", f.path, f.discriminator, f.value), inner)
}

// find follows a path from the body of a shape. Where forms differ it follows all of
// them and returns each place that the path reaches, and the path as published.
func find(shape *types.Shape, path resource.Path) ([]place, string, error) {
	places := []place{{property: types.Property{Type: shape.Body}}}
	at := ""
	for _, step := range path {
		var next []place
		published := ""
		for _, p := range places {
			for _, reached := range p.step(at, step) {
				if published == "" {
					published = reached.property.Name
				}
				if !slices.ContainsFunc(next, func(known place) bool { return known.property.Type == reached.property.Type }) {
					next = append(next, reached)
				}
			}
		}
		if len(next) == 0 {
			return nil, "", noStep(places, at, step)
		}
		places = next
		at = join(at, published)
	}
	return places, at, nil
}

// join returns a path extended by a step that is written as Step.String writes it.
func join(path, step string) string {
	if path == "" || strings.HasPrefix(step, "[") {
		return path + step
	}
	return path + "." + step
}

// step returns the places that one step reaches; their Name is the step as published.
func (p place) step(at string, step resource.Step) []place {
	n := p.property.Type
	if step.Name != "" {
		return p.member(at, step.Name)
	}
	if step.Key != "" {
		name := fmt.Sprintf("[%s=%s]", step.Key, step.Value)
		if v := variant(n, step); v != nil {
			return []place{{property: types.Property{Name: name, Type: v, Flags: p.property.Flags}, form: p.form}}
		}
		if n.Kind != types.List {
			return nil
		}
		item := n.Item
		if v := variant(n.Item, step); v != nil {
			item = v
		} else {
			name = "[]"
		}
		return []place{{property: types.Property{Name: name, Type: item}, form: p.form}}
	}
	switch {
	case n.Kind == types.List:
		return []place{{property: types.Property{Name: "[]", Type: n.Item}, form: p.form}}
	case n.Additional != nil && step.Any:
		return []place{{property: types.Property{Name: "[*]", Type: n.Additional}, form: p.form}}
	}
	return nil
}

// variant returns the form that a step [key=value] selects; nil if it selects none.
func variant(n *types.Node, step resource.Step) *types.Node {
	if !strings.EqualFold(n.Discriminator, step.Key) {
		return nil
	}
	return n.Form(step.Value)
}

// member returns the places of a property. A list stands for its items, so that a path
// works without brackets too.
func (p place) member(at, name string) []place {
	n := p.property.Type
	prefix := ""
	for n.Kind == types.List {
		n, prefix = n.Item, prefix+"[]"
	}
	with := func(property types.Property, f form) place {
		property.Name = join(prefix, nameText(property.Name))
		return place{property: property, form: f}
	}
	if found, ok := n.Members("").Property(name); ok {
		return []place{with(found, p.form)}
	}
	var places []place
	for _, v := range n.Variants {
		if found, ok := v.Type.Property(name); ok {
			f := p.form
			if f.value == "" {
				f = form{path: at + prefix, discriminator: n.Discriminator, value: v.Value}
			}
			places = append(places, with(found, f))
		}
	}
	if len(places) == 0 && n.Additional != nil {
		places = append(places, with(types.Property{Name: name, Type: n.Additional}, p.form))
	}
	return places
}

// nameText returns a name as a path writes it.
func nameText(name string) string { return resource.Path{{Name: name}}.String() }

// noStep returns the error of a step that leads nowhere, with the nearest name.
func noStep(places []place, at string, step resource.Step) error {
	where := at
	if where == "" {
		where = "the body"
	}
	var names, forms []string
	n := places[0].property.Type
	for _, p := range places {
		names = append(names, propertyNames(p.property.Type.Innermost())...)
	}
	if step.Name == "" {
		if n.Kind == types.Discriminated && strings.EqualFold(n.Discriminator, step.Key) {
			for _, v := range n.Variants {
				forms = append(forms, v.Value)
			}
			return unknown("%s has no form %s=%s%s; its forms: %s", where, step.Key, step.Value, nearest.Suggest(step.Value, forms), strings.Join(forms, ", "))
		}
		return unknown("%s is %s, not a list; remove the brackets", where, kindText(n))
	}
	text := fmt.Sprintf("%s has no property %s", where, step.Name)
	switch near := nearest.Match(step.Name, names); {
	case near != "":
		text += fmt.Sprintf(" (did you mean %s?)", near)
	case len(names) == 0:
		text += ": it is " + kindText(n)
	default:
		text += "; it has " + firstOf(names, 12)
	}
	return unknown("%s", text)
}

// propertyNames returns the names of the properties of a node, also of all forms,
// sorted, each once.
func propertyNames(n *types.Node) []string {
	var names []string
	for _, p := range n.Properties {
		names = append(names, p.Name)
	}
	for _, v := range n.Variants {
		names = append(names, propertyNames(v.Type)...)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// firstOf returns the first names of a list, separated by commas.
func firstOf(names []string, count int) string {
	if len(names) > count {
		return strings.Join(names[:count], ", ") + ", ..."
	}
	return strings.Join(names, ", ")
}
