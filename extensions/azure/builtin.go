package azure

import (
	"slices"

	"github.com/armature-io/armature/extensions"
)

// BuiltIn returns the extensions that Armature ships with, in the order of their
// chains: Go links, and the table of facts. A worker has them in front of its own, unless
// service.Options.WithoutBuiltIn is set.
func BuiltIn() []extensions.Entry {
	return slices.Concat([]extensions.Entry{
		{Type: ContainerServiceAgentPoolType, Link: ContainerServiceAgentPool{}},
		{Type: KustoClusterType, Link: KustoCluster{}},
		{Type: KustoDatabaseType, Link: KustoDatabase{}},
		{Type: PostgreSQLFlexibleServerType, Link: PostgreSQLFlexibleServer{}},
		{Type: PostgreSQLDatabaseType, Link: builtInDatabase{}},
		{Type: PrivateEndpointType, Link: PrivateEndpoint{}},
		{Type: BackupInstanceType, Link: BackupInstance{}},
		{Type: SubnetType, Link: Subnet{}},
		{Type: VirtualNetworkPeeringType, Link: VirtualNetworkPeering{}},
		{Type: StorageAccountType, Link: StorageAccount{}},
		{Type: KeyVaultType, Link: KeyVault{}},
		{Type: RoleAssignmentType, Link: RoleAssignment{}},
		{Type: RoleDefinitionType, Link: RoleDefinition{}},
		{Type: SubscriptionAliasType, Link: SubscriptionAlias{}},
		{Type: APIManagementProductType, Link: APIManagementProduct{}},
		{Type: WebSiteType, Link: WebSite{}},
		{Type: "Microsoft.DBforMySQL/flexibleServers/configurations", Link: serverConfiguration{}},
		{Type: "Microsoft.DBforPostgreSQL/flexibleServers/configurations", Link: serverConfiguration{}},
		{Type: extensions.AllTypes, Link: publishedLists{}},
	}, Facts())
}
