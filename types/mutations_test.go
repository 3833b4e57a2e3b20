package types_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"slices"
	"testing"

	"github.com/armature-io/armature/types"
)

// minMutationsFound is the least share of the visible mutations that are found.
const minMutationsFound = 0.98

// site is a property of a body with its published shape.
type site struct {
	object map[string]any
	name   string
	// outer contains object under outerName; nil at the top and for items of lists.
	// outerIsMap is true if outer takes any name.
	outer      map[string]any
	outerName  string
	outerIsMap bool
	// node is the shape of object, nil where any member is legal; property is the one of
	// name, with an empty name where object is a map.
	node     *types.Node
	property types.Property
}

// mutation changes a body at a site and returns how to undo it. A reason says why the
// published types cannot see the change; "" if they can. skip is true if the operator
// does not apply.
type mutation func(s site) (undo func(), blind string, skip bool)

// operators are the mutations by name.
var operators = map[string]mutation{
	"letter-swapped": misspell(func(n string) string { i := len(n) / 2; return n[:i-1] + n[i:i+1] + n[i-1:i] + n[i+1:] }),
	"letter-dropped": misspell(func(n string) string { i := len(n) / 2; return n[:i] + n[i+1:] }),
	"letter-doubled": misspell(func(n string) string { i := len(n) / 2; return n[:i] + n[i-1:i] + n[i:] }),
	"wrong-kind":     changeKind,
	"value-misspelt": misspellValue,
	"required-removed": func(s site) (func(), string, bool) {
		value := s.object[s.name]
		if !s.property.Has(types.Required) {
			return nil, "", true
		}
		delete(s.object, s.name)
		return func() { s.object[s.name] = value }, "", false
	},
	"moved-up": func(s site) (func(), string, bool) {
		value := s.object[s.name]
		if _, taken := s.outer[s.name]; s.outer == nil || taken {
			return nil, "", true
		}
		delete(s.object, s.name)
		s.outer[s.name] = value
		blind := ""
		if s.outerIsMap {
			blind = "map key"
		}
		return func() { delete(s.outer, s.name); s.object[s.name] = value }, blind, false
	},
	"moved-down": moveDown,
}

// moveDown moves a property into the first mapping beside it.
func moveDown(s site) (func(), string, bool) {
	for _, beside := range slices.Sorted(maps.Keys(s.object)) {
		into, ok := s.object[beside].(map[string]any)
		if _, taken := into[s.name]; !ok || taken || beside == s.name {
			continue
		}
		value := s.object[s.name]
		delete(s.object, s.name)
		into[s.name] = value
		blind := ""
		switch s.node {
		case nil:
			blind = "any"
		default:
			if p, found := s.node.Property(beside); found && (p.Type.Kind == types.Any || p.Type.Additional != nil) {
				blind = "map key"
			}
		}
		return func() { delete(into, s.name); s.object[s.name] = value }, blind, false
	}
	return nil, "", true
}

// misspell changes the name of a property.
func misspell(change func(string) string) mutation {
	return func(s site) (func(), string, bool) {
		if len(s.name) < 4 {
			return nil, "", true
		}
		changed, value := change(s.name), s.object[s.name]
		if _, taken := s.object[changed]; taken || changed == s.name {
			return nil, "", true
		}
		delete(s.object, s.name)
		s.object[changed] = value
		blind := ""
		switch {
		case s.node == nil:
			blind = "any"
		case s.property.Name == "":
			blind = "map key"
		}
		return func() { delete(s.object, changed); s.object[s.name] = value }, blind, false
	}
}

// changeKind puts a list in the place of a mapping or scalar, and a text in the place of a
// list.
func changeKind(s site) (func(), string, bool) {
	value := s.object[s.name]
	if value == nil {
		return nil, "", true
	}
	if _, isList := value.([]any); isList {
		s.object[s.name] = "text"
	} else {
		s.object[s.name] = []any{"item"}
	}
	blind := ""
	if s.node == nil || s.property.Type.Kind == types.Any {
		blind = "any"
	}
	return func() { s.object[s.name] = value }, blind, false
}

// misspellValue drops a letter of a published value.
func misspellValue(s site) (func(), string, bool) {
	text, ok := s.object[s.name].(string)
	if s.node == nil || !ok || len(text) < 4 {
		return nil, "", true
	}
	values, _ := s.property.Type.Values()
	if !slices.Contains(values, text) {
		return nil, "", true
	}
	i := len(text) / 2
	changed := text[:i] + text[i+1:]
	s.object[s.name] = changed
	blind := ""
	if slices.Contains(values, changed) {
		blind = "another published value"
	}
	return func() { s.object[s.name] = text }, blind, false
}

