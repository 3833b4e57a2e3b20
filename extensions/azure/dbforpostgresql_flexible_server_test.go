package azure_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/armature-io/armature/extensions/azure"
	"github.com/armature-io/armature/extensions/extensiontest"
	"github.com/armature-io/armature/resource"
)

const serverID = groupID + "/providers/Microsoft.DBforPostgreSQL/flexibleServers/s1"

// pgShut returns the states of a server that refuses changes, pgOpen the others.
func pgShut() []string {
	return []string{"Disabled", "Dropping", "Inaccessible", "Provisioning", "Restarting", "Starting", "Stopped", "Stopping", "Updating"}
}

func pgOpen() []string { return []string{"Succeeded", "Failed", "Canceled", "Ready"} }

func flexibleServerSuite() extensiontest.Suite {
	return extensiontest.Suite{
		Entry: checkOf(azure.PostgreSQLFlexibleServerType), ID: serverID,
		Self: []extensiontest.States{{Path: "properties.state", Block: pgShut(), Pass: pgOpen(), Message: "Flexible Server is in state %q"}},
	}
}

// TestFlexibleServerStates follows a server through its lifecycle: a stopped server in
// sync is Ready, and a stopped server that needs a PUT is not started for it.
func TestFlexibleServerStates(t *testing.T) {
	a := newSimulation(t)
	small, large := `{"location":"westus2","sku":{"name":"small"}}`, `{"location":"westus2","sku":{"name":"large"}}`
	a.put(serverID, small)
	a.want("hidden while it is made", a.preCheck(serverID, small), resource.ActionProceed, "will be created")
	a.pass(time.Hour)
	a.want("made", a.preCheck(serverID, small), resource.ActionSkip, "In sync")
	a.put(serverID, large)
	a.want("changing", a.preCheck(serverID, large), resource.ActionBlock, `Flexible Server is in state "Updating"`)
	a.pass(time.Hour)
	for _, step := range []struct {
		action, during string
		then           resource.Action // with something to change
		says           string
	}{
		{"restart", "Restarting", resource.ActionProceed, ""},
		{"stop", "Stopping", resource.ActionBlock, `Flexible Server is in state "Stopped"`},
		{"start", "Starting", resource.ActionProceed, ""},
	} {
		a.call(http.MethodPost, serverID+"/"+step.action, "")
		a.want(step.action, a.preCheck(serverID, large), resource.ActionBlock, `"`+step.during+`"`)
		a.pass(time.Hour)
		a.want("after "+step.action+", in sync", a.preCheck(serverID, large), resource.ActionSkip, "In sync")
		a.want("after "+step.action+", differing", a.preCheck(serverID, small), step.then, step.says)
	}
	a.call(http.MethodDelete, serverID, "")
	a.want("going", a.preCheck(serverID, large), resource.ActionBlock, `"Dropping"`)
}
