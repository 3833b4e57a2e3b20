package azure_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/armature-io/armature/extensions/azure"
	"github.com/armature-io/armature/resource"
)

// TestNetworkFamilyStates: a child of a network, a route table, a security group or a
// load balancer waits while it or its parent is Updating, and takes turns with its
// siblings. The general checks do this: the states are ARM's own.
func TestNetworkFamilyStates(t *testing.T) {
	const network = groupID + "/providers/Microsoft.Network/"
	for parent, child := range map[string]string{
		"virtualNetworks/n": "subnets/a", "routeTables/r": "routes/a", "networkSecurityGroups/g": "securityRules/a",
	} {
		t.Run(parent, func(t *testing.T) {
			a := newSimulation(t)
			parentID, childID := network+parent, network+parent+"/"+child
			a.want("without its parent", a.ownerCheck(childID), resource.ActionBlock, "does not exist")
			a.put(parentID, `{"location":"westus2"}`)
			a.want("while its parent changes", a.ownerCheck(childID), resource.ActionBlock, `"Updating"`)
			a.pass(time.Hour)
			a.want("afterwards", a.ownerCheck(childID), resource.ActionProceed, "")
			a.put(childID, `{}`)
			a.want("while it changes", a.preCheck(childID, `{}`), resource.ActionBlock, `"Updating"`)
			a.pass(time.Hour)
			a.want("afterwards", a.preCheck(childID, `{}`), resource.ActionSkip, "In sync")
			a.want("afterwards", a.postCheck(childID), resource.ActionSuccess, "")
			if turn, ok := a.registry.FamilyHead(mustID(t, childID)); !ok || !turn.Equal(mustID(t, parentID)) {
				t.Errorf("it takes turns below %q, want below its parent", turn)
			}
		})
	}
	if diff := cmp.Diff([]string{"properties.ipConfigurations"}, azure.Subnet{}.TrimObserved()); diff != "" {
		t.Errorf("properties of a subnet that histories do not have: %s", diff)
	}
}
