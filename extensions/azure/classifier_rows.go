package azure

import (
	"regexp"

	"github.com/armature-io/armature/resource"
)

// Evidence of a row: recorded traffic, or a classifier of Azure Service Operator.
const (
	recorded = "recorded"
	fromASO  = "Azure Service Operator"
)

// pattern returns a regular expression that ignores case and spans lines.
func pattern(text string) *regexp.Regexp { return regexp.MustCompile(`(?is)` + text) }

// classifierRows returns the errors that mean something else for one type than for
// all: those that never clear without a user's action, and those that clear soon
// although their code blames the request. Rows without a class change nothing
// today; they record that the default already does what the type needs.
func classifierRows() []classifierRow {
	const slow, never = resource.RetrySlow, resource.RetryNone
	one := func(resourceType string) []string { return []string{resourceType} }
	badRequest := []string{"BadRequest"}
	return []classifierRow{
		{
			types: one("Microsoft.DocumentDB/databaseAccounts"), codes: []string{"ServiceUnavailable"}, pattern: pattern("currently experiencing high demand"), class: never,
			advice: "The region accepts no new accounts: choose another region, or reconcile later.", evidence: fromASO,
		},
		{
			types: one("Microsoft.Sql/servers"), codes: []string{"PasswordNotComplex"}, class: never,
			advice: "Choose another password and apply again.", evidence: fromASO,
		},
		{types: one("Microsoft.Cdn/profiles/customDomains"), codes: badRequest, pattern: pattern("This resource is still associated with a route"), class: slow, evidence: fromASO},
		{types: one(ContainerServiceAgentPoolType), codes: []string{"NodePoolMcVersionIncompatible"}, class: slow, evidence: fromASO},

		{types: []string{"Microsoft.App/containerApps", "Microsoft.App/jobs"}, codes: []string{"ManagedEnvironmentNotProvisioned"}, class: slow, evidence: recorded},
		{
			types: []string{"Microsoft.Cdn/profiles/afdEndpoints/routes", "Microsoft.Cdn/profiles/ruleSets/rules"}, codes: badRequest,
			pattern: pattern("originGroup is created successfully.*at least one enabled origin is created"), class: slow, evidence: fromASO,
		},
		{
			types: one("Microsoft.Cdn/profiles/securityPolicies"), codes: badRequest,
			pattern: pattern("is not associated with the AFDX profile|is in a invalid provisioning state"), class: slow, evidence: fromASO,
		},
		{types: one("Microsoft.Compute/disks"), codes: badRequest, pattern: pattern("DiskAccess.*not found"), class: slow, evidence: fromASO},
		{types: one("Microsoft.Compute/disks"), codes: []string{"Conflict"}, pattern: pattern("DiskAccess.*is in failed state"), evidence: recorded},
		{
			types: []string{"Microsoft.Compute/virtualMachines", ScaleSetType}, codes: []string{"OperationNotAllowed"}, pattern: pattern("quota"),
			advice: "Request more quota or use another size; Armature retries.", evidence: fromASO,
		},
		{types: one(ContainerServiceManagedClusterType), codes: []string{"CustomKubeletIdentityMissingPermissionError"}, class: slow, evidence: fromASO},
		{types: one("Microsoft.ContainerService/fleets/members"), codes: []string{"DependentResourceNotFound"}, class: slow, evidence: fromASO},
		{types: one(CassandraClusterType), codes: badRequest, pattern: pattern("service principal"), class: slow, evidence: fromASO},
		{types: []string{"Microsoft.DocumentDB/databaseAccounts/mongodbDatabases", "Microsoft.DocumentDB/databaseAccounts/sqlDatabases"}, codes: badRequest, evidence: fromASO},
		{types: one("Microsoft.DocumentDB/databaseAccounts/sqlRoleAssignments"), codes: badRequest, pattern: pattern("was not found in the AAD tenant"), class: slow, evidence: fromASO},
		{types: one("Microsoft.Insights/dataCollectionRules"), codes: []string{"WorkspaceNotFound"}, class: slow, evidence: fromASO},
		{types: one("Microsoft.Insights/scheduledQueryRules"), codes: badRequest, pattern: pattern("does not exist|insufficient access"), class: slow, evidence: fromASO},
		{types: one("Microsoft.MachineLearningServices/workspaces"), codes: badRequest, pattern: pattern("StorageAccountIsNotProvisioned"), class: slow, evidence: recorded},
		{types: one("Microsoft.Network/azureFirewalls"), codes: []string{"AzfwAddToFirewallPolicyFailed"}, pattern: pattern("failed to reference Firewall Policy"), class: slow, evidence: fromASO},
		{types: one("Microsoft.Network/dnsForwardingRulesets"), codes: []string{""}, pattern: pattern("was not found"), class: slow, evidence: fromASO},
		{
			types:   []string{"Microsoft.Network/dnsZones/A", "Microsoft.Network/dnsZones/AAAA", "Microsoft.Network/dnsZones/CNAME"},
			codes:   badRequest,
			pattern: pattern("The referenced resource.*was not found"), class: slow, evidence: fromASO,
		},
		{types: one("Microsoft.Network/networkWatchers/flowLogs"), codes: []string{"NetworkSecurityGroupNotFoundForFlowLog", "StorageProvisioningStateNotSucceeded"}, class: slow, evidence: recorded},
		{types: []string{"Microsoft.Network/publicIPAddresses", "Microsoft.Network/virtualNetworks/virtualNetworkPeerings"}, codes: []string{"ReferencedResourceNotProvisioned"}, class: slow, evidence: recorded},
		{types: one(SubnetType), codes: []string{"NetcfgSubnetRangeOutsideVnet"}, class: slow, evidence: fromASO},
		{types: one("Microsoft.ServiceBus/namespaces/topics/subscriptions"), codes: []string{"MessagingGatewayBadRequest"}, class: slow, evidence: fromASO},
		{types: one("Microsoft.Sql/servers/vulnerabilityAssessments"), codes: []string{"VulnerabilityAssessmentADSIsDisabled"}, class: slow, evidence: fromASO},
		{
			types: one(StorageAccountType), codes: []string{"StorageAccountAlreadyTaken", "StorageAccountInAnotherResourceGroup"}, class: resource.RetryVerySlow,
			advice: "Names of storage accounts are unique in all of Azure: use another name in the manifest, or delete the account that has it.", evidence: "published",
		},
		{
			types: one(StorageAccountType), codes: []string{"AccountNameInvalid"}, class: never,
			advice: "Use a name of 3 to 24 lower-case letters and digits in the manifest.", evidence: "published",
		},
		{
			types: one(VirtualNetworkPeeringType), codes: []string{"RemotePeeringIsDisconnected"}, class: slow,
			advice: "The other network's peering must be written again or deleted first; if Armature manages it, it does so by itself.", evidence: "hashicorp/terraform-provider-azurerm#14051",
		},
		{
			types: []string{PostgreSQLDatabaseType, PostgreSQLFirewallRuleType, "Microsoft.DBforPostgreSQL/flexibleServers/configurations"}, codes: []string{"ServerStoppedError"}, class: slow,
			advice: "Start the server: az postgres flexible-server start.", evidence: "turbot/steampipe-plugin-azure#1015",
		},
		{
			types: one(RoleAssignmentType), codes: []string{"RoleAssignmentExists"}, class: resource.RetryVerySlow,
			advice: "The same principal has the same role on the same scope under another name: use that name in the manifest, or delete the other assignment.", evidence: "published",
		},
	}
}

