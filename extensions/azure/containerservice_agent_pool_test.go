package azure_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/armature-io/armature/extensions/azure"
	"github.com/armature-io/armature/extensions/extensiontest"
	"github.com/armature-io/armature/resource"
)

const poolID = aksID + "/agentPools/p1"

func agentPoolSuite() extensiontest.Suite {
	return extensiontest.Suite{
		Entry: checkOf(azure.ContainerServiceAgentPoolType), ID: poolID,
		Owner: []extensiontest.States{{Path: provisioning, Block: aksWords(), Pass: aksRest(), Message: "Managed cluster %q is in provisioning state %q", NamesOwner: true}},
		Self:  []extensiontest.States{{Path: provisioning, Block: aksWords(), Pass: aksRest(), Message: "Managed cluster agent pool is in provisioning state %q"}},
	}
}

// TestAgentPoolStates follows a pool beside its cluster.
func TestAgentPoolStates(t *testing.T) {
	a := newSimulation(t)
	pool := func(rest string) string { return `{"properties":{"count":1` + rest + `}}` }
	a.want("without a cluster", a.ownerCheck(poolID), resource.ActionBlock, "does not exist")
	a.put(aksID, `{"location":"westus2"}`)
	a.want("while its cluster is made", a.ownerCheck(poolID), resource.ActionBlock, `Managed cluster "c1" is in provisioning state "Creating"`)
	a.pass(time.Hour)
	a.want("with a cluster", a.ownerCheck(poolID), resource.ActionProceed, "")
	a.put(poolID, pool(""))
	a.want("being made", a.preCheck(poolID, pool("")), resource.ActionBlock, `Managed cluster agent pool is in provisioning state "Creating"`)
	a.pass(time.Hour)
	a.want("made", a.preCheck(poolID, pool("")), resource.ActionSkip, "In sync")
	for _, change := range []struct{ state, before, body string }{ // versions only go up
		{"Upgrading", "1.31.6", pool(`,"orchestratorVersion":"1.32.0"`)},
		{"Scaling", "1.32.0", `{"properties":{"count":4,"orchestratorVersion":"1.32.0"}}`},
	} {
		a.made(poolID, pool(`,"orchestratorVersion":"`+change.before+`"`))
		a.put(poolID, change.body)
		a.want(change.state, a.preCheck(poolID, change.body), resource.ActionBlock, `"`+change.state+`"`)
		a.pass(time.Hour)
	}
	a.call(http.MethodPost, aksID+"/stop", "")
	a.want("while its cluster stops", a.ownerCheck(poolID), resource.ActionBlock, `"Stopping"`)
}

// TestAgentPoolFamily: the pools of a cluster and the cluster take turns.
func TestAgentPoolFamily(t *testing.T) {
	r := builtIn(t)
	for _, id := range []string{poolID, aksID + "/agentPools/p2", aksID} {
		if parent, ok := r.FamilyHead(mustID(t, id)); !ok || !parent.Equal(mustID(t, aksID)) {
			t.Errorf("%s takes turns below %q, want below its cluster", id, parent)
		}
	}
}
