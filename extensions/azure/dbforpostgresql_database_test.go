package azure_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/armature-io/armature/extensions/azure"
	"github.com/armature-io/armature/extensions/extensiontest"
	"github.com/armature-io/armature/resource"
)

const pgDatabaseID = serverID + "/databases/d1"

// pgOwner returns the states of a server that its children check.
func pgOwner() []extensiontest.States {
	return []extensiontest.States{{Path: "properties.state", Block: pgShut(), Pass: pgOpen(), Message: "Owning FlexibleServer is in state %q"}}
}

func postgresDatabaseSuite() extensiontest.Suite {
	return extensiontest.Suite{
		Entry: checkOf(azure.PostgreSQLDatabaseType), ID: pgDatabaseID, Owner: pgOwner(),
	}
}

func TestPostgreSQLDatabaseStates(t *testing.T) {
	a := newSimulation(t)
	followServer(a, pgDatabaseID)
	a.made(pgDatabaseID, `{"properties":{"charset":"UTF8"}}`)
	a.want("made", a.preCheck(pgDatabaseID, `{"properties":{"charset":"UTF8"}}`), resource.ActionSkip, "In sync")
}

// followServer takes a server through its states and checks the owner check of a
// child; the server ends Ready.
func followServer(a *simulation, child string) {
	a.t.Helper()
	a.want("without a server", a.ownerCheck(child), resource.ActionBlock, "does not exist")
	a.put(serverID, `{"location":"westus2"}`)
	a.want("while the server is made", a.ownerCheck(child), resource.ActionBlock, "does not exist")
	a.pass(time.Hour)
	a.want("with a server", a.ownerCheck(child), resource.ActionProceed, "")
	a.put(serverID, `{"location":"westus2","sku":{"name":"large"}}`)
	a.want("while it changes", a.ownerCheck(child), resource.ActionBlock, `Owning FlexibleServer is in state "Updating"`)
	a.pass(time.Hour)
	a.call(http.MethodPost, serverID+"/stop", "")
	a.want("while it stops", a.ownerCheck(child), resource.ActionBlock, `Owning FlexibleServer is in state "Stopping"`)
	a.pass(time.Hour)
	a.want("while it is stopped", a.ownerCheck(child), resource.ActionBlock, `Owning FlexibleServer is in state "Stopped"`)
	a.call(http.MethodPost, serverID+"/start", "")
	a.want("while it starts", a.ownerCheck(child), resource.ActionBlock, `Owning FlexibleServer is in state "Starting"`)
	a.pass(time.Hour)
	a.want("afterwards", a.ownerCheck(child), resource.ActionProceed, "")
}
