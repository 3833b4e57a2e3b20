package azure

import (
	"maps"
	"slices"

	"github.com/armature-io/armature/extensions"
	"github.com/armature-io/armature/resource"
)

// Sources of the rows: pages at learn.microsoft.com/azure, or the member of the
// published shape that states it.
const (
	shapeSource   = "published shape"
	accessSource  = "role-based-access-control/troubleshooting: a new assignment is another object"
	backupSource  = "backup/backup-azure-security-feature-cloud: soft delete of backups"
	managedSource = "entra/identity/managed-identities-azure-resources: a new identity is another principal"
)

// recreations returns what is not recreated after it was deleted outside Armature, and
// the types that the rules over published shapes (extensions.Registry.Recreation) would
// take for such.
func recreations() []extensions.Entry {
	var entries []extensions.Entry
	for _, row := range recreationRows() {
		entries = append(entries, extensions.Entry{
			Type:       row.resourceType,
			Recreation: extensions.Recreation{Default: resource.RecreateNever, Loss: row.loss, Restore: row.restore},
			Evidence:   row.source,
		})
	}
	recreated := recreatedTypes()
	for _, resourceType := range slices.Sorted(maps.Keys(recreated)) {
		source := recreated[resourceType]
		entries = append(entries, extensions.Entry{
			Type: resourceType, Recreation: extensions.Recreation{Default: resource.RecreateAlways}, Evidence: source,
		})
	}
	return entries
}

// recreationRow is a type that is not recreated by default.
type recreationRow struct {
	resourceType, loss string
	// restore completes "to bring it back, ...".
	restore, source string
}

// recreatedTypes returns the types that hold nothing although their shapes look as if
// they did, with the source of that.
func recreatedTypes() map[string]string {
	const secrets = "container-apps/manage-secrets: the secrets that its actions return are members of its own body"
	return map[string]string{
		"Microsoft.App/containerApps":                           secrets,
		"Microsoft.App/jobs":                                    secrets,
		"Microsoft.App/managedEnvironments":                     "container-apps/environment: it has no data of its own; getAuthToken returns a token for its debug console",
		"Microsoft.App/managedEnvironments/daprComponents":      secrets,
		"Microsoft.ContainerService/managedClusters/agentPools": "aks/concepts-clusters-workloads: nodes are replaceable",
		"Microsoft.Insights/dataCollectionRules":                "azure-monitor/data-collection/data-collection-rule-overview: configuration; immutableId identifies it",
	}
}

