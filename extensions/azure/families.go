package azure

import "github.com/armature-io/armature/extensions"

// families returns the parent types that ARM refuses to change in parallel with
// their children, and the children with each other: a second write meets the code that begins the evidence,
// and costs the request, the wait and the next try. Sources: "recorded" is a
// response in recorded traffic; a repository and a number is a public report;
// "locks" is a serialisation in the azurerm provider, which was added for the same
// reason.
func families() []extensions.Entry {
	return []extensions.Entry{
		{Type: "Microsoft.Network/virtualNetworks", Serialises: []string{"subnets", "virtualNetworkPeerings"}, Evidence: "AnotherOperationInProgress: recorded (subnets, 409; also RetryableErrorDueToAnotherOperation, 429)"},
		{Type: "Microsoft.Network/routeTables", Serialises: []string{"routes"}, Evidence: "RetryableErrorDueToAnotherOperation: recorded (routes, 429, on PUT and DELETE)"},
		{Type: "Microsoft.Network/networkSecurityGroups", Serialises: []string{"securityRules"}, Evidence: "RetryableErrorDueToAnotherOperation: as recorded for routeTables/routes; locks"},
		{Type: "Microsoft.Network/loadBalancers", Serialises: []string{"inboundNatRules", "backendAddressPools"}, Evidence: "RetryableErrorDueToAnotherOperation: as recorded for routeTables/routes; locks"},
		{Type: "Microsoft.Network/firewallPolicies", Serialises: []string{"ruleCollectionGroups"}, Evidence: "AnotherOperationInProgress: hashicorp/terraform-provider-azurerm#15440: one rule collection group at a time"},
		{Type: "Microsoft.Network/expressRouteCircuits", Serialises: []string{"authorizations", "peerings"}, Evidence: "AnotherOperationInProgress: hashicorp/terraform-provider-azurerm#992"},
		{Type: "Microsoft.Network/expressRouteGateways", Serialises: []string{"expressRouteConnections"}, Evidence: "AnotherOperationInProgress: Azure/Azure-Landing-Zones#4134"},
		{Type: "Microsoft.ContainerService/managedClusters", Serialises: []string{"agentPools", "maintenanceConfigurations"}, Evidence: "EtagMismatch: recorded (the cluster is one document and cannot be saved while another operation is in progress)"},
		{Type: "Microsoft.ManagedIdentity/userAssignedIdentities", Serialises: []string{"federatedIdentityCredentials"}, Evidence: "ConcurrentFederatedIdentityCredentialsWritesForSingleManagedIdentity: hashicorp/terraform-provider-azurerm#19968"},
		{Type: "Microsoft.CognitiveServices/accounts", Serialises: []string{"deployments"}, Evidence: "RequestConflict: hashicorp/terraform-provider-azurerm#22607"},
		{Type: "Microsoft.DocumentDB/databaseAccounts", Serialises: []string{"sqlRoleAssignments", "sqlRoleDefinitions"}, Evidence: "PreconditionFailed: hashicorp/terraform-provider-azurerm#15842: an exclusive lock on the account"},
		{Type: "Microsoft.DBforPostgreSQL/flexibleServers", Serialises: []string{"databases", "firewallRules", "configurations", "administrators", "backups", "virtualEndpoints", "advancedThreatProtectionSettings"}, Evidence: "ServerIsBusy: recorded (firewallRules, configurations; ProvisioningServerBusy for the server)"},
		{Type: "Microsoft.DBforMySQL/flexibleServers", Serialises: []string{"databases", "firewallRules", "configurations", "administrators"}, Evidence: "ServerIsBusy: as recorded for PostgreSQL, whose service it shares; locks"},
		{Type: "Microsoft.Cache/redis", Serialises: []string{"firewallRules", "linkedServers", "accessPolicies", "accessPolicyAssignments", "patchSchedules"}, Evidence: "Conflict: hashicorp/terraform-provider-azurerm#26085: another job is in progress"},
	}
}

// leaves returns the types that nothing in ARM depends on. The list is small on
// purpose: a resource that waits for one that is listed by mistake is not woken
// and waits for its timer. Role assignments are not in it: manifests name them in
// dependsOn.
func leaves() []extensions.Entry {
	const rule = "a rule of its parent, without an identity that another body could name"
	return []extensions.Entry{
		{Type: "Microsoft.DBforPostgreSQL/flexibleServers/firewallRules", Leaf: true, Evidence: rule},
		{Type: "Microsoft.DBforMySQL/flexibleServers/firewallRules", Leaf: true, Evidence: rule},
		{Type: "Microsoft.DBforMariaDB/servers/firewallRules", Leaf: true, Evidence: rule},
		{Type: "Microsoft.Sql/servers/firewallRules", Leaf: true, Evidence: rule},
		{Type: "Microsoft.Sql/servers/ipv6FirewallRules", Leaf: true, Evidence: rule},
		{Type: "Microsoft.Synapse/workspaces/firewallRules", Leaf: true, Evidence: rule},
		{Type: "Microsoft.Cache/redis/firewallRules", Leaf: true, Evidence: rule},
		{Type: "Microsoft.DataLakeStore/accounts/firewallRules", Leaf: true, Evidence: rule},
		{Type: "Microsoft.Network/networkSecurityGroups/securityRules", Leaf: true, Evidence: rule},
		{Type: "Microsoft.Network/routeTables/routes", Leaf: true, Evidence: rule},
		{Type: "Microsoft.DBforPostgreSQL/flexibleServers/configurations", Leaf: true, Evidence: "a setting of the server"},
		{Type: "Microsoft.DBforMySQL/flexibleServers/configurations", Leaf: true, Evidence: "a setting of the server"},
		{Type: "Microsoft.Authorization/locks", Leaf: true, Evidence: "it guards its scope, and nothing names it"},
		{Type: "Microsoft.Insights/diagnosticSettings", Leaf: true, Evidence: "it reads its scope, and nothing names it"},
		{Type: "Microsoft.Insights/autoscaleSettings", Leaf: true, Evidence: "it acts on its target, and nothing names it"},
	}
}
