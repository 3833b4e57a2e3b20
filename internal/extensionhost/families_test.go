package extensionhost_test

import (
	"strings"
	"testing"

	"github.com/armature-io/armature/extensions"
	"github.com/armature-io/armature/internal/extensionhost"
)

// lister states the inline list of one type.
type lister struct{}

func (lister) InlineLists(resourceType string) []extensions.InlineList {
	if !strings.EqualFold(resourceType, "Contoso.Things/parts") {
		return nil
	}
	return []extensions.InlineList{{Path: "properties.screws", Types: []string{"screws"}}}
}

func TestFamilyHead(t *testing.T) {
	const vnet = groupID + "/providers/Microsoft.Network/virtualNetworks/v1"
	const parts = groupID + "/providers/contoso.things/Parts/p1"
	const thing = groupID + "/providers/Contoso.Things/things/t1"
	cases := map[string]struct {
		reason, id, want string
	}{
		"Child":      {"subnets of one network change one at a time", vnet + "/subnets/s1", vnet},
		"Other":      {"a peering and a subnet too", vnet + "/virtualNetworkPeerings/p1", vnet},
		"Itself":     {"the network takes part", vnet, vnet},
		"Case":       {"types ignore case", groupID + "/providers/microsoft.network/VIRTUALNETWORKS/v1/SUBNETS/s1", vnet},
		"OtherChild": {"a child without a row is not in the family", vnet + "/things/x", ""},
		"Unknown":    {"a type without a row has no family", storageID, ""},
		"Container":  {"a group is not a family", groupID, ""},
		"Extension":  {"an extension resource of a member is not its child", vnet + "/subnets/s1/providers/Microsoft.Authorization/locks/l", ""},
		"OwnRow":     {"an author adds a row", thing + "/kids/k", thing},
		"OwnDeepRow": {"also for deeper children", thing + "/kids/k/toys/y", thing},
		"Lister":     {"a link lists the children of a type", parts + "/screws/s", parts},
		"Outermost":  {"a family inside a family is part of it", thing + "/kids/k", thing},
	}
	r := registry(t,
		extensions.Entry{Type: extensions.AllTypes, Link: lister{}},
		extensions.Entry{Type: "Microsoft.Network/virtualNetworks", Facts: extensions.Facts{Families: []extensions.Family{{Children: []string{"virtualNetworkPeerings"}}}}},
		extensions.Entry{Type: "Microsoft.Network/virtualNetworks", Facts: extensions.Facts{InlineLists: []extensions.InlineList{{Path: "properties.subnets", Types: []string{"subnets"}}}}},
		extensions.Entry{Type: "contoso.things/THINGS", Facts: extensions.Facts{Families: []extensions.Family{{Children: []string{"kids", "kids/toys"}}}}},
		extensions.Entry{Type: "Contoso.Things/things/kids", Facts: extensions.Facts{Families: []extensions.Family{{Children: []string{"toys"}}}}})
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			parent, ok := r.FamilyHead(mustID(t, c.id))
			if ok != (c.want != "") || ok && !parent.Equal(mustID(t, c.want)) {
				t.Errorf("%s: got %q %v, want %q", c.reason, parent, ok, c.want)
			}
		})
	}
}

func TestLeaf(t *testing.T) {
	r := registry(t, extensions.Entry{Type: "Contoso.Things/things/kids", Facts: extensions.Facts{Leaf: "nothing names it"}})
	for name, want := range map[string]bool{
		"Contoso.Things/things/KIDS":                true,
		"Microsoft.Network/virtualNetworks/subnets": false,
		"Contoso.Things/things":                     false,
	} {
		if got := r.Leaf(name); got != want {
			t.Errorf("Leaf(%q) = %v", name, got)
		}
	}
}

func TestFactsOfAllTypes(t *testing.T) {
	for name, entry := range map[string]extensions.Entry{
		"leaf": {Type: extensions.AllTypes, Facts: extensions.Facts{Leaf: "nothing names it"}}, "family": {Type: extensions.AllTypes, Facts: extensions.Facts{Families: []extensions.Family{{Children: []string{"x"}}}}},
		"inline list": {Type: extensions.AllTypes, Facts: extensions.Facts{InlineLists: []extensions.InlineList{{Path: "properties.x"}}}},
		"bad path":    {Type: "Contoso.Things/things", Facts: extensions.Facts{Stopped: []extensions.StoppedState{{Path: "properties..x"}}}},
	} {
		if _, err := extensionhost.New(entry); err == nil {
			t.Errorf("%s: the entry is accepted", name)
		}
	}
}

// panicky panics when its facts are read.
type panicky struct{}

func (panicky) Children() []string {
	var none []string
	return none[1:2]
}

func TestFactsThatPanic(t *testing.T) {
	if _, err := extensionhost.New(extensions.Entry{Type: "Contoso.Things/things", Link: panicky{}}); err == nil || !strings.Contains(err.Error(), "panicky") {
		t.Errorf("got %v", err)
	}
}
