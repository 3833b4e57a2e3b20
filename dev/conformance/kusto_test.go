package conformance

import (
	"net/http"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/kusto/armkusto"

	"github.com/armature-io/armature/armsim"
)

func TestKusto(t *testing.T) {
	t.Parallel()
	s := newStand(t)
	clusters, databases := client(t, s, armkusto.NewClustersClient), client(t, s, armkusto.NewDatabasesClient)
	body := armkusto.Cluster{Location: to(region), SKU: &armkusto.AzureSKU{
		Name: to(armkusto.AzureSKUNameStandardD13V2), Tier: to(armkusto.AzureSKUTierStandard), Capacity: to[int32](2)}}
	_, err := clusters.Get(s.context(), groupName, "adx", nil)
	refused(t, err, http.StatusNotFound, "ResourceNotFound")
	create, err := clusters.BeginCreateOrUpdate(s.context(), groupName, "adx", body, nil)
	cluster := done(t, s, create, err)
	equal(t, "state", cluster.Properties.State, armkusto.StateRunning)
	equal(t, "provisioning state", cluster.Properties.ProvisioningState, armkusto.ProvisioningStateSucceeded)

	database := &armkusto.ReadWriteDatabase{Kind: to(armkusto.KindReadWrite), Location: to(region),
		Properties: &armkusto.ReadWriteDatabaseProperties{SoftDeletePeriod: to("P30D")}}
	put, err := databases.BeginCreateOrUpdate(s.context(), groupName, "adx", "db1", database, nil)
	made, ok := done(t, s, put, err).DatabaseClassification.(*armkusto.ReadWriteDatabase)
	if !ok {
		t.Fatal("the database has no kind")
	}
	equal(t, "name", made.Name, "adx/db1")

	s.sim.Hold(armsim.Hold{Type: "Microsoft.Kusto/clusters"})
	update, err := clusters.BeginCreateOrUpdate(s.context(), groupName, "adx", body, nil)
	if err != nil {
		t.Fatal(err)
	}
	_, err = databases.Get(s.context(), groupName, "adx", "db1", nil)
	refused(t, err, http.StatusConflict, "Conflict")
	_, err = clusters.BeginCreateOrUpdate(s.context(), groupName, "adx", body, nil)
	refused(t, err, http.StatusConflict, "AnotherOperationInProgress")
	s.sim.ReleaseHolds()
	done(t, s, update, nil)

	stop, err := clusters.BeginStop(s.context(), groupName, "adx", nil)
	done(t, s, stop, err)
	stopped, err := clusters.Get(s.context(), groupName, "adx", nil)
	if err != nil {
		t.Fatal(err)
	}
	equal(t, "state", stopped.Properties.State, armkusto.StateStopped)
	start, err := clusters.BeginStart(s.context(), groupName, "adx", nil)
	done(t, s, start, err)
	remove, err := clusters.BeginDelete(s.context(), groupName, "adx", nil)
	done(t, s, remove, err)
	_, err = databases.Get(s.context(), groupName, "adx", "db1", nil)
	refused(t, err, http.StatusNotFound, "ParentResourceNotFound")
}
