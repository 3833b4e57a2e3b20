package types

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/armature-io/armature/resource"
)

// texts returns the paths of a set, sorted, without those below another one.
func (p *Paths) texts() []string {
	var all []string
	var walk func(p *Paths, at []string)
	walk = func(p *Paths, at []string) {
		switch {
		case p == nil:
		case p.ends:
			all = append(all, strings.Join(at, "."))
		default:
			for step, below := range p.next {
				walk(below, append(slices.Clone(at), step))
			}
		}
	}
	walk(p, nil)
	slices.Sort(all)
	return all
}

func object(properties ...Property) *Node {
	slices.SortFunc(properties, func(a, b Property) int { return strings.Compare(a.Name, b.Name) })
	return &Node{Kind: Object, Properties: properties}
}

// networks returns a type in two api-versions.
func networks(t *testing.T) *publishedType {
	t.Helper()
	text, secret := &Node{Kind: Text}, &Node{Kind: Text, Sensitive: true}
	item := object(Property{Name: "id", Flags: ReadOnly, Type: text}, Property{Name: "Password", Flags: WriteOnly, Type: secret})
	old := object(
		Property{Name: "gone", Flags: ReadOnly, Type: text},
		Property{Name: "late", Type: text},
		Property{Name: "early", Flags: ReadOnly | WriteOnly, Type: text},
		Property{Name: "view", Flags: ReadOnly, Type: item},
	)
	variants := &Node{Kind: Discriminated, Discriminator: "kind", Variants: []Variant{
		{Value: "a", Type: object(Property{Name: "state", Flags: ReadOnly, Type: text})},
		{Value: "b", Type: object(Property{Name: "state", Type: text})},
	}}
	now := object(
		Property{Name: "late", Flags: ReadOnly, Type: text},
		Property{Name: "early", Type: text},
		Property{Name: "subnets", Type: &Node{Kind: List, Item: item}},
		Property{Name: "kind", Type: variants},
		Property{Name: "keys", Type: &Node{Kind: Object, Additional: secret}},
		Property{Name: "users", Type: &Node{Kind: Object, Additional: item}},
	)
	body := object(Property{Name: "properties", Type: now})
	x := indexOf(
		Shape{Type: "Contoso.Net/networks", Version: "2020-01-01", Body: object(Property{Name: "properties", Type: old})},
		Shape{Type: "Contoso.Net/networks", Version: "2021-01-01", Body: body},
		Shape{Type: "Contoso.Net/networks", Version: "2022-01-01", Body: body},
	)
	found, ok := x.find("contoso.net/NETWORKS")
	if !ok {
		t.Fatal("the type is not found")
	}
	return found
}

func TestMarks(t *testing.T) {
	of := networks(t)
	cases := map[string]struct {
		reason string
		got    *Paths
		want   []string
	}{
		"read-only": {"the newest version with a property decides; a property that a variant makes writable is writable",
			of.readOnly(), []string{"properties.gone", "properties.late", "properties.subnets.[].id", "properties.users.*.id", "properties.view"}},
		"write-only": {"any version counts, but nothing below a read-only property",
			of.marks().WriteOnly, []string{"properties.early", "properties.subnets.[].password", "properties.users.*.password"}},
		"sensitive": {"a text, and the values of a map",
			of.marks().Sensitive, []string{"properties.keys", "properties.subnets.[].password", "properties.users.*.password"}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, c.got.texts()); diff != "" {
				t.Errorf("%s (-want +got)\n%s", c.reason, diff)
			}
		})
	}
	if len(of.shapes()) != 2 {
		t.Error("want one shape for each different body")
	}
}

func TestMarksOfPublishedTypes(t *testing.T) {
	password := resource.Path{{Name: "Properties"}, {Name: "virtualMachineProfile"}, {Name: "osProfile"}, {Name: "adminPassword"}}
	marks := MarksOf("microsoft.compute/VIRTUALMACHINESCALESETS")
	if !marks.Sensitive.Cover(password) || marks.Sensitive.Cover(password[:3]) || marks.Sensitive.Contain(append(password, resource.Step{Name: "x"})) {
		t.Error("want the password of a scale set, and nothing around it")
	}
	if ReadOnlyOf("Microsoft.Compute/virtualMachineScaleSets").Contain(password) {
		t.Error("the password is writable")
	}
	if unknown := MarksOf("Contoso.Net/networks"); unknown != (Marks{}) || unknown.WriteOnly.Cover(password) || ReadOnlyOf("") != nil {
		t.Error("a type that is not published has marks")
	}
}

func TestPathsSteps(t *testing.T) {
	paths := &Paths{}
	paths.add([]string{"a", "[]", "b"})
	paths.add([]string{"m", "*", "c"})
	for text, want := range map[string]bool{
		"a[0].b": true, "A[name=x].B": true, "a[*].b.c": true, "a.b": false, "m.k.c": true, "m['x/y'].C": true, "m.c": false, "a": false,
	} {
		path, err := resource.ParsePath(text)
		if err != nil {
			t.Fatal(err)
		}
		if got := paths.Cover(path); got != want {
			t.Errorf("Cover(%s) = %v", text, got)
		}
	}
}
