package azure_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/armature-io/armature/extensions/extensiontest"
	"github.com/armature-io/armature/resource"
)

const aksID = groupID + "/providers/Microsoft.ContainerService/managedClusters/c1"

// aksWords returns states of AKS during an operation, aksRest the settled ones.
func aksWords() []string {
	return []string{"Creating", "Updating", "Deleting", "Upgrading", "Scaling", "Starting", "Stopping", "Migrating", "RotatingClusterCertificates", "SomethingNew"}
}

func aksRest() []string { return []string{"Succeeded", "Failed", "Canceled", "Running"} }

func managedClusterSuite() extensiontest.Suite {
	return extensiontest.Suite{
		Entry: checkOf("Microsoft.ContainerService/managedClusters"), ID: aksID,
		Self: []extensiontest.States{{Path: provisioning, Block: aksWords(), Pass: aksRest(), Message: "Managed cluster is in provisioning state %q"}},
	}
}

// TestManagedClusterStates follows a cluster through its lifecycle.
func TestManagedClusterStates(t *testing.T) {
	a := newSimulation(t)
	old, next := `{"location":"westus2","properties":{"kubernetesVersion":"1.30.0"}}`, `{"location":"westus2","properties":{"kubernetesVersion":"1.31.0"}}`
	a.want("absent", a.preCheck(aksID, old), resource.ActionProceed, "will be created")
	a.put(aksID, old)
	a.want("being made", a.preCheck(aksID, old), resource.ActionBlock, `Managed cluster is in provisioning state "Creating"`)
	a.pass(time.Hour)
	a.want("made", a.preCheck(aksID, old), resource.ActionSkip, "In sync")
	a.want("made", a.postCheck(aksID), resource.ActionSuccess, "")
	a.put(aksID, next)
	a.want("another version", a.preCheck(aksID, next), resource.ActionBlock, `Managed cluster is in provisioning state "Upgrading"`)
	a.pass(time.Hour)
	a.call(http.MethodPost, aksID+"/stop", "")
	a.want("stopping", a.preCheck(aksID, next), resource.ActionBlock, `"Stopping"`)
	a.pass(time.Hour)
	a.want("stopped and as wanted", a.preCheck(aksID, next), resource.ActionSkip, "In sync")
	a.call(http.MethodDelete, aksID, "")
	a.want("going", a.preCheck(aksID, next), resource.ActionBlock, `"Deleting"`)
}
