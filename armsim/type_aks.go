package armsim

import (
	"cmp"
	"net/http"
	"strings"
)

const aksType = "microsoft.containerservice/managedclusters"

// aksRows returns the rows of Azure Kubernetes Service. Operations have
// Azure-AsyncOperation alone and no Retry-After; deletes have both headers. The status
// of a pool's operation is free text while nodes change, and the pool's state is
// Scaling or Upgrading (recorded).
func aksRows() []typeRule {
	cluster := typeRule{
		typePattern: aksType,
		create: OperationSpec{Shape: ShapeAsync, Seconds: 256, StatusWords: []string{"InProgress", "ProvisioningControlPlane",
			"ProvisioningNetworkResources", "CreatingAgentPools: 0/1 nodes completed", "ReconcilingDNS", "ReconcilingAddons"}},
		update: OperationSpec{Shape: ShapeAsync, Seconds: 138},
		delete: OperationSpec{Shape: ShapeBoth, Seconds: 190},
		inline: []inlineRule{{collection: "agentPools", property: "agentPoolProfiles", flat: true, firstDefaults: object{"mode": "System"}, // the pool of system services
			keepAbsent: func(string) bool { return true }}},
		defaults: aksDefaults, transition: aksChanging, actions: powerActions("powerState.code"), checkWrite: checkClusterRuns,
	}
	pool := typeRule{
		typePattern: aksType + "/agentpools",
		create:      OperationSpec{Shape: ShapeAsync, Seconds: 196, StatusWords: []string{"InProgress", "CreatingAgentPool", "CreatingAgentPool: 0/1 nodes completed"}},
		update:      OperationSpec{Shape: ShapeAsync, Seconds: 14},
		delete:      OperationSpec{Shape: ShapeBoth, Seconds: 18},
		defaults:    aksPoolDefaults, transition: aksPoolChanging, checkDelete: checkLastPool,
		absent: absence{"NotFound", "Unspecified", "Could not find the agentpool: {name}, resourceName: {parent}."},
	}
	child := typeRule{
		typePattern: aksType + "/*", create: OperationSpec{Shape: ShapeAsync, Seconds: 34, State: "Updating"},
		delete: OperationSpec{Shape: ShapeBoth, Seconds: 18},
	}
	return []typeRule{cluster, pool, child}
}

// powerActions returns the POSTs that start and stop a resource; path is the property
// with its power state.
func powerActions(path string) map[string]action {
	return map[string]action{
		"start": {provisioningState: "Starting", path: path, finalValue: "Running"},
		"stop":  {provisioningState: "Stopping", path: path, finalValue: "Stopped"},
	}
}

func aksDefaults(r *resource, body object) {
	p := properties(body)
	region := compactRegion(text(body, "location"))
	setDefault(p, "dnsPrefix", r.name)
	host := strings.ToLower(text(p, "dnsPrefix")) + "-" + r.guid[:8] + "."
	p["fqdn"], p["azurePortalFQDN"] = host+"hcp."+region+".azmk8s.io", host+"portal.hcp."+region+".azmk8s.io"
	setDefault(p, "kubernetesVersion", "1.31.6")
	p["currentKubernetesVersion"] = p["kubernetesVersion"]
	group := ""
	if t, ok := parseID(r.id); ok {
		group = t.group
	}
	setDefault(p, "nodeResourceGroup", "MC_"+group+"_"+r.name+"_"+region)
	setDefault(p, "enableRBAC", true)
	setDefault(p, "maxAgentPools", 100)
	setDefault(p, "servicePrincipalProfile", object{"clientId": "msi"})
	setDefault(p, "autoUpgradeProfile", object{})
	setDefault(p, "networkProfile", object{})
	if network, ok := p["networkProfile"].(object); ok {
		setDefaults(network, object{
			"networkPlugin": "kubenet", "loadBalancerSku": "standard", "podCidr": "10.244.0.0/16", "serviceCidr": "10.0.0.0/16",
			"dnsServiceIP": "10.0.0.10", "outboundType": "loadBalancer",
		})
	}
	keepProperty(r, body, "powerState", object{"code": "Running"})
	setDefault(body, "sku", object{"name": "Base", "tier": "Free"})
	if identity, ok := body["identity"].(object); ok && text(identity, "type") == "SystemAssigned" {
		identity["principalId"], identity["tenantId"] = r.guid, "00000000-0000-0000-0000-000000000000"
	}
}

