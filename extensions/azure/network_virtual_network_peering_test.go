package azure_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/armature-io/armature/extensions/azure"
	"github.com/armature-io/armature/extensions/extensiontest"
	"github.com/armature-io/armature/resource"
)

const (
	hubID, spokeID = groupID + "/providers/Microsoft.Network/virtualNetworks/hub", groupID + "/providers/Microsoft.Network/virtualNetworks/spoke"
	peeringID      = hubID + "/virtualNetworkPeerings/out"
)

func peeringSuite() extensiontest.Suite {
	return extensiontest.Suite{
		Entry: checkOf(azure.VirtualNetworkPeeringType), ID: peeringID,
		Post: []extensiontest.States{
			{Path: "properties.peeringState", Block: []string{"Initiated"}, Pass: []string{"Connected", "SomethingNew"}, Message: "The peering is Initiated: the other network has no peering back yet; create it there"},
			{Path: "properties.peeringState", Block: []string{"Disconnected"}, Pass: []string{"Connected"}, Message: "The peering is Disconnected: the other network or its peering back was deleted; recreate it there"},
		},
	}
}

// TestPeeringStates follows one side while the other comes, goes and comes again.
func TestPeeringStates(t *testing.T) {
	a := newSimulation(t)
	peering := func(remote string) string {
		return `{"properties":{"remoteVirtualNetwork":{"id":"` + remote + `"}}}`
	}
	back := spokeID + "/virtualNetworkPeerings/back"
	a.made(hubID, `{"location":"westus2"}`)
	a.made(spokeID, `{"location":"westus2"}`)
	a.made(peeringID, peering(spokeID))
	a.want("alone", a.postCheck(peeringID), resource.ActionFailure, `"spoke" has no peering back yet`)
	a.want("alone", a.preCheck(peeringID, peering(spokeID)), resource.ActionSkip, "In sync")
	a.made(back, peering(hubID))
	a.want("both", a.postCheck(peeringID), resource.ActionSuccess, "")
	a.call(http.MethodDelete, back, "")
	a.pass(time.Hour)
	a.want("the other went", a.postCheck(peeringID), resource.ActionFailure, "Disconnected")
	a.want("a PUT takes it back", a.preCheck(peeringID, peering(spokeID)), resource.ActionProceed, "")
	a.made(peeringID, peering(spokeID))
	a.want("as at first", a.preCheck(peeringID, peering(spokeID)), resource.ActionSkip, "In sync")
	a.made(back, peering(hubID))
	a.want("both again", a.postCheck(peeringID), resource.ActionSuccess, "")
}