// TestCorpusMutations scores Check on bodies that Azure accepted after one change. All
// findings count, faults and warnings.
func TestCorpusMutations(t *testing.T) {
	bodies := recordedBodies(t)
	all := tally{blind: map[string]int{}}
	for _, name := range slices.Sorted(maps.Keys(operators)) {
		score := tally{blind: map[string]int{}}
		for _, b := range bodies {
			shape := types.Lookup(b.Type, b.Version)
			before := texts(shape.Check(b.Body))
			sites(shape.Body, b.Body, site{}, func(s site) {
				undo, blind, skip := operators[name](s)
				if skip {
					return
				}
				found := slices.ContainsFunc(texts(shape.Check(b.Body)), func(text string) bool { return !slices.Contains(before, text) })
				undo()
				score.add(found, blind)
				if !found && blind == "" && testing.Verbose() {
					t.Logf("not found: %s, %s@%s %s in %s", name, b.Type, b.Version, s.name, s.outerName)
				}
			})
			if after := texts(shape.Check(b.Body)); !slices.Equal(before, after) {
				t.Fatalf("%s was not undone in %s: %v, then %v", name, b.Source, before, after)
			}
		}
		fmt.Printf("score types.mutations.%s %s\n", name, score)
		all.merge(score)
	}
	fmt.Printf("score types.mutations %s\n", all)
	if os.Getenv("ARM_CORPUS") == "" && float64(all.found) < minMutationsFound*float64(all.visible) {
		t.Errorf("%d of %d visible mutations found, want %v", all.found, all.visible, minMutationsFound)
	}
}

// tally counts mutations: how many the types can see, how many of them are found,
// and the others by reason.
type tally struct {
	visible, found int
	blind          map[string]int
}

func (t *tally) add(found bool, blind string) {
	switch {
	case blind != "" && !found:
		t.blind[blind]++
	case found:
		t.visible++
		t.found++
	default:
		t.visible++
	}
}

func (t *tally) merge(other tally) {
	t.visible += other.visible
	t.found += other.found
	for reason, n := range other.blind {
		t.blind[reason] += n
	}
}

func (t tally) String() string {
	text := fmt.Sprintf("%d/%d", t.found, t.visible)
	for _, reason := range slices.Sorted(maps.Keys(t.blind)) {
		text += fmt.Sprintf(", %s %d", reason, t.blind[reason])
	}
	return text
}

func texts(findings []types.Finding) []string {
	texts := make([]string, len(findings))
	for i, f := range findings {
		texts[i] = string(f.Rule) + " " + f.String()
	}
	return texts
}

// sites visits every property of a body with the shape of its object.
func sites(n *types.Node, object map[string]any, from site, visit func(site)) {
	var properties []types.Property
	var additional *types.Node
	if n != nil {
		properties, additional = n.Properties, n.Additional
		if n.Kind == types.Discriminated {
			selector, _ := object[n.Discriminator].(string)
			i := slices.IndexFunc(n.Variants, func(v types.Variant) bool { return v.Value == selector })
			if i < 0 {
				return
			}
			properties, additional = append(slices.Clone(n.Variants[i].Type.Properties), properties...), n.Variants[i].Type.Additional
		}
	}
	for _, name := range slices.Sorted(maps.Keys(object)) {
		at := slices.IndexFunc(properties, func(p types.Property) bool { return p.Name == name })
		s := site{
			object: object, name: name, node: n,
			outer: from.object, outerName: from.name, outerIsMap: from.object != nil && (from.node == nil || from.property.Name == ""),
		}
		switch {
		case at >= 0:
			s.property = properties[at]
		case additional != nil:
			s.property = types.Property{Type: additional}
		case n != nil:
			continue // a finding of its own
		}
		if from.name == "" && name == "name" || s.property.Has(types.ReadOnly) {
			continue
		}
		visit(s)
		descend(s, visit)
	}
}

func descend(s site, visit func(site)) {
	n := s.property.Type
	if n != nil && n.Kind == types.Any {
		n = nil
	}
	switch value := s.object[s.name].(type) {
	case map[string]any:
		sites(n, value, s, visit)
	case []any:
		var item *types.Node
		if n != nil && n.Item != nil && n.Item.Kind != types.Any {
			item = n.Item
		}
		for _, element := range value {
			if object, ok := element.(map[string]any); ok {
				sites(item, object, site{name: s.name + "[]"}, visit)
			}
		}
	case json.Number, string, bool:
	}
}
