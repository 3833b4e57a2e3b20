package conformance

import (
	"net/http"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/containerservice/armcontainerservice/v6"

	"github.com/armature-io/armature/armsim"
)

func TestKubernetes(t *testing.T) {
	t.Parallel()
	s := newStand(t)
	clusters, pools := client(t, s, armcontainerservice.NewManagedClustersClient), client(t, s, armcontainerservice.NewAgentPoolsClient)
	body := armcontainerservice.ManagedCluster{Location: to(region), Properties: &armcontainerservice.ManagedClusterProperties{
		DNSPrefix: to("aso"), AgentPoolProfiles: []*armcontainerservice.ManagedClusterAgentPoolProfile{
			{Name: to("sys"), Count: to[int32](1), Mode: to(armcontainerservice.AgentPoolModeSystem)}}}}
	create, err := clusters.BeginCreateOrUpdate(s.context(), groupName, "aks", body, nil)
	cluster := done(t, s, create, err)
	equal(t, "provisioning state", cluster.Properties.ProvisioningState, "Succeeded")
	if len(cluster.Properties.AgentPoolProfiles) != 1 {
		t.Fatalf("the cluster shows %d pools, want 1", len(cluster.Properties.AgentPoolProfiles))
	}
	equal(t, "pool's mode", cluster.Properties.AgentPoolProfiles[0].Mode, armcontainerservice.AgentPoolModeSystem)

	pool := func(count int32) armcontainerservice.AgentPool {
		return armcontainerservice.AgentPool{Properties: &armcontainerservice.ManagedClusterAgentPoolProfileProperties{Count: to(count)}}
	}
	s.sim.Hold(armsim.Hold{ID: "*/agentPools/user"})
	put, err := pools.BeginCreateOrUpdate(s.context(), groupName, "aks", "user", pool(1), nil)
	if err != nil {
		t.Fatal(err)
	}
	_, err = pools.BeginCreateOrUpdate(s.context(), groupName, "aks", "other", pool(1), nil)
	refused(t, err, http.StatusConflict, "OperationNotAllowed")
	_, err = clusters.BeginCreateOrUpdate(s.context(), groupName, "aks", body, nil)
	refused(t, err, http.StatusConflict, "OperationNotAllowed")
	s.sim.ReleaseHolds()
	made := done(t, s, put, nil)
	equal(t, "pool's state", made.Properties.ProvisioningState, "Succeeded")
	scale, err := pools.BeginCreateOrUpdate(s.context(), groupName, "aks", "user", pool(3), nil)
	equal(t, "pool's count", done(t, s, scale, err).Properties.Count, 3)

	s.sim.Hold(armsim.Hold{ID: "*/agentPools/user"})
	upgrade, err := pools.BeginCreateOrUpdate(s.context(), groupName, "aks", "user", armcontainerservice.AgentPool{
		Properties: &armcontainerservice.ManagedClusterAgentPoolProfileProperties{Count: to[int32](3), OrchestratorVersion: to("1.32.0")}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	shown, err := pools.Get(s.context(), groupName, "aks", "user", nil)
	if err != nil {
		t.Fatal(err)
	}
	equal(t, "pool's state", shown.Properties.ProvisioningState, "Upgrading")
	_, err = pools.BeginCreateOrUpdate(s.context(), groupName, "aks", "other", pool(1), nil)
	refused(t, err, http.StatusConflict, "OperationNotAllowed")
	s.sim.ReleaseHolds()
	done(t, s, upgrade, nil)

	_, err = pools.BeginDelete(s.context(), groupName, "aks", "sys", nil)
	refused(t, err, http.StatusBadRequest, "OperationNotAllowed")
	stop, err := clusters.BeginStop(s.context(), groupName, "aks", nil)
	done(t, s, stop, err)
	stopped, err := clusters.Get(s.context(), groupName, "aks", nil)
	if err != nil {
		t.Fatal(err)
	}
	equal(t, "power", stopped.Properties.PowerState.Code, armcontainerservice.CodeStopped)
	remove, err := pools.BeginDelete(s.context(), groupName, "aks", "user", nil)
	done(t, s, remove, err)
	_, err = pools.Get(s.context(), groupName, "aks", "user", nil)
	refused(t, err, http.StatusNotFound, "NotFound")
	gone, err := clusters.BeginDelete(s.context(), groupName, "aks", nil)
	done(t, s, gone, err)
}
