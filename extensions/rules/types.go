package rules

import (
	"fmt"
	"strings"

	"github.com/armature-io/armature/resource"
)

// exampleIDs are a resource of a type and its owner, named after their types in
// the singular: cluster1, database1.
func exampleIDs(resourceType string) (id, owner resource.ID, err error) {
	segments := strings.Split(resourceType, "/")
	text := "/subscriptions/00000000-0000-0000-0000-000000000000/resourceGroups/group1/providers/" + segments[0]
	for _, segment := range segments[1:] {
		text += fmt.Sprintf("/%s/%s1", segment, strings.TrimSuffix(segment, "s"))
	}
	if id, err = resource.ParseID(text); err != nil {
		return id, owner, err
	}
	return id, id.Owner(), nil
}

// knownType reports whether a type is in the list of known types.
func knownType(resourceType string) bool {
	for _, known := range knownTypes() {
		if strings.EqualFold(known, resourceType) {
			return true
		}
	}
	return false
}

// knownTypes returns the types of the list below. Azure has thousands, so a rule
// for another one is only a warning: it may be misspelt and would never apply.
func knownTypes() []string {
	var types []string
	for namespace, names := range namespaces() {
		for _, name := range strings.Fields(names) {
			types = append(types, namespace+"/"+name)
		}
	}
	return types
}

