package azure_test

import (
	"strings"
	"testing"
	"time"

	"github.com/armature-io/armature/armsim"
	"github.com/armature-io/armature/extensions/azure"
	"github.com/armature-io/armature/extensions/extensiontest"
	"github.com/armature-io/armature/resource"
)

const endpointID = groupID + "/providers/Microsoft.Network/privateEndpoints/p1"

func privateEndpointSuites() map[string]extensiontest.Suite {
	suite := func(list string) extensiontest.Suite {
		const asks = "Private connection(s) '[\"/c1\"]' to the PrivateEndpoint requires approval"
		path := "properties." + list + "[0].properties.privateLinkServiceConnectionState.status"
		return extensiontest.Suite{
			Entry: checkOf(azure.PrivateEndpointType), ID: endpointID,
			Observed: `{"properties":{"` + list + `":[{"id":"/c1","properties":{"privateLinkServiceConnectionState":{}}}]}}`,
			Post: []extensiontest.States{
				{Path: path, Block: []string{"Pending"}, Pass: []string{"Approved"}, Message: asks},
				{Path: path, Block: []string{"Rejected", "Disconnected"}, Pass: []string{"Approved"}, Message: asks + ": \"/c1\" is %s", Severity: resource.SeverityError},
			},
		}
	}
	return map[string]extensiontest.Suite{
		"Private endpoint, manual":    suite("manualPrivateLinkServiceConnections"),
		"Private endpoint, automatic": suite("privateLinkServiceConnections"),
	}
}

func endpoint(list string) string {
	return `{"location":"westus2","properties":{"` + list + `":[{"name":"c1","properties":{"privateLinkServiceId":"` + storageID + `","groupIds":["blob"]}}]}}`
}

// TestPrivateEndpointAutomatic: Azure approves the connection after a while.
func TestPrivateEndpointAutomatic(t *testing.T) {
	a := newSimulation(t)
	a.SetApproval(10 * time.Minute)
	a.put(endpointID, endpoint("privateLinkServiceConnections"))
	a.pass(5 * time.Minute)
	waits := a.postCheck(endpointID)
	a.want("not yet", waits, resource.ActionFailure, "requires approval")
	if waits.Actor != "" {
		t.Errorf("%s must act, but Azure approves it", waits.Actor)
	}
	a.pass(5 * time.Minute)
	a.want("approved", a.postCheck(endpointID), resource.ActionSuccess, "")
}

// TestPrivateEndpointManual: it waits for an approval and names the target; after a
// rejection the message asks for a new endpoint.
func TestPrivateEndpointManual(t *testing.T) {
	a := newSimulation(t)
	a.made(endpointID, endpoint("manualPrivateLinkServiceConnections"))
	waits := a.postCheck(endpointID)
	a.want("pending", waits, resource.ActionFailure, `the owner of "s1" (Microsoft.Storage/storageAccounts) must approve it`)
	if waits.Actor != "the owner of the target of the connection" {
		t.Errorf("%q must act, want the owner of the target", waits.Actor)
	}
	if waits.Severity != resource.SeverityWarning || waits.Class != resource.RetrySlow {
		t.Errorf("a pending connection is %s, retried %s; want a warning that is retried soon", waits.Severity, waits.Class)
	}
	a.want("no PUT while it is pending", a.preCheck(endpointID, endpoint("manualPrivateLinkServiceConnections")), resource.ActionSkip, "In sync")
	for status, words := range map[string]string{"Rejected": "who are you?", "Disconnected": ""} {
		if err := a.Approve(armsim.Approval{ID: endpointID, Status: status, Description: words}); err != nil {
			t.Fatal(err)
		}
		refused := a.postCheck(endpointID)
		a.want(status, refused, resource.ActionFailure, "is "+status)
		if refused.Severity != resource.SeverityError || refused.Class != resource.RetryNone {
			t.Errorf("%s is %q, retried %s; want an error that waits for a user", status, refused.Severity, refused.Class)
		}
		if !strings.Contains(refused.Message, words) {
			t.Errorf("%s has no cause: %s", status, refused.Message)
		}
	}
	if err := a.Approve(armsim.Approval{ID: endpointID, Status: "Approved"}); err != nil {
		t.Fatal(err)
	}
	a.want("approved after all", a.postCheck(endpointID), resource.ActionSuccess, "")
}
