package drift

import (
	"slices"
	"strings"

	"github.com/armature-io/armature/internal/jsontree"
	"github.com/armature-io/armature/resource"
)

// sharedList is a list to which other controllers are known to add items, also when a
// manifest states it. A PUT keeps their items, and they are no difference.
type sharedList struct {
	resourceType string
	// path as pattern writes it.
	path string
	// key identifies the items where the manifest's have no name or ID.
	key string
	// tag is the tag by which the controller marks the resource, "" if it leaves none.
	tag string
	// item is a part of the key of each item that the controller adds, in lower case;
	// "" if other items are kept too.
	item string
	// source is the page, at learn.microsoft.com/azure if it has no host, that names the
	// controller.
	source string
}

// The pages that name the other writers.
const (
	attachedDisks   = "virtual-machines/linux/attach-disk-portal, aks/azure-disk-csi: users and the CSI driver attach disks to running machines"
	vaultPolicies   = "key-vault/general/assign-access-policy; templates/microsoft.keyvault/vaults/accesspolicies: the name add merges into the list"
	backendMembers  = "load-balancer/backend-pool-management: a pool is joined in the IP configuration of the member"
	gatewayBackends = "templates/microsoft.network/networkinterfaces: the IP configuration of a member names its pools"
	ingress         = "application-gateway/ingress-controller-overview: it updates the gateway continuously, and marks it with the tag"
	appSecrets      = "container-apps/manage-secrets: secrets belong to the app, outside of its revisions; az containerapp secret set and registry set add them"
	dataScanner     = "defender-for-cloud/defender-for-storage-malware-scan: the scanner adds an access rule for itself"
)

// ingressTag is set by the Application Gateway ingress controller.
const ingressTag = "managed-by-k8s-ingress"

// sharedLists are the lists with known other writers.
var sharedLists = [...]sharedList{
	{resourceType: "microsoft.compute/virtualmachines", path: "properties.storageprofile.datadisks", key: "lun", source: attachedDisks},
	{resourceType: "microsoft.compute/virtualmachinescalesets/virtualmachines", path: "properties.storageprofile.datadisks", key: "lun", source: attachedDisks},
	{resourceType: "microsoft.app/containerapps", path: "properties.configuration.secrets", key: "name", source: appSecrets},
	{resourceType: "microsoft.keyvault/vaults", path: "properties.accesspolicies", key: "objectId", source: vaultPolicies},
	{resourceType: "microsoft.network/networkinterfaces", path: "properties.ipconfigurations.[].properties.loadbalancerbackendaddresspools", key: "id", source: backendMembers},
	{resourceType: "microsoft.network/networkinterfaces", path: "properties.ipconfigurations.[].properties.loadbalancerinboundnatrules", key: "id", source: backendMembers},
	{resourceType: "microsoft.network/networkinterfaces", path: "properties.ipconfigurations.[].properties.applicationgatewaybackendaddresspools", key: "id", source: gatewayBackends},
	{resourceType: "microsoft.compute/virtualmachinescalesets", path: "properties.virtualmachineprofile.networkprofile.networkinterfaceconfigurations.[].properties.ipconfigurations.[].properties.loadbalancerbackendaddresspools", key: "id", source: backendMembers},
	{resourceType: "microsoft.storage/storageaccounts", path: "properties.networkacls.resourceaccessrules", key: "resourceId", item: "/providers/microsoft.security/datascanners/", source: dataScanner},
	{resourceType: "microsoft.network/applicationgateways", path: "properties.backendaddresspools", key: "name", tag: ingressTag, source: ingress},
	{resourceType: "microsoft.network/applicationgateways", path: "properties.backendhttpsettingscollection", key: "name", tag: ingressTag, source: ingress},
	{resourceType: "microsoft.network/applicationgateways", path: "properties.frontendports", key: "name", tag: ingressTag, source: ingress},
	{resourceType: "microsoft.network/applicationgateways", path: "properties.httplisteners", key: "name", tag: ingressTag, source: ingress},
	{resourceType: "microsoft.network/applicationgateways", path: "properties.probes", key: "name", tag: ingressTag, source: ingress},
	{resourceType: "microsoft.network/applicationgateways", path: "properties.redirectconfigurations", key: "name", tag: ingressTag, source: ingress},
	{resourceType: "microsoft.network/applicationgateways", path: "properties.requestroutingrules", key: "name", tag: ingressTag, source: ingress},
	{resourceType: "microsoft.network/applicationgateways", path: "properties.sslcertificates", key: "name", tag: ingressTag, source: ingress},
	{resourceType: "microsoft.network/applicationgateways", path: "properties.urlpathmaps", key: "name", tag: ingressTag, source: ingress},
}

// sharing are the shared lists of one resource.
type sharing []sharedList

// sharingOf returns the shared lists of a resource as Azure shows it.
func sharingOf(resourceType string, observed map[string]any) sharing {
	var lists sharing
	for _, list := range sharedLists {
		if strings.EqualFold(list.resourceType, resourceType) && list.isMarked(observed) {
			lists = append(lists, list)
		}
	}
	return lists
}

// isMarked reports whether the resource has the tag of the controller.
func (l sharedList) isMarked(observed map[string]any) bool {
	if l.tag == "" {
		return true
	}
	_, value, _ := jsontree.Member(observed, "tags")
	tags, _ := value.(map[string]any)
	_, _, marked := jsontree.Member(tags, l.tag)
	return marked
}

// at returns the row of the list at a path.
func (s sharing) at(path resource.Path) (sharedList, bool) {
	if len(s) == 0 {
		return sharedList{}, false
	}
	i := slices.IndexFunc(s, func(l sharedList) bool { return l.path == pattern(path) })
	if i < 0 {
		return sharedList{}, false
	}
	return s[i], true
}

// keeps reports whether the list keeps an item that the manifest does not state.
func (l sharedList) keeps(item any) bool {
	value := resource.KeyText(item, l.key)
	return value != "" && strings.Contains(strings.ToLower(value), l.item)
}

// wasStated reports whether the last applied body stated an item, by the key of the list
// or by the one that identified its items then.
func (l sharedList) wasStated(applied decodedSet, list resource.Path, item any, key string) bool {
	return applied.has(list.With(l.step(item))) || applied.has(list.With(resource.Step{Key: key, Value: resource.KeyText(item, key)}))
}

// step returns the path step of an item.
func (l sharedList) step(item any) resource.Step {
	return resource.Step{Key: l.key, Value: resource.KeyText(item, l.key)}
}
