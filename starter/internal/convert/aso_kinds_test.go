package convert

import (
	"strings"
	"testing"
)

// TestASOType compares kinds with their types. The kinds are those of the samples in
// https://github.com/Azure/azure-service-operator/tree/main/v2/samples.
func TestASOType(t *testing.T) {
	for kind, want := range map[string]string{
		"alertsmanagement SmartDetectorAlertRule": "microsoft.alertsManagement/smartDetectorAlertRules",
		"apimanagement Api":                       "Microsoft.ApiManagement/service/apis", "apimanagement ApiVersionSet": "Microsoft.ApiManagement/service/apiVersionSets",
		"apimanagement NamedValue": "Microsoft.ApiManagement/service/namedValues", "apimanagement Service": "Microsoft.ApiManagement/service",
		"apimanagement Product": "Microsoft.ApiManagement/service/products", "apimanagement Backend": "Microsoft.ApiManagement/service/backends",
		"authorization RoleAssignment": "Microsoft.Authorization/roleAssignments", "authorization RoleDefinition": "Microsoft.Authorization/roleDefinitions",
		"cache Redis": "Microsoft.Cache/redis", "cache RedisFirewallRule": "Microsoft.Cache/redis/firewallRules", "cache RedisEnterpriseDatabase": "Microsoft.Cache/redisEnterprise/databases",
		"cdn Profile": "Microsoft.Cdn/profiles", "cdn ProfilesEndpoint": "Microsoft.Cdn/profiles/endpoints", "cdn AfdCustomDomain": "Microsoft.Cdn/profiles/customDomains",
		"compute Disk": "Microsoft.Compute/disks", "compute VirtualMachine": "Microsoft.Compute/virtualMachines", "compute VirtualMachinesExtension": "Microsoft.Compute/virtualMachines/extensions",
		"compute VirtualMachineScaleSet": "Microsoft.Compute/virtualMachineScaleSets", "compute VirtualMachineScaleSetsExtension": "Microsoft.Compute/virtualMachineScaleSets/extensions",
		"compute DiskEncryptionSet": "Microsoft.Compute/diskEncryptionSets", "compute AvailabilitySet": "Microsoft.Compute/availabilitySets", "compute CapacityReservationGroup": "Microsoft.Compute/capacityReservationGroups",
		"containerregistry Registry": "Microsoft.ContainerRegistry/registries", "containerregistry RegistryReplication": "Microsoft.ContainerRegistry/registries/replications",
		"containerservice ManagedCluster": "Microsoft.ContainerService/managedClusters", "containerservice ManagedClustersAgentPool": "Microsoft.ContainerService/managedClusters/agentPools",
		"dbforpostgresql FlexibleServer": "Microsoft.DBforPostgreSQL/flexibleServers", "dbforpostgresql FlexibleServersDatabase": "Microsoft.DBforPostgreSQL/flexibleServers/databases",
		"dbforpostgresql FlexibleServersFirewallRule": "Microsoft.DBforPostgreSQL/flexibleServers/firewallRules", "dbforpostgresql FlexibleServersConfiguration": "Microsoft.DBforPostgreSQL/flexibleServers/configurations",
		"documentdb DatabaseAccount": "Microsoft.DocumentDB/databaseAccounts", "documentdb SqlDatabase": "Microsoft.DocumentDB/databaseAccounts/sqlDatabases",
		"documentdb SqlDatabaseContainer": "Microsoft.DocumentDB/databaseAccounts/sqlDatabases/containers", "documentdb MongodbDatabase": "Microsoft.DocumentDB/databaseAccounts/mongodbDatabases",
		"eventhub Namespace": "Microsoft.EventHub/namespaces", "eventhub NamespacesEventhub": "Microsoft.EventHub/namespaces/eventhubs", "eventhub NamespacesEventhubsConsumerGroup": "Microsoft.EventHub/namespaces/eventhubs/consumergroups",
		"eventhub NamespacesEventhubsAuthorizationRule": "Microsoft.EventHub/namespaces/eventhubs/authorizationRules",
		"insights Component":                            "Microsoft.Insights/components", "insights ActionGroup": "Microsoft.Insights/actionGroups", "insights Webtest": "Microsoft.Insights/webtests",
		"keyvault Vault": "Microsoft.KeyVault/vaults", "managedidentity UserAssignedIdentity": "Microsoft.ManagedIdentity/userAssignedIdentities",
		"managedidentity FederatedIdentityCredential": "Microsoft.ManagedIdentity/userAssignedIdentities/federatedIdentityCredentials",
		"network VirtualNetwork":                      "Microsoft.Network/virtualNetworks", "network VirtualNetworksSubnet": "Microsoft.Network/virtualNetworks/subnets",
		"network VirtualNetworksVirtualNetworkPeering": "Microsoft.Network/virtualNetworks/virtualNetworkPeerings", "network NetworkSecurityGroup": "Microsoft.Network/networkSecurityGroups",
		"network NetworkSecurityGroupsSecurityRule": "Microsoft.Network/networkSecurityGroups/securityRules", "network PublicIPAddress": "Microsoft.Network/publicIPAddresses",
		"network RouteTablesRoute": "Microsoft.Network/routeTables/routes", "network LoadBalancersInboundNatRule": "Microsoft.Network/loadBalancers/inboundNatRules",
		"network NetworkInterface": "Microsoft.Network/networkInterfaces", "network PrivateDnsZone": "Microsoft.Network/privateDnsZones", "network DnsZonesARecord": "Microsoft.Network/dnsZones/A",
		"network PrivateDnsZonesVirtualNetworkLink": "Microsoft.Network/privateDnsZones/virtualNetworkLinks", "network PrivateEndpointsPrivateDnsZoneGroup": "Microsoft.Network/privateEndpoints/privateDnsZoneGroups",
		"operationalinsights Workspace": "Microsoft.OperationalInsights/workspaces", "resources ResourceGroup": "Microsoft.Resources/resourceGroups",
		"servicebus Namespace": "Microsoft.ServiceBus/namespaces", "servicebus NamespacesQueue": "Microsoft.ServiceBus/namespaces/queues", "servicebus NamespacesTopicsSubscription": "Microsoft.ServiceBus/namespaces/topics/subscriptions",
		"sql Server": "Microsoft.Sql/servers", "sql ServersDatabase": "Microsoft.Sql/servers/databases", "sql ServersFirewallRule": "Microsoft.Sql/servers/firewallRules",
		"storage StorageAccount": "Microsoft.Storage/storageAccounts", "storage StorageAccountsBlobService": "Microsoft.Storage/storageAccounts/blobServices",
		"storage StorageAccountsBlobServicesContainer": "Microsoft.Storage/storageAccounts/blobServices/containers", "storage StorageAccountsManagementPolicy": "Microsoft.Storage/storageAccounts/managementPolicies",
		"storage StorageAccountsQueueServicesQueue": "Microsoft.Storage/storageAccounts/queueServices/queues", "storage StorageAccountsFileServicesShare": "Microsoft.Storage/storageAccounts/fileServices/shares",
		"web Site": "Microsoft.Web/sites", "web ServerFarm": "Microsoft.Web/serverfarms", "app ContainerApp": "Microsoft.App/containerApps", "app ManagedEnvironment": "Microsoft.App/managedEnvironments",
		"search SearchService": "Microsoft.Search/searchServices", "signalrservice SignalR": "Microsoft.SignalRService/signalR", "kusto Cluster": "Microsoft.Kusto/clusters", "kusto Database": "Microsoft.Kusto/clusters/databases",
	} {
		group, name, _ := strings.Cut(kind, " ")
		got := asoType(asoGroup(group+".azure.com"), name)
		if len(got) != 1 || got[0] != want {
			t.Errorf("%s: %q, want %s", kind, got, want)
		}
	}
}
