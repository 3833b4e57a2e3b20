package azure_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/armature-io/armature/extensions/extensiontest"
	"github.com/armature-io/armature/resource"
)

const (
	setID      = groupID + "/providers/Microsoft.Compute/virtualMachineScaleSets/s1"
	instanceID = setID + "/virtualMachines/0"
)

func scaleSetInstanceSuite() extensiontest.Suite {
	return extensiontest.Suite{
		Entry: checkOf("Microsoft.Compute/virtualMachineScaleSets/virtualMachines"), ID: instanceID,
		Owner: []extensiontest.States{{
			Path: provisioning, Block: []string{"Updating", "Deallocating", "Deleting"}, Pass: []string{"Running", "Succeeded"},
			Message: "Owning scale set is in provisioning state %q",
		}},
	}
}

// TestScaleSetInstanceStates: a machine is not changed while its scale set changes
// it, and is absent after the scale set shrank.
func TestScaleSetInstanceStates(t *testing.T) {
	a := newSimulation(t)
	set := func(capacity string) string {
		return `{"location":"westus2","sku":{"name":"Standard_D2s_v5","capacity":` + capacity + `}}`
	}
	const body = `{"properties":{"protectionPolicy":{"protectFromScaleIn":true}}}`
	a.made(setID, set("1"))
	a.want("at rest", a.ownerCheck(instanceID), resource.ActionProceed, "")
	a.want("at rest", a.preCheck(instanceID, body), resource.ActionProceed, "protectFromScaleIn")
	a.put(setID, set("2"))
	a.want("while the set grows", a.ownerCheck(instanceID), resource.ActionBlock, `Owning scale set is in provisioning state "Updating"`)
	a.want("a new machine", a.preCheck(setID+"/virtualMachines/1", body), resource.ActionBlock, `"Creating"`)
	a.pass(time.Hour)
	a.call(http.MethodPost, setID+"/deallocate", "")
	a.want("while it stops", a.ownerCheck(instanceID), resource.ActionBlock, `"Updating"`)
	a.pass(time.Hour)
	a.made(setID, set("0"))
	a.want("after the set shrank", a.preCheck(instanceID, body), resource.ActionProceed, "does not exist")
	a.call(http.MethodDelete, setID, "")
	a.want("while the set goes", a.ownerCheck(instanceID), resource.ActionBlock, `"Deleting"`)
}
