package conformance

import (
	"net/http"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/postgresql/armpostgresqlflexibleservers"

	"github.com/armature-io/armature/armsim"
)

func TestPostgres(t *testing.T) {
	t.Parallel()
	s := newStand(t)
	servers, databases := client(t, s, armpostgresqlflexibleservers.NewServersClient), client(t, s, armpostgresqlflexibleservers.NewDatabasesClient)
	rules := client(t, s, armpostgresqlflexibleservers.NewFirewallRulesClient)
	body := armpostgresqlflexibleservers.Server{Location: to(region), Properties: &armpostgresqlflexibleservers.ServerProperties{
		AdministratorLogin: to("myadmin"), AdministratorLoginPassword: to("planted-password"),
		Version: to(armpostgresqlflexibleservers.ServerVersionThirteen)}}
	create, err := servers.BeginCreate(s.context(), groupName, "pg", body, nil)
	if err != nil {
		t.Fatal(err)
	}
	_, err = servers.Get(s.context(), groupName, "pg", nil)
	refused(t, err, http.StatusNotFound, "ResourceNotFound")
	server := done(t, s, create, nil)
	equal(t, "state", server.Properties.State, armpostgresqlflexibleservers.ServerStateReady)
	if server.Properties.AdministratorLoginPassword != nil {
		t.Error("the password came back")
	}

	s.sim.Hold(armsim.Hold{ID: "*/databases/a"})
	first, err := databases.BeginCreate(s.context(), groupName, "pg", "a", armpostgresqlflexibleservers.Database{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	second, err := rules.BeginCreateOrUpdate(s.context(), groupName, "pg", "r", firewallRule(), nil)
	_, err = ended(s, second, err)
	refused(t, err, http.StatusOK, "ServerIsBusy")
	s.sim.ReleaseHolds()
	equal(t, "charset", done(t, s, first, nil).Properties.Charset, "UTF8")
	again, err := rules.BeginCreateOrUpdate(s.context(), groupName, "pg", "r", firewallRule(), nil)
	equal(t, "address", done(t, s, again, err).Properties.StartIPAddress, "1.2.3.4")

	stop, err := servers.BeginStop(s.context(), groupName, "pg", nil)
	done(t, s, stop, err)
	stopped, err := servers.Get(s.context(), groupName, "pg", nil)
	if err != nil {
		t.Fatal(err)
	}
	equal(t, "state", stopped.Properties.State, armpostgresqlflexibleservers.ServerStateStopped)
	_, err = rules.BeginCreateOrUpdate(s.context(), groupName, "pg", "stopped", firewallRule(), nil)
	refused(t, err, http.StatusBadRequest, "ServerStoppedError")
	_, err = servers.BeginRestart(s.context(), groupName, "pg", nil)
	refused(t, err, http.StatusBadRequest, "ServerIsNotReady")
	start, err := servers.BeginStart(s.context(), groupName, "pg", nil)
	done(t, s, start, err)
	remove, err := servers.BeginDelete(s.context(), groupName, "pg", nil)
	done(t, s, remove, err)
	_, err = databases.Get(s.context(), groupName, "pg", "a", nil)
	refused(t, err, http.StatusNotFound, "ParentResourceNotFound")
}

func firewallRule() armpostgresqlflexibleservers.FirewallRule {
	return armpostgresqlflexibleservers.FirewallRule{Properties: &armpostgresqlflexibleservers.FirewallRuleProperties{
		StartIPAddress: to("1.2.3.4"), EndIPAddress: to("1.2.3.4")}}
}
