package armsim

import (
	"net/http"
	"strings"
)

// useRule lists the references that prevent the deletion of a resource, and the
// refusal.
type useRule struct {
	usedType string // lower-cased type of the used resource
	// by lists the type and path of properties that refer to the target. A reference to
	// something below the target counts too.
	references [][2]string
	refuse     func(used, user string) *response
}

const (
	networkPrefix   = "microsoft.network/"
	ipConfigSubnet  = "properties.ipConfigurations[*].properties.subnet.id"
	ipConfigAddress = "properties.ipConfigurations[*].properties.publicIPAddress.id"
	scaleSetType    = "microsoft.compute/virtualmachinescalesets"
	machineType     = "microsoft.compute/virtualmachines"
	scaleSetConfig  = "properties.virtualMachineProfile.networkProfile.networkInterfaceConfigurations[*].properties.ipConfigurations[*].properties."
)

// useRows is the table. Codes and messages are recorded for subnets and public IP
// addresses, and the services' published errors for the others.
func useRows() []useRule {
	return append(networkUses(), useRule{
		usedType: "microsoft.compute/disks",
		references: [][2]string{{machineType, "properties.storageProfile.osDisk.managedDisk.id"},
			{machineType, "properties.storageProfile.dataDisks[*].managedDisk.id"}},
		refuse: refuseUse(http.StatusConflict, "OperationNotAllowed", "Disk {used} is attached to VM {user}."),
	}, useRule{
		usedType:   "microsoft.compute/availabilitysets",
		references: [][2]string{{machineType, "properties.availabilitySet.id"}},
		refuse: refuseUse(http.StatusConflict, "OperationNotAllowed",
			"Availability Set '{name}' cannot be deleted. Before deleting an Availability Set please ensure that it does not contain any VM."),
	}, useRule{
		usedType:   "microsoft.web/serverfarms",
		references: [][2]string{{"microsoft.web/sites", "properties.serverFarmId"}},
		refuse: refuseUse(http.StatusConflict, "Conflict",
			"Server farm '{name}' cannot be deleted because it has web app(s) {by} assigned to it."),
	})
}