// recreationRows returns the types that are not recreated by default. The rules over
// published shapes decide about types that are not here.
func recreationRows() []recreationRow {
	const (
		data, identity, rights = extensions.LossData, extensions.LossIdentity, extensions.LossRights
		credentials, money     = extensions.LossCredentials, extensions.LossMoney
		expires, runs          = extensions.LossExpires, extensions.LossRuns
	)
	return []recreationRow{
		{StorageAccountType, data, "restore it within 14 days in the portal (Storage accounts > Restore); an account that is created under its name ends that", "storage/common/storage-account-recover"},
		{StorageAccountType + "/blobServices/containers", data, "run az storage container restore, if soft delete of containers is on", "storage/blobs/soft-delete-container-overview"},
		{StorageAccountType + "/fileServices/shares", data, "run az storage share-rm restore, if soft delete of shares is on", "storage/files/storage-files-prevent-file-share-deletion"},
		{StorageAccountType + "/queueServices/queues", data, "", "storage/queues/storage-queues-introduction"},
		{StorageAccountType + "/tableServices/tables", data, "", "storage/tables/table-storage-overview"},
		{KeyVaultType, data, "run az keyvault recover --name NAME", "key-vault/general/key-vault-recovery"},
		{"Microsoft.KeyVault/managedHSMs", data, "run az keyvault recover --hsm-name NAME", "key-vault/managed-hsm/recovery"},
		{KeyVaultType + "/keys", credentials, "run az keyvault key recover --vault-name VAULT --name NAME", "key-vault/general/key-vault-recovery"},
		{KeyVaultType + "/secrets", credentials, "run az keyvault secret recover --vault-name VAULT --name NAME", "key-vault/general/key-vault-recovery"},
		{"Microsoft.CognitiveServices/accounts", data, "run az cognitiveservices account recover --name NAME", "ai-services/recover-purge-resources"},
		{"Microsoft.ApiManagement/service", data, "send a PUT with properties.restore true within 48 hours", "api-management/soft-delete"},
		{"Microsoft.AppConfiguration/configurationStores", data, "run az appconfig recover --name NAME", "azure-app-configuration/concept-soft-delete"},
		{"Microsoft.MachineLearningServices/workspaces", data, "recover it within 14 days in the portal (Azure Machine Learning > Recently deleted)", "machine-learning/concept-soft-delete"},
		{"Microsoft.OperationalInsights/workspaces", data, "run az monitor log-analytics workspace recover within 14 days", "azure-monitor/logs/delete-workspace"},
		{"Microsoft.OperationalInsights/workspaces/tables", data, "", "azure-monitor/logs/create-custom-table"},
		{"Microsoft.Insights/components", data, "", "azure-monitor/app/create-workspace-resource: a new component has another connection string"},
		{"Microsoft.Sql/servers", data, "restore the server, or its databases, as described for deleted logical servers", "azure-sql/database/deleted-logical-server-restore"},
		{"Microsoft.Sql/servers/databases", data, "run az sql db restore --dest-name NAME --deleted-time TIME", "azure-sql/database/recovery-using-backups"},
		{"Microsoft.Sql/managedInstances", data, "", "azure-sql/managed-instance/virtual-cluster-delete"},
		{"Microsoft.Sql/managedInstances/databases", data, "run az sql midb restore --dest-name NAME --deleted-time TIME", "azure-sql/managed-instance/point-in-time-restore"},
		{PostgreSQLFlexibleServerType, data, "restore the dropped server within five days, as described for dropped servers", "postgresql/flexible-server/how-to-restore-dropped-server"},
		{PostgreSQLDatabaseType, data, "restore the server to a time before and copy the database", "postgresql/flexible-server/concepts-backup-restore"},
		{"Microsoft.DBforMySQL/flexibleServers", data, "restore the dropped server within five days, as described for dropped servers", "mysql/flexible-server/how-to-restore-dropped-server"},
		{"Microsoft.DBforMySQL/flexibleServers/databases", data, "restore the server to a time before and copy the database", "mysql/flexible-server/concepts-backup-restore"},
		{"Microsoft.DocumentDB/databaseAccounts", data, "run az cosmosdb restore, if the account had continuous backup, or ask Azure support within 8 hours", "cosmos-db/continuous-backup-restore-introduction"},
		{"Microsoft.DocumentDB/mongoClusters", data, "restore it from its backup", "cosmos-db/mongodb/vcore/how-to-restore-cluster"},
		{CassandraClusterType, data, "", "managed-instance-apache-cassandra/introduction"},
		{"Microsoft.DocumentDB/cassandraClusters/dataCenters", data, "", "managed-instance-apache-cassandra/introduction"},
		{KustoClusterType, data, "ask Azure support within 14 days", "data-explorer/delete-cluster"},
		{KustoDatabaseType, data, "", "data-explorer/delete-database"},
		{"Microsoft.Synapse/workspaces", data, "", "synapse-analytics/overview-what-is"},
		{"Microsoft.Synapse/workspaces/sqlPools", data, "run az synapse sql pool restore with the time of its deletion", "synapse-analytics/sql-data-warehouse/sql-data-warehouse-restore-deleted-dw"},
		{"Microsoft.Databricks/workspaces", data, "", "databricks/admin/workspace"},
		{"Microsoft.HDInsight/clusters", data, "", "hdinsight/hdinsight-overview"},
		{ContainerServiceManagedClusterType, data, "", "aks/concepts-storage: the state of the cluster goes with it"},
		{"Microsoft.RedHatOpenShift/openShiftClusters", data, "", "openshift/delete-cluster"},
		{"Microsoft.ContainerRegistry/registries", data, "", "container-registry/container-registry-concepts"},
		{"Microsoft.Compute/disks", data, "restore it from a snapshot or backup", "virtual-machines/managed-disks-overview"},
		{"Microsoft.Compute/snapshots", data, "", "virtual-machines/snapshot-copy-managed-disk"},
		{"Microsoft.Compute/images", data, "", "virtual-machines/capture-image-resource"},
		{"Microsoft.Compute/galleries", data, "restore it, if soft delete of the gallery is on", "virtual-machines/soft-delete-gallery"},
		{"Microsoft.Compute/virtualMachines", data, "create it from its OS disk, if that was kept, or restore it from backup", "virtual-machines/delete"},
		{ScaleSetType, data, "", "virtual-machine-scale-sets/virtual-machine-scale-sets-attached-disks"},
		{"Microsoft.NetApp/netAppAccounts/capacityPools/volumes", data, "restore it from a backup in its vault", "azure-netapp-files/backup-introduction"},
		{"Microsoft.Cache/redis", data, "import an export of its data, if there is one", "azure-cache-for-redis/cache-how-to-import-export-data"},
		{"Microsoft.Cache/redisEnterprise", data, "import an export of its data, if there is one", "azure-cache-for-redis/cache-how-to-import-export-data"},
		{"Microsoft.Search/searchServices", data, "", "search/search-reliability: indexes are rebuilt"},
		{"Microsoft.EventHub/namespaces", data, "", "event-hubs/event-hubs-features"},
		{"Microsoft.EventHub/namespaces/eventhubs", data, "", "event-hubs/event-hubs-features"},
		{"Microsoft.ServiceBus/namespaces", data, "", "service-bus-messaging/service-bus-queues-topics-subscriptions"},
		{"Microsoft.ServiceBus/namespaces/queues", data, "", "service-bus-messaging/service-bus-queues-topics-subscriptions"},
		{"Microsoft.ServiceBus/namespaces/topics", data, "", "service-bus-messaging/service-bus-queues-topics-subscriptions"},
		{"Microsoft.ServiceBus/namespaces/topics/subscriptions", data, "", "service-bus-messaging/service-bus-queues-topics-subscriptions"},
		{"Microsoft.NotificationHubs/namespaces", data, "", "notification-hubs/notification-hubs-push-notification-registration-management"},
		{"Microsoft.NotificationHubs/namespaces/notificationHubs", data, "", "notification-hubs/notification-hubs-push-notification-registration-management"},
		{"Microsoft.Devices/IotHubs", data, "", "iot-hub/iot-hub-devguide-identity-registry"},
		{"Microsoft.DigitalTwins/digitalTwinsInstances", data, "", "digital-twins/concepts-twins-graph"},
		{"Microsoft.IoTCentral/iotApps", data, "", "iot-central/core/overview-iot-central"},
		{"Microsoft.DataLakeStore/accounts", data, "", "data-lake-store/data-lake-store-overview"},
		{"Microsoft.HealthcareApis/services", data, "", "healthcare-apis/healthcare-apis-overview"},
		{"Microsoft.RecoveryServices/vaults", data, "recover its soft-deleted items first", backupSource},
		{"Microsoft.DataProtection/backupVaults", data, "recover its soft-deleted items first", backupSource},
		{BackupInstanceType, data, "run az dataprotection backup-instance deleted-backup-instance undelete", backupSource},
		{"Microsoft.RecoveryServices/vaults/backupFabrics/protectionContainers/protectedItems", data, "run az backup protection undelete", backupSource},
		{"Microsoft.Web/sites", data, "run az webapp deleted restore within 30 days", "app-service/app-service-undelete"},
		{"Microsoft.Web/sites/slots", data, "run az webapp deleted restore within 30 days", "app-service/app-service-undelete"},
		{"Microsoft.Web/staticSites", data, "deploy its content again", "static-web-apps/overview"},
		{"Microsoft.Automation/automationAccounts", data, "run the restore of deleted accounts in the portal within 30 days", "automation/delete-account"},
		{"Microsoft.DataFactory/factories", data, "", "data-factory/introduction: pipelines that are authored live"},
		{"Microsoft.Network/dnsZones", data, "", "dns/dns-zones-records: records go with the zone, and a new zone has other name servers"},
		{"Microsoft.Network/privateDnsZones", data, "", "dns/private-dns-privatednszone: records go with the zone"},

		{"Microsoft.ManagedIdentity/userAssignedIdentities", identity, "", managedSource},
		{"Microsoft.AAD/domainServices", identity, "", "entra/identity/domain-services/overview"},
		{"Microsoft.AzureActiveDirectory/b2cDirectories", identity, "", "active-directory-b2c/tutorial-delete-tenant"},

		{RoleAssignmentType, rights, "", accessSource},
		{RoleDefinitionType, rights, "", accessSource},
		{"Microsoft.Authorization/policyExemptions", rights, "", "governance/policy/concepts/exemption-structure"},
		{"Microsoft.ManagedIdentity/userAssignedIdentities/federatedIdentityCredentials", rights, "", "entra/workload-id/workload-identity-federation"},
		{"Microsoft.KeyVault/vaults/accessPolicies", rights, "", "key-vault/general/assign-access-policy"},
		{"Microsoft.ManagedServices/registrationAssignments", rights, "", "lighthouse/how-to/remove-delegation"},
		{"Microsoft.Kusto/clusters/principalAssignments", rights, "", "data-explorer/manage-cluster-permissions"},
		{"Microsoft.Kusto/clusters/databases/principalAssignments", rights, "", "data-explorer/manage-database-permissions"},

		{"Microsoft.Compute/sshPublicKeys", credentials, "", "virtual-machines/ssh-keys-portal: Azure keeps no copy of a private key"},
		{"Microsoft.ContainerRegistry/registries/tokens", credentials, "", "container-registry/container-registry-token-based-repository-permissions"},
		{"Microsoft.EventHub/namespaces/authorizationRules", credentials, "", "event-hubs/authorize-access-shared-access-signature"},
		{"Microsoft.ServiceBus/namespaces/AuthorizationRules", credentials, "", "service-bus-messaging/service-bus-sas"},
		{"Microsoft.Network/expressRouteCircuits", credentials, "", "expressroute/expressroute-circuit-peerings: the provider has the service key of the old circuit"},

		{SubscriptionAliasType, money, "", "cost-management-billing/manage/programmatically-create-subscription: an alias creates a subscription"},
		{"Microsoft.Capacity/reservationOrders", money, "", "cost-management-billing/reservations/prepare-buy-reservation"},
		{"Microsoft.BillingBenefits/savingsPlanOrderAliases", money, "", "cost-management-billing/savings-plan/buy-savings-plan"},
		{"Microsoft.DomainRegistration/domains", money, "", "app-service/manage-custom-dns-buy-domain"},
		{"Microsoft.CertificateRegistration/certificateOrders", money, "", "app-service/configure-ssl-app-service-certificate"},
		{"Microsoft.SaaS/resources", money, "", "partner-center/marketplace-offers/pc-saas-fulfillment-life-cycle"},
		{"Microsoft.Network/ExpressRoutePorts", money, "", "expressroute/expressroute-erdirect-about"},

		{"Microsoft.Resources/deploymentScripts", expires, "", "rest/api/resources/deployment-scripts/create: retentionInterval"},
		{"Microsoft.Resources/deployments", runs, "", "azure-resource-manager/templates/deployment-history-deletions"},
		{"Microsoft.Resources/deploymentStacks", runs, "", "azure-resource-manager/bicep/deployment-stacks"},
		{"Microsoft.ContainerRegistry/registries/taskRuns", runs, "", "container-registry/container-registry-tasks-overview"},
		{"Microsoft.Compute/virtualMachines/runCommands", runs, "", "virtual-machines/linux/run-command-managed"},
		{"Microsoft.Authorization/roleAssignmentScheduleRequests", expires, "", "entra/id-governance/privileged-identity-management/pim-resource-roles-assign-roles"},
		{"Microsoft.Authorization/roleEligibilityScheduleRequests", expires, "", "entra/id-governance/privileged-identity-management/pim-resource-roles-assign-roles"},
		{"Microsoft.EventGrid/eventSubscriptions", expires, "", shapeSource + ": expirationTimeUtc"},
	}
}
