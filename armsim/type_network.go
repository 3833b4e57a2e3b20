package armsim

import (
	"net/http"
	"strings"
)

// keepSubnetsVersion is the first api-version with which a virtual network's PUT
// without "subnets" keeps them. An older version, or an empty list, deletes them
// (published change of the Network provider).
const keepSubnetsVersion = "2023-09-01"

// networkRows returns the rows of Microsoft.Network. A PUT is 201 with
// Azure-AsyncOperation and Retry-After 3; a DELETE has both headers and Retry-After 10
// (recorded). A parent's inline list replaces its children.
func networkRows() []typeRule {
	base := typeRule{
		typePattern: "microsoft.network/*",
		create:      OperationSpec{Shape: ShapeAsync, Seconds: 3, RetryAfter: []float64{3}, State: "Updating"},
		update:      OperationSpec{Shape: ShapeAsync, Seconds: 3, RetryAfter: []float64{3}},
		delete:      OperationSpec{Shape: ShapeBoth, Seconds: 10, RetryAfter: []float64{10, 10, 20, 40}},
		etag:        true,
	}
	with := func(pattern string, defaults func(*resource, object), inline ...string) typeRule {
		row := base
		row.typePattern, row.defaults, row.onRead = pattern, defaults, showListItems
		for _, name := range inline {
			row.inline = append(row.inline, inlineRule{collection: name, property: name})
		}
		return row
	}
	vnet := with("microsoft.network/virtualnetworks", vnetDefaults, "subnets", "virtualNetworkPeerings")
	vnet.inline[0].keepAbsent = func(apiVersion string) bool { return apiVersion >= keepSubnetsVersion }
	vnet.inline[1].keepAbsent = vnet.inline[0].keepAbsent
	vnet.onDeleted = disconnectNetwork
	peering, route := with(peeringType, peeringDefaults), with("microsoft.network/routetables/routes", nil)
	peering.checkWrite, peering.onDone, peering.onDeleted = checkPeering, connectPeering, disconnectPeering
	peering.absent = absence{code: "NotFound", message: "Resource {id} not found."}
	route.absent = peering.absent
	endpoint := with(privateEndpointType, privateEndpointDefaults)
	endpoint.onRead, endpoint.onDone, endpoint.onDeleted = showConnections, onEndpointDone, onEndpointDeleted
	endpoint.create.Seconds, endpoint.create.RetryAfter = 42, []float64{10, 10, 20}
	endpoint.update = OperationSpec{Shape: ShapeAsync, Seconds: 10, RetryAfter: []float64{10}}
	return append(dnsRows(),
		vnet, endpoint, peering, route,
		with("microsoft.network/virtualnetworks/subnets", subnetDefaults),
		with("microsoft.network/routetables", guidDefaults, "routes"),
		with("microsoft.network/networksecuritygroups", guidDefaults, "securityRules"),
		with("microsoft.network/applicationgateways", gatewayDefaults),
		with("microsoft.network/loadbalancers", guidDefaults, "inboundNatRules", "backendAddressPools"),
		with("microsoft.network/*", nil),
	)
}

// dnsRows returns the rows of DNS: zones are slow, their records synchronous, and a
// private zone with links cannot be deleted (409 CannotDeleteResource, recorded).
func dnsRows() []typeRule {
	slow := typeRule{
		create: OperationSpec{Shape: ShapeBoth, Status: http.StatusAccepted, Seconds: 35, RetryAfter: []float64{30}, EmptyBody: true},
		update: OperationSpec{Shape: ShapeBoth, Status: http.StatusAccepted, Seconds: 35, RetryAfter: []float64{30}, EmptyBody: true},
		delete: OperationSpec{Shape: ShapeBoth, Seconds: 35, RetryAfter: []float64{30}},
		etag:   true,
	}
	slow.create.PollStatus, slow.update.PollStatus, slow.delete.PollStatus = http.StatusAccepted, http.StatusAccepted, http.StatusAccepted
	zone, link := slow, slow
	zone.typePattern, zone.blockedByChildren = "microsoft.network/privatednszones", true
	link.typePattern = "microsoft.network/privatednszones/virtualnetworklinks"
	return []typeRule{zone, link, {typePattern: "microsoft.network/*dnszones*", etag: true, noState: true}}
}

func guidDefaults(r *resource, body object) { properties(body)["resourceGuid"] = r.guid }

func vnetDefaults(r *resource, body object) {
	guidDefaults(r, body)
	p := properties(body)
	setDefault(p, "enableDdosProtection", false)
}

func subnetDefaults(_ *resource, body object) {
	p := properties(body)
	setDefault(p, "delegations", []any{})
	setDefault(p, "privateEndpointNetworkPolicies", "Disabled")
	setDefault(p, "privateLinkServiceNetworkPolicies", "Enabled")
}

// gatewayDefaults sets the state too: a PUT of a stopped application gateway starts it
// (MicrosoftDocs/azure-docs#107660).
func gatewayDefaults(r *resource, body object) {
	guidDefaults(r, body)
	properties(body)["operationalState"] = "Running"
}

// itemLists returns, by lower-cased type, the lists whose items have an ID, so that
// other bodies can refer to them: a frontend, a pool, a probe. The items are not
// resources. Source: the published descriptions (items of type SubResource).
func itemLists() map[string][]string {
	const configurations = "ipConfigurations"
	return map[string][]string{
		networkPrefix + "loadbalancers": {"frontendIPConfigurations", "backendAddressPools", "loadBalancingRules", "probes",
			"inboundNatRules", "inboundNatPools", "outboundRules"},
		networkPrefix + "networkinterfaces": {configurations},
		networkPrefix + "applicationgateways": {"gatewayIPConfigurations", "frontendIPConfigurations", "frontendPorts", "backendAddressPools",
			"backendHttpSettingsCollection", "httpListeners", "requestRoutingRules", "probes", "sslCertificates", "urlPathMaps", "redirectConfigurations"},
		networkPrefix + "virtualnetworkgateways": {configurations},
		networkPrefix + "azurefirewalls":         {configurations},
		networkPrefix + "bastionhosts":           {configurations},
		networkPrefix + "privatelinkservices":    {configurations},
	}
}

// showListItems sets the ID and type of named list items, and the ETag and state of the
// resource.
func showListItems(_ *Simulator, r *resource, body object) {
	p := properties(body)
	for _, list := range itemLists()[strings.ToLower(r.typ)] {
		items, _ := p[list].([]any)
		for _, item := range items {
			part, isObject := item.(object)
			name, named := itemName(item)
			if !isObject || !named {
				continue
			}
			part["id"], part["type"], part["etag"] = r.id+"/"+list+"/"+name, r.typ+"/"+list, r.etag()
			properties(part)["provisioningState"] = r.state()
		}
	}
}