func networkUses() []useRule {
	network := func(paths ...string) [][2]string {
		var out [][2]string
		for i := 0; i+1 < len(paths); i += 2 {
			out = append(out, [2]string{networkPrefix + paths[i], paths[i+1]})
		}
		return out
	}
	return []useRule{{
		usedType: networkPrefix + "virtualnetworks/subnets",
		references: append(network(
			"networkinterfaces", ipConfigSubnet, "azurefirewalls", ipConfigSubnet, "bastionhosts", ipConfigSubnet,
			"virtualnetworkgateways", ipConfigSubnet, "privatelinkservices", ipConfigSubnet, "privateendpoints", "properties.subnet.id",
			"applicationgateways", "properties.gatewayIPConfigurations[*].properties.subnet.id",
			"loadbalancers", "properties.frontendIPConfigurations[*].properties.subnet.id",
		), [][2]string{
			{scaleSetType, scaleSetConfig + "subnet.id"}, {aksType + "/agentpools", "properties.vnetSubnetID"},
			{postgresType, "properties.network.delegatedSubnetResourceId"},
		}...),
		refuse: refuseUse(http.StatusBadRequest, "InUseSubnetCannotBeDeleted",
			"Subnet {name} is in use by {user} and cannot be deleted. In order to delete the subnet, delete all the resources within the subnet. See aka.ms/deletesubnet."),
	}, {
		usedType: networkPrefix + "publicipaddresses",
		references: network(
			"networkinterfaces", ipConfigAddress, "azurefirewalls", ipConfigAddress, "bastionhosts", ipConfigAddress,
			"virtualnetworkgateways", ipConfigAddress, "natgateways", "properties.publicIpAddresses[*].id",
			"loadbalancers", "properties.frontendIPConfigurations[*].properties.publicIPAddress.id",
			"applicationgateways", "properties.frontendIPConfigurations[*].properties.publicIPAddress.id",
		),
		refuse: refuseUse(http.StatusBadRequest, "PublicIPAddressCannotBeDeleted",
			"Public IP address {used} can not be deleted since it is still allocated to resource {user}. In order to delete the public IP, disassociate/detach the Public IP address from the resource.  To learn how to do this, see aka.ms/deletepublicip."),
	}, {
		usedType: networkPrefix + "publicipprefixes",
		references: network("natgateways", "properties.publicIpPrefixes[*].id", "publicipaddresses", "properties.publicIPPrefix.id",
			"loadbalancers", "properties.frontendIPConfigurations[*].properties.publicIPPrefix.id"),
		refuse: refuseUse(http.StatusBadRequest, "InUsePublicIpPrefixCannotBeDeleted", "Public IP prefix {used} is in use by {user} and cannot be deleted."),
	}, {
		usedType:   networkPrefix + "networksecuritygroups",
		references: network("virtualnetworks/subnets", "properties.networkSecurityGroup.id", "networkinterfaces", "properties.networkSecurityGroup.id"),
		refuse: refuseUse(http.StatusBadRequest, "InUseNetworkSecurityGroupCannotBeDeleted",
			"Network security group {used} cannot be deleted because it is in use by the following resources: {user}. In order to delete the Network security group, remove the association with the resource(s). To learn how to do this, see aka.ms/deletensg."),
	}, {
		usedType:   networkPrefix + "routetables",
		references: network("virtualnetworks/subnets", "properties.routeTable.id"),
		refuse:     refuseUse(http.StatusBadRequest, "InUseRouteTableCannotBeDeleted", "Route table {name} is in use and cannot be deleted. It is used by {user}."),
	}, {
		usedType:   networkPrefix + "natgateways",
		references: network("virtualnetworks/subnets", "properties.natGateway.id"),
		refuse:     refuseUse(http.StatusBadRequest, "InUseNatGatewayCannotBeDeleted", "NAT gateway {name} is in use by {user} and cannot be deleted."),
	}, {
		usedType:   networkPrefix + "networkinterfaces",
		references: append(network("privateendpoints", "properties.networkInterfaces[*].id"), [2]string{machineType, "properties.networkProfile.networkInterfaces[*].id"}),
		refuse:     refuseInterface,
	}, {
		usedType: networkPrefix + "loadbalancers",
		references: [][2]string{{scaleSetType, scaleSetConfig + "loadBalancerBackendAddressPools[*].id"},
			{scaleSetType, scaleSetConfig + "loadBalancerInboundNatPools[*].id"}},
		refuse: refuseUse(http.StatusBadRequest, "LoadBalancerInUseByVirtualMachineScaleSet",
			"Cannot delete load balancer {used} since its child resources are in use by virtual machine scale set {user}."),
	}}
}

// refuseInterface uses a separate code for the interface of a private endpoint.
func refuseInterface(used, user string) *response {
	code := "NicInUse"
	if t, ok := parseID(user); ok && strings.EqualFold(t.resourceType(), privateEndpointType) {
		code = "NicInUseWithPrivateEndpoint"
	}
	return refuseUse(http.StatusBadRequest, code,
		"Network Interface {used} is used by existing resource {user}. In order to delete the network interface, it must be dissociated from the resource. To learn more, see aka.ms/deletenic.")(used, user)
}

// refuseUse returns a refusal. In the message {used} and {user} are replaced by the
// IDs, {name} and {by} by their last segments.
func refuseUse(status int, code, message string) func(used, user string) *response {
	last := func(id string) string { return id[strings.LastIndexByte(id, '/')+1:] }
	return func(used, user string) *response {
		replacer := strings.NewReplacer("{used}", used, "{user}", user, "{name}", last(used), "{by}", last(user))
		return armError(status, code, "%s", replacer.Replace(message))
	}
}