func aksPoolDefaults(r *resource, body object) {
	p := properties(body)
	setDefaults(p, object{
		"count": 1, "vmSize": "Standard_DS2_v2", "osDiskSizeGB": 128, "osDiskType": "Managed", "kubeletDiskType": "OS", "maxPods": 110,
		"type": "VirtualMachineScaleSets", "mode": "User", "osType": "Linux", "osSKU": "Ubuntu", "orchestratorVersion": "1.31.6",
		"upgradeSettings": object{}, "enableFIPS": false,
	})
	for _, name := range []string{"nodeLabels", "nodeTaints", "tags"} { // AKS does not return empty ones (recorded)
		if o, ok := p[name].(object); ok && len(o) == 0 || p[name] == nil {
			delete(p, name)
		}
		if list, ok := p[name].([]any); ok && len(list) == 0 {
			delete(p, name)
		}
	}
	keepProperty(r, body, "powerState", object{"code": "Running"})
	p["nodeImageVersion"] = cmp.Or(text(r.body, "properties.nodeImageVersion"), "AKSUbuntu-2204gen2containerd-202510.19.2")
	p["currentOrchestratorVersion"] = p["orchestratorVersion"]
}

// keepProperty keeps the stored value of a property that the client does not send; a
// new resource gets initial.
func keepProperty(r *resource, body object, name string, initial any) {
	p := properties(body)
	if p[name] == nil {
		old, _ := r.body["properties"].(object)
		if p[name] = clone(old[name]); p[name] == nil {
			p[name] = initial
		}
	}
}

func aksChanging(old, body object) (state, word string) {
	if text(old, "properties.kubernetesVersion") != text(body, "properties.kubernetesVersion") {
		return "Upgrading", ""
	}
	return "", ""
}

func aksPoolChanging(old, body object) (state, word string) {
	before, after := properties(old), properties(body)
	switch {
	case text(before, "powerState.code") != text(after, "powerState.code"):
		return map[bool]string{true: "Stopping", false: "Starting"}[text(after, "powerState.code") == "Stopped"], ""
	case text(before, "orchestratorVersion") != text(after, "orchestratorVersion"):
		return "Upgrading", "UpgradingAgentPool"
	case number(before["count"]) != number(after["count"]):
		return "Scaling", "ScalingAgentPool: " + number(before["count"]) + "/" + number(after["count"]) + " nodes completed"
	}
	return "", ""
}

// checkLastPool keeps at least one pool in a cluster, and one of mode System where it
// has any.
func checkLastPool(s *Simulator, r *resource) *response {
	t, ok := parseID(r.id)
	if !ok {
		return nil
	}
	isSystem := func(pool *resource) bool { return strings.EqualFold(text(pool.body, "properties.mode"), "System") }
	pools, systems := s.children(t.parentID(), "agentPools"), 0
	for _, pool := range pools {
		if isSystem(pool) {
			systems++
		}
	}
	switch {
	case isSystem(r) && systems == 1:
		return armError(http.StatusBadRequest, "OperationNotAllowed", "There has to be at least one system agent pool.")
	case len(pools) == 1:
		return armError(http.StatusBadRequest, "OperationNotAllowed", "There has to be at least one agent pool.")
	}
	return nil
}

// checkClusterRuns refuses a write of a stopped cluster as AKS does (public reports):
// only start and delete are allowed.
func checkClusterRuns(s *Simulator, t target, body object) *response {
	if resp := s.refuseStopped(t, "properties.powerState.code", http.StatusBadRequest, "OperationNotAllowed",
		"Managed Cluster is in stopped state, no operations except for start are allowed."); resp != nil {
		return resp
	}
	return s.checkPoolVersions(t, body)
}

// checkPoolVersions refuses another version of a pool in the body of its cluster, unless
// it is the cluster's (Azure/azure-cli#22807, hashicorp/terraform-provider-azurerm#23436).
func (s *Simulator) checkPoolVersions(t target, body object) *response {
	items, _ := properties(body)["agentPoolProfiles"].([]any)
	var stated, omitted, changed bool
	for _, item := range items {
		name, _ := itemName(item)
		sent, _ := member(item, "orchestratorVersion").(string)
		stated, omitted = stated || sent != "", omitted || sent == ""
		pool := s.find(t.id + "/agentPools/" + name)
		if sent == "" || pool == nil || sent == text(body, "properties.kubernetesVersion") {
			continue
		}
		changed = changed || compareVersions(sent, text(pool.body, "properties.orchestratorVersion")) != 0
	}
	mixed := stated && omitted
	if s.find(t.id) == nil || s.recordings[key(t.id)] != nil || !changed && !mixed {
		return nil
	}
	row := changeRow{
		status: http.StatusBadRequest, code: "NotAllAgentPoolOrchestratorVersionSpecifiedAndUnchanged", bare: true,
		message: "Using managed cluster api, all Agent pools' OrchestratorVersion must be all specified or all unspecified. If all specified, they must be stay unchanged or the same with control plane. For agent pool specific change, please use per agent pool operations: https://aka.ms/agent-pool-rest-api",
	}
	return row.refusal(t.id, change{})
}

// refuseStopped refuses a write of a resource with the value Stopped at a path.
func (s *Simulator) refuseStopped(t target, path string, status int, code, message string) *response {
	r := s.find(t.id)
	if r == nil || !strings.EqualFold(text(r.body, path), "Stopped") {
		return nil
	}
	return armError(status, code, "%s", message)
}
