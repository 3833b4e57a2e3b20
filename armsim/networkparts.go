package armsim

import "strings"

// partLists are lists in the body of a network resource whose items Azure gives
// an ID, so that other bodies can name them: a frontend, a pool, a probe. They
// are no resources of their own. Lower-cased type to properties; source: the
// published descriptions (items of type SubResource).
func partLists() map[string][]string {
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

// showParts gives the named items of a resource's lists their ID, type, ETag and
// state, which are the resource's own.
func showParts(_ *Simulator, r *resource, body object) {
	p := properties(body)
	for _, list := range partLists()[strings.ToLower(r.typ)] {
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
