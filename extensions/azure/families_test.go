package azure_test

import (
	"testing"

	"github.com/armature-io/armature/extensions/azure"
)

func TestFamilies(t *testing.T) {
	const network = groupID + "/providers/Microsoft.Network/"
	cases := map[string]struct {
		reason, id, head string
	}{
		"table":       {"peerings of a network change one at a time", network + "virtualNetworks/v/virtualNetworkPeerings/p", network + "virtualNetworks/v"},
		"inline list": {"a PUT of the parent lists its children", network + "routeFilters/f/routeFilterRules/r", network + "routeFilters/f"},
		"head":        {"the parent is part of its family", network + "virtualNetworks/v", network + "virtualNetworks/v"},
		"no row":      {"other types change in parallel", storageID, ""},
	}
	r := builtIn(t)
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			head, ok := r.FamilyHead(mustID(t, c.id))
			if ok != (c.head != "") || ok && head.String() != c.head {
				t.Errorf("%s: got %q %v, want %q", c.reason, head, ok, c.head)
			}
		})
	}
}

func TestLeaves(t *testing.T) {
	r := builtIn(t)
	for name, want := range map[string]bool{
		"microsoft.dbforpostgresql/FLEXIBLESERVERS/firewallrules": true,
		azure.RoleAssignmentType:                                  false, azure.SubnetType: false,
	} {
		if got := r.Leaf(name); got != want {
			t.Errorf("Leaf(%q) = %v", name, got)
		}
	}
}
