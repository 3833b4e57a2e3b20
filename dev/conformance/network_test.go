package conformance

import (
	"net/http"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/network/armnetwork/v7"

	"github.com/armature-io/armature/armsim"
)

const subnetID = group + "/providers/Microsoft.Network/virtualNetworks/net/subnets/a"

func TestVirtualNetwork(t *testing.T) {
	t.Parallel()
	s := newStand(t)
	networks, subnets := client(t, s, armnetwork.NewVirtualNetworksClient), client(t, s, armnetwork.NewSubnetsClient)
	body := armnetwork.VirtualNetwork{Location: to(region), Properties: &armnetwork.VirtualNetworkPropertiesFormat{
		AddressSpace: &armnetwork.AddressSpace{AddressPrefixes: []*string{to("10.0.0.0/16")}},
		Subnets:      []*armnetwork.Subnet{{Name: to("a"), Properties: &armnetwork.SubnetPropertiesFormat{AddressPrefix: to("10.0.0.0/24")}}}}}
	create, err := networks.BeginCreateOrUpdate(s.context(), groupName, "net", body, nil)
	made := done(t, s, create, err)
	equal(t, "subnet's ID", made.Properties.Subnets[0].ID, subnetID)
	got, err := subnets.Get(s.context(), groupName, "net", "a", nil)
	if err != nil {
		t.Fatal(err)
	}
	equal(t, "prefix", got.Properties.AddressPrefix, "10.0.0.0/24")

	s.sim.Hold(armsim.Hold{ID: "*/subnets/b"})
	subnet := armnetwork.Subnet{Properties: &armnetwork.SubnetPropertiesFormat{AddressPrefix: to("10.0.1.0/24")}}
	second, err := subnets.BeginCreateOrUpdate(s.context(), groupName, "net", "b", subnet, nil)
	if err != nil {
		t.Fatal(err)
	}
	_, err = subnets.BeginCreateOrUpdate(s.context(), groupName, "net", "c", subnet, nil)
	refused(t, err, http.StatusConflict, "AnotherOperationInProgress")
	s.sim.ReleaseHolds()
	done(t, s, second, nil)

	update, err := networks.BeginCreateOrUpdate(s.context(), groupName, "net", body, nil)
	if n := len(done(t, s, update, err).Properties.Subnets); n != 1 {
		t.Errorf("%d subnets are left, want the one that the list names", n)
	}
	_, err = subnets.Get(s.context(), groupName, "net", "b", nil)
	refused(t, err, http.StatusNotFound, "ResourceNotFound")
	tags, err := networks.UpdateTags(s.context(), groupName, "net", armnetwork.TagsObject{Tags: map[string]*string{"a": to("b")}}, nil)
	if err != nil || len(tags.Properties.Subnets) != 1 {
		t.Errorf("a PATCH of tags: %v, subnets %d", err, len(tags.Properties.Subnets))
	}
}

func TestPrivateEndpoint(t *testing.T) {
	t.Parallel()
	s := newStand(t)
	endpoints, subnets := client(t, s, armnetwork.NewPrivateEndpointsClient), client(t, s, armnetwork.NewSubnetsClient)
	if err := s.sim.Put(subnetID, map[string]any{}); err != nil {
		t.Fatal(err)
	}
	connection := []*armnetwork.PrivateLinkServiceConnection{{Name: to("c"), Properties: &armnetwork.PrivateLinkServiceConnectionProperties{
		PrivateLinkServiceID: to(thing), GroupIDs: []*string{to("g")}}}}
	endpoint := func(automatic, manual []*armnetwork.PrivateLinkServiceConnection) armnetwork.PrivateEndpoint {
		return armnetwork.PrivateEndpoint{Location: to(region), Properties: &armnetwork.PrivateEndpointProperties{
			Subnet: &armnetwork.Subnet{ID: to(subnetID)}, PrivateLinkServiceConnections: automatic, ManualPrivateLinkServiceConnections: manual}}
	}
	status := func(list []*armnetwork.PrivateLinkServiceConnection) *string {
		return list[0].Properties.PrivateLinkServiceConnectionState.Status
	}
	create, err := endpoints.BeginCreateOrUpdate(s.context(), groupName, "auto", endpoint(connection, nil), nil)
	equal(t, "automatic connection", status(done(t, s, create, err).Properties.PrivateLinkServiceConnections), "Approved")
	create, err = endpoints.BeginCreateOrUpdate(s.context(), groupName, "manual", endpoint(nil, connection), nil)
	equal(t, "manual connection", status(done(t, s, create, err).Properties.ManualPrivateLinkServiceConnections), "Pending")
	if err := s.sim.Approve(armsim.Approval{ID: group + "/providers/Microsoft.Network/privateEndpoints/manual", Status: "Approved"}); err != nil {
		t.Fatal(err)
	}
	got, err := endpoints.Get(s.context(), groupName, "manual", nil)
	if err != nil {
		t.Fatal(err)
	}
	equal(t, "manual connection", status(got.Properties.ManualPrivateLinkServiceConnections), "Approved")

	if err := s.sim.Approve(armsim.Approval{ID: group + "/providers/Microsoft.Network/privateEndpoints/manual", Status: "Rejected", Description: "who are you?"}); err != nil {
		t.Fatal(err)
	}
	got, err = endpoints.Get(s.context(), groupName, "manual", nil)
	if err != nil {
		t.Fatal(err)
	}
	equal(t, "manual connection", status(got.Properties.ManualPrivateLinkServiceConnections), "Rejected")
	equal(t, "reason", got.Properties.ManualPrivateLinkServiceConnections[0].Properties.PrivateLinkServiceConnectionState.Description, "who are you?")

	_, err = subnets.BeginDelete(s.context(), groupName, "net", "a", nil)
	refused(t, err, http.StatusBadRequest, "InUseSubnetCannotBeDeleted")
	for _, name := range []string{"auto", "manual"} {
		remove, err := endpoints.BeginDelete(s.context(), groupName, name, nil)
		done(t, s, remove, err)
	}
	remove, err := subnets.BeginDelete(s.context(), groupName, "net", "a", nil)
	done(t, s, remove, err)
}