// softDeletedRows returns types with soft delete, where a deleted resource keeps its name. The
// advice explains how to recover the old one and how to purge it.
func softDeletedRows() []classifierRow {
	one := func(resourceType string) []string { return []string{resourceType} }
	const slow = resource.RetrySlow
	return []classifierRow{
		{
			types: one(KeyVaultType), codes: []string{"ConflictError", "Conflict", "VaultAlreadyExists"}, pattern: pattern("deleted state|soft.?deleted"), class: slow,
			advice: "Set properties.createMode to createOrRecover to recover the deleted vault, or to purgeThenCreate to create a new one.", evidence: "published",
		},
		{
			types: one("Microsoft.KeyVault/managedHSMs"), codes: []string{""}, pattern: pattern("deleted state|soft.?deleted"), class: slow,
			advice: "Set properties.createMode to recover, or purge the deleted one: az keyvault purge --hsm-name NAME.", evidence: "published",
		},
		{
			types: one("Microsoft.CognitiveServices/accounts"), codes: []string{"FlagMustBeSetForRestore"}, class: slow,
			advice: "Set properties.restore to true to recover the deleted account, or purge it: az cognitiveservices account purge.", evidence: "published",
		},
		{
			types: one("Microsoft.ApiManagement/service"), codes: []string{"ServiceAlreadyExistsInSoftDeletedState"}, class: slow,
			advice: "Set properties.restore to true to recover the deleted service, or purge it: az apim deletedservice purge.", evidence: "published",
		},
		{
			types: one("Microsoft.AppConfiguration/configurationStores"), codes: []string{"NameUnavailable", "Conflict"}, pattern: pattern("already in use|soft.?deleted"), class: slow,
			advice: "If a deleted store has the name, set properties.createMode to Recover, or purge it: az appconfig purge.", evidence: "published",
		},
		{
			types: one("Microsoft.MachineLearningServices/workspaces"), codes: []string{""}, pattern: pattern("soft.?deleted"), class: slow,
			advice: "Recover the deleted workspace in the portal, or purge it: az ml workspace delete --permanently-delete.", evidence: "published",
		},
	}
}
