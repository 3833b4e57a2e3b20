package extensions

// BuiltIn are the links that come with Armature, in the order of their chains.
// A worker of your own passes append(extensions.BuiltIn(), yours...) to New.
func BuiltIn() []Entry {
	entries := []Entry{
		{Type: AllTypes, Link: childrenKept{}},
		{Type: ContainerServiceManagedClusterType, Link: ContainerServiceManagedCluster{}},
		{Type: ContainerServiceAgentPoolType, Link: ContainerServiceAgentPool{}},
		{Type: KustoClusterType, Link: KustoCluster{}},
		{Type: KustoDatabaseType, Link: KustoDatabase{}},
		{Type: PostgreSQLFlexibleServerType, Link: PostgreSQLFlexibleServer{}},
		{Type: PostgreSQLDatabaseType, Link: PostgreSQLDatabase{}},
		{Type: PostgreSQLDatabaseType, Link: builtInDatabase{}},
		{Type: PostgreSQLFirewallRuleType, Link: PostgreSQLFirewallRule{}},
		{Type: CassandraDataCenterType, Link: CassandraDataCenter{}},
		{Type: CosmosDatabaseAccountType, Link: CosmosDatabaseAccount{}},
		{Type: HcpOpenShiftClusterType, Link: HcpOpenShiftCluster{}},
		{Type: ScaleSetInstanceType, Link: ScaleSetInstance{}},
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
		{Type: "Microsoft.DBforMySQL/flexibleServers/configurations", Link: serverConfiguration{}},
		{Type: "Microsoft.DBforPostgreSQL/flexibleServers/configurations", Link: serverConfiguration{}},
	}
	entries = append(entries, fixtureEntries()...)
	return append(entries, classifiers()...)
}