// namespaces returns the most common types by provider.
func namespaces() map[string]string {
	return map[string]string{
		"Microsoft.ApiManagement":           "service service/apis service/apiVersionSets service/backends service/groups service/loggers service/namedValues service/policies service/products service/products/apis service/products/groups service/products/policies service/subscriptions service/users",
		"Microsoft.App":                     "containerApps containerApps/authConfigs jobs managedEnvironments managedEnvironments/certificates managedEnvironments/storages",
		"Microsoft.AppConfiguration":        "configurationStores configurationStores/keyValues configurationStores/replicas",
		"Microsoft.Authorization":           "locks policyAssignments policyDefinitions policyExemptions policySetDefinitions roleAssignments roleDefinitions",
		"Microsoft.Automation":              "automationAccounts automationAccounts/runbooks automationAccounts/schedules automationAccounts/variables",
		"Microsoft.Batch":                   "batchAccounts batchAccounts/applications batchAccounts/pools",
		"Microsoft.Cache":                   "redis redis/accessPolicies redis/accessPolicyAssignments redis/firewallRules redis/linkedServers redis/patchSchedules redisEnterprise redisEnterprise/databases",
		"Microsoft.Cdn":                     "profiles profiles/afdEndpoints profiles/afdEndpoints/routes profiles/customDomains profiles/endpoints profiles/originGroups profiles/originGroups/origins profiles/ruleSets profiles/ruleSets/rules profiles/secrets profiles/securityPolicies",
		"Microsoft.CognitiveServices":       "accounts accounts/deployments accounts/projects",
		"Microsoft.Communication":           "communicationServices emailServices emailServices/domains",
		"Microsoft.Compute":                 "availabilitySets capacityReservationGroups diskAccesses diskEncryptionSets disks galleries galleries/images images proximityPlacementGroups snapshots sshPublicKeys virtualMachineScaleSets virtualMachineScaleSets/extensions virtualMachineScaleSets/virtualMachines virtualMachines virtualMachines/extensions virtualMachines/runCommands",
		"Microsoft.ContainerInstance":       "containerGroups",
		"Microsoft.ContainerRegistry":       "registries registries/cacheRules registries/replications registries/scopeMaps registries/tokens registries/webhooks",
		"Microsoft.ContainerService":        "fleets fleets/members fleets/updateRuns managedClusters managedClusters/agentPools managedClusters/maintenanceConfigurations managedClusters/trustedAccessRoleBindings",
		"Microsoft.DataFactory":             "factories factories/datasets factories/linkedservices factories/pipelines factories/triggers",
		"Microsoft.DataProtection":          "backupVaults backupVaults/backupInstances backupVaults/backupPolicies",
		"Microsoft.Databricks":              "accessConnectors workspaces",
		"Microsoft.DBforMariaDB":            "servers servers/configurations servers/databases servers/firewallRules",
		"Microsoft.DBforMySQL":              "flexibleServers flexibleServers/administrators flexibleServers/configurations flexibleServers/databases flexibleServers/firewallRules",
		"Microsoft.DBforPostgreSQL":         "flexibleServers flexibleServers/administrators flexibleServers/backups flexibleServers/configurations flexibleServers/databases flexibleServers/firewallRules flexibleServers/virtualEndpoints",
		"Microsoft.Devices":                 "IotHubs provisioningServices",
		"Microsoft.DocumentDB":              "cassandraClusters cassandraClusters/dataCenters databaseAccounts databaseAccounts/mongodbDatabases databaseAccounts/mongodbDatabases/collections databaseAccounts/sqlDatabases databaseAccounts/sqlDatabases/containers databaseAccounts/sqlRoleAssignments databaseAccounts/sqlRoleDefinitions mongoClusters mongoClusters/firewallRules",
		"Microsoft.EventGrid":               "domains domains/topics eventSubscriptions systemTopics systemTopics/eventSubscriptions topics",
		"Microsoft.EventHub":                "namespaces namespaces/authorizationRules namespaces/eventhubs namespaces/eventhubs/authorizationRules namespaces/eventhubs/consumergroups namespaces/networkRuleSets",
		"Microsoft.Insights":                "actionGroups activityLogAlerts autoscaleSettings components dataCollectionEndpoints dataCollectionRuleAssociations dataCollectionRules diagnosticSettings metricAlerts privateLinkScopes scheduledQueryRules webtests workbooks",
		"Microsoft.KeyVault":                "managedHSMs vaults vaults/accessPolicies vaults/keys vaults/secrets",
		"Microsoft.KubernetesConfiguration": "extensions fluxConfigurations",
		"Microsoft.Kusto":                   "clusters clusters/attachedDatabaseConfigurations clusters/databases clusters/databases/dataConnections clusters/databases/principalAssignments clusters/principalAssignments",
		"Microsoft.Logic":                   "integrationAccounts workflows",
		"Microsoft.MachineLearningServices": "registries workspaces workspaces/computes workspaces/connections workspaces/onlineEndpoints workspaces/onlineEndpoints/deployments",
		"Microsoft.ManagedIdentity":         "userAssignedIdentities userAssignedIdentities/federatedIdentityCredentials",
		"Microsoft.Management":              "managementGroups managementGroups/subscriptions",
		"Microsoft.Monitor":                 "accounts",
		"Microsoft.NetApp":                  "netAppAccounts netAppAccounts/capacityPools netAppAccounts/capacityPools/volumes",
		"Microsoft.Network":                 "applicationGateways applicationSecurityGroups azureFirewalls bastionHosts connections ddosProtectionPlans dnsForwardingRulesets dnsForwardingRulesets/forwardingRules dnsResolvers dnsResolvers/inboundEndpoints dnsResolvers/outboundEndpoints dnsZones dnsZones/A dnsZones/AAAA dnsZones/CAA dnsZones/CNAME dnsZones/MX dnsZones/NS dnsZones/TXT expressRouteCircuits expressRouteCircuits/authorizations expressRouteCircuits/peerings expressRouteGateways firewallPolicies firewallPolicies/ruleCollectionGroups frontDoorWebApplicationFirewallPolicies ipGroups loadBalancers loadBalancers/backendAddressPools loadBalancers/inboundNatRules localNetworkGateways natGateways networkInterfaces networkSecurityGroups networkSecurityGroups/securityRules networkWatchers networkWatchers/flowLogs privateDnsZones privateDnsZones/A privateDnsZones/CNAME privateDnsZones/virtualNetworkLinks privateEndpoints privateEndpoints/privateDnsZoneGroups privateLinkServices publicIPAddresses publicIPPrefixes routeTables routeTables/routes trafficManagerProfiles virtualHubs virtualHubs/hubVirtualNetworkConnections virtualNetworkGateways virtualNetworks virtualNetworks/subnets virtualNetworks/virtualNetworkPeerings virtualWans vpnGateways vpnSites",
		"Microsoft.NotificationHubs":        "namespaces namespaces/authorizationRules namespaces/notificationHubs namespaces/notificationHubs/authorizationRules",
		"Microsoft.OperationalInsights":     "clusters workspaces workspaces/linkedServices workspaces/savedSearches workspaces/tables",
		"Microsoft.OperationsManagement":    "solutions",
		"Microsoft.RecoveryServices":        "vaults vaults/backupPolicies",
		"Microsoft.RedHatOpenShift":         "hcpOpenShiftClusters hcpOpenShiftClusters/nodePools openShiftClusters",
		"Microsoft.Resources":               "deploymentScripts deploymentStacks deployments resourceGroups templateSpecs",
		"Microsoft.Search":                  "searchServices searchServices/sharedPrivateLinkResources",
		"Microsoft.ServiceBus":              "namespaces namespaces/authorizationRules namespaces/networkRuleSets namespaces/queues namespaces/topics namespaces/topics/subscriptions namespaces/topics/subscriptions/rules",
		"Microsoft.SignalRService":          "SignalR SignalR/replicas WebPubSub WebPubSub/hubs",
		"Microsoft.Sql":                     "managedInstances managedInstances/databases servers servers/administrators servers/auditingSettings servers/databases servers/elasticPools servers/failoverGroups servers/firewallRules servers/virtualNetworkRules servers/vulnerabilityAssessments",
		"Microsoft.Storage":                 "storageAccounts storageAccounts/blobServices storageAccounts/blobServices/containers storageAccounts/fileServices storageAccounts/fileServices/shares storageAccounts/managementPolicies storageAccounts/queueServices storageAccounts/queueServices/queues storageAccounts/tableServices storageAccounts/tableServices/tables",
		"Microsoft.Subscription":            "aliases",
		"Microsoft.Synapse":                 "workspaces workspaces/bigDataPools workspaces/firewallRules workspaces/sqlPools",
		"Microsoft.Web":                     "certificates connections hostingEnvironments serverfarms sites sites/config sites/hostNameBindings sites/slots sites/sourcecontrols staticSites staticSites/customDomains",
	}
}
