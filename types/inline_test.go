package types

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// contoso returns the directory of a provider with networks and their children.
func contoso(t *testing.T) *index {
	t.Helper()
	text := &Node{Kind: Text}
	properties := func(names ...string) *Node {
		n := object()
		for _, name := range names {
			n.Properties = append(n.Properties, Property{Name: name, Type: text})
		}
		return object(n.Properties...)
	}
	resourceOf := func(inner *Node) *Node {
		return object(Property{Name: "name", Type: text}, Property{Name: "properties", Type: inner})
	}
	listOf := func(item *Node) *Node { return &Node{Kind: List, Item: item} }
	subnet, event := properties("prefix", "size", "zone"), properties("at", "text", "level")
	loop := object(Property{Name: "subnets", Type: listOf(resourceOf(subnet))})
	loop.Properties = append(loop.Properties, Property{Name: "zelf", Type: loop})
	network := object(
		Property{Name: "Subnets", Type: listOf(resourceOf(subnet))},
		Property{Name: "ranges", Type: listOf(resourceOf(properties("prefix", "size", "zone", "id")))},
		Property{Name: "others", Type: listOf(resourceOf(properties("prefix", "size", "a", "b")))},
		Property{Name: "events", Type: listOf(resourceOf(event))},
		Property{Name: "seen", Flags: ReadOnly, Type: object(Property{Name: "subnets", Type: listOf(resourceOf(subnet))})},
		Property{Name: "nameless", Type: listOf(subnet)},
		Property{Name: "privateEndpointConnections", Type: listOf(resourceOf(properties("state")))},
		Property{Name: "loop", Type: loop},
	)
	shape := func(name string, writable Scope, inner *Node) Shape {
		return Shape{Type: "Contoso.Net/" + name, Version: "2020-01-01", Body: resourceOf(inner), Readable: ResourceGroupScope, Writable: writable}
	}
	return indexOf(
		shape("networks", ResourceGroupScope, network),
		shape("networks/subnets", ResourceGroupScope, subnet),
		shape("networks/subnets/deeper", ResourceGroupScope, subnet),
		shape("networks/events", 0, event),
		shape("networks/privateEndpointConnections", ResourceGroupScope, properties("state")),
		shape("networksOther", ResourceGroupScope, network),
	)
}

func TestInlineLists(t *testing.T) {
	cases := map[string]struct {
		reason, name string
		want         []InlineList
	}{
		"parent": {
			"a list with the name or the shape of a writable child; no endpoint connections, no read-only list or child",
			"contoso.net/NETWORKS",
			[]InlineList{
				{Path: []string{"properties", "Subnets"}, Children: []string{"subnets"}},
				{Path: []string{"properties", "loop", "subnets"}, Children: []string{"subnets"}},
				{Path: []string{"properties", "ranges"}, Children: []string{"subnets"}},
			},
		},
		"no children": {"the same body without child types", "Contoso.Net/networksOther", nil},
		"unknown":     {"a type that is not published", "Contoso.Net/nothing", nil},
	}
	x := contoso(t)
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, x.inlineLists(c.name)); diff != "" {
				t.Errorf("%s (-want +got)\n%s", c.reason, diff)
			}
		})
	}
}

func TestInlineListsOfPublishedTypes(t *testing.T) {
	lists := 0
	for _, name := range Names(true) {
		lists += len(InlineLists(name))
	}
	if lists < 30 || lists > 60 {
		t.Errorf("%d lists of inline children in all types, want about 35: every one changes what a PUT sends", lists)
	}
	want := []InlineList{
		{Path: []string{"properties", "subnets"}, Children: []string{"subnets"}},
		{Path: []string{"properties", "virtualNetworkPeerings"}, Children: []string{"virtualNetworkPeerings"}},
	}
	if diff := cmp.Diff(want, InlineLists("Microsoft.Network/virtualNetworks")); diff != "" {
		t.Errorf("a network (-want +got)\n%s", diff)
	}
}