// TestPeering checks that two sides make a connection, and that a side which lost the
// other has to be put first.
func TestPeering(t *testing.T) {
	t.Parallel()
	s := newStand(t)
	networks, peerings := client(t, s, armnetwork.NewVirtualNetworksClient), client(t, s, armnetwork.NewVirtualNetworkPeeringsClient)
	id := func(name string) string { return group + "/providers/Microsoft.Network/virtualNetworks/" + name }
	for _, name := range []string{"hub", "spoke"} {
		create, err := networks.BeginCreateOrUpdate(s.context(), groupName, name, armnetwork.VirtualNetwork{Location: to(region)}, nil)
		done(t, s, create, err)
	}
	put := func(from, remote string) (armnetwork.VirtualNetworkPeeringsClientCreateOrUpdateResponse, error) {
		poller, err := peerings.BeginCreateOrUpdate(s.context(), groupName, from, "p", armnetwork.VirtualNetworkPeering{
			Properties: &armnetwork.VirtualNetworkPeeringPropertiesFormat{RemoteVirtualNetwork: &armnetwork.SubResource{ID: to(id(remote))}}}, nil)
		return ended(s, poller, err)
	}
	state := func(from string) *armnetwork.VirtualNetworkPeeringState {
		t.Helper()
		got, err := peerings.Get(s.context(), groupName, from, "p", nil)
		if err != nil {
			t.Fatal(err)
		}
		return got.Properties.PeeringState
	}
	must := func(from, remote string) {
		t.Helper()
		if _, err := put(from, remote); err != nil {
			t.Fatal(err)
		}
	}
	_, err := put("hub", "absent")
	refused(t, err, http.StatusBadRequest, "InvalidResourceReference")
	must("hub", "spoke")
	equal(t, "one side", state("hub"), armnetwork.VirtualNetworkPeeringStateInitiated)
	must("spoke", "hub")
	equal(t, "both sides", state("hub"), armnetwork.VirtualNetworkPeeringStateConnected)
	remove, err := peerings.BeginDelete(s.context(), groupName, "spoke", "p", nil)
	done(t, s, remove, err)
	equal(t, "the side that is left", state("hub"), armnetwork.VirtualNetworkPeeringStateDisconnected)
	_, err = put("spoke", "hub")
	refused(t, err, http.StatusBadRequest, "RemotePeeringIsDisconnected")
	must("hub", "spoke")
	must("spoke", "hub")
	equal(t, "both sides again", state("spoke"), armnetwork.VirtualNetworkPeeringStateConnected)
}

// TestLoadBalancerParts checks the IDs of frontends, pools and probes.
func TestLoadBalancerParts(t *testing.T) {
	t.Parallel()
	s := newStand(t)
	balancers := client(t, s, armnetwork.NewLoadBalancersClient)
	create, err := balancers.BeginCreateOrUpdate(s.context(), groupName, "lb", armnetwork.LoadBalancer{Location: to(region),
		Properties: &armnetwork.LoadBalancerPropertiesFormat{
			BackendAddressPools: []*armnetwork.BackendAddressPool{{Name: to("pool")}},
			Probes:              []*armnetwork.Probe{{Name: to("probe"), Properties: &armnetwork.ProbePropertiesFormat{Port: to[int32](443)}}},
		}}, nil)
	made := done(t, s, create, err)
	const balancer = group + "/providers/Microsoft.Network/loadBalancers/lb"
	equal(t, "pool", made.Properties.BackendAddressPools[0].ID, balancer+"/backendAddressPools/pool")
	equal(t, "probe", made.Properties.Probes[0].ID, balancer+"/probes/probe")
	equal(t, "probe's state", made.Properties.Probes[0].Properties.ProvisioningState, armnetwork.ProvisioningStateSucceeded)
}
