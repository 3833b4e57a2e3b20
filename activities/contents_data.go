package activities

import (
	"slices"
	"strings"

	"github.com/armature-io/armature/extensions"
	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/types"
)

// losesNoData are types that the table of recreations has as data, but whose DELETE
// deletes no data that the look at their contents does not show; type in lower case, then
// the page at learn.microsoft.com/azure, or the fact, behind it.
var losesNoData = map[string]string{
	"microsoft.keyvault/vaults":                                                      "key-vault/general/about-keys-secrets-certificates: ARM lists keys and secrets, and a certificate is both",
	"microsoft.keyvault/managedhsms":                                                 "key-vault/managed-hsm/overview: keys, which ARM lists",
	"microsoft.apimanagement/service":                                                "api-management/api-management-key-concepts: APIs, products and users are child resources",
	"microsoft.apimanagement/service/caches":                                         "api-management/api-management-howto-cache-external: the connection to a cache",
	"microsoft.automation/automationaccounts":                                        "automation/overview: runbooks, modules and variables are child resources",
	"microsoft.datafactory/factories":                                                "data-factory/concepts-pipelines-activities: its contents are child resources",
	"microsoft.datafactory/factories/datasets":                                       "data-factory/concepts-datasets-linked-services: a view of data elsewhere",
	"microsoft.datashare/accounts/shares/datasets":                                   "data-share/terminology: a reference to data elsewhere",
	"microsoft.azurearcdata/sqlserverinstances/databases":                            "sql-server/azure-arc/view-databases: a projection of a database elsewhere",
	"microsoft.chaos/experiments":                                                    "chaos-studio/chaos-studio-chaos-experiments: a definition",
	"microsoft.desktopvirtualization/workspaces":                                     "virtual-desktop/terminology: a grouping of application groups",
	"microsoft.eventhub/clusters":                                                    "event-hubs/event-hubs-dedicated-overview: capacity; a cluster with namespaces is not deleted",
	"microsoft.operationalinsights/clusters":                                         "azure-monitor/logs/logs-dedicated-clusters: workspaces keep their data",
	"microsoft.relay/clusters":                                                       "published shape: capacity",
	"microsoft.sql/virtualclusters":                                                  "azure-sql/managed-instance/virtual-cluster-architecture: made and removed with its instances",
	"microsoft.streamanalytics/clusters":                                             "stream-analytics/cluster-overview: capacity for jobs",
	"microsoft.recoveryservices/vaults/backupconfig":                                 "published shape: settings",
	"microsoft.storage/storageaccounts/blobservices/containers/immutabilitypolicies": "storage/blobs/immutable-policy-configure-container-scope: a policy",
	"microsoft.network/dnszones":                                                     "dns/dns-zones-records: record sets are child resources",
	"microsoft.network/privatednszones":                                              "dns/private-dns-privatednszone: record sets are child resources",
	"microsoft.compute/galleries":                                                    "virtual-machines/azure-compute-gallery: images are child resources",
	"microsoft.compute/virtualmachines":                                              "virtual-machines/delete: disks stay unless deleteOption says otherwise, which is looked at",
	"microsoft.recoveryservices/vaults":                                              "backup/backup-azure-delete-vault: Azure refuses to delete a vault with backups",
	"microsoft.dataprotection/backupvaults":                                          "backup/create-manage-backup-vault: Azure refuses to delete a vault with backup instances",
	"microsoft.insights/components":                                                  "azure-monitor/app/create-workspace-resource: telemetry is in the workspace",
	"microsoft.web/sites":                                                            "app-service/app-service-undelete: content is deployed, and kept for 30 days",
	"microsoft.web/sites/slots":                                                      "app-service/app-service-undelete: content is deployed, and kept for 30 days",
	"microsoft.web/staticsites":                                                      "static-web-apps/overview: content is built from a repository",
}

// dataIsUnlisted are types that hold data of their own beside the data in their children;
// type in lower case, then the source as above.
var dataIsUnlisted = map[string]string{
	"microsoft.operationalinsights/workspaces":                  "azure-monitor/logs/manage-logs-tables: every workspace has tables of Azure's own, with data",
	"microsoft.synapse/workspaces":                              "synapse-analytics/sql/on-demand-workspace-overview: databases of the serverless pool",
	"microsoft.netapp/netappaccounts/capacitypools/volumes":     "azure-netapp-files/azure-netapp-files-introduction: files",
	"microsoft.machinelearningservices/workspaces":              "machine-learning/concept-workspace: runs and metrics",
	"microsoft.cache/redisenterprise/databases":                 "redis/how-to-persistence: the data of the cache",
	"microsoft.sql/servers/databases":                           "azure-sql/database: rows",
	"microsoft.sql/managedinstances/databases":                  "azure-sql/managed-instance: rows",
	"microsoft.storage/storageaccounts/blobservices/containers": "storage/blobs/storage-blobs-introduction: blobs",
	"microsoft.storage/storageaccounts/fileservices/shares":     "storage/files/storage-files-introduction: files",
}

// vaultItems are the data of a vault, although the table of recreations has them as
// credentials; type in lower case.
var vaultItems = []string{"microsoft.keyvault/vaults/secrets", "microsoft.keyvault/vaults/keys", "microsoft.keyvault/managedhsms/keys"}

// copies are the last parts of types whose items are copies of the data of their parent:
// listing them does not show the data itself.
var copies = []string{"snapshots", "backups", "restorepoints", "restorepointcollections", "images"}

// holdsUnlistedData reports whether a resource of a type holds data that no list of ARM
// shows: a type that is not recreated because it held data, unless its data is in child
// resources, which are looked at.
func (a *Activities) holdsUnlistedData(resourceType string) bool {
	key := strings.ToLower(resourceType)
	if _, listed := losesNoData[key]; listed || !a.holdsData(resourceType) {
		return false
	}
	if _, unlisted := dataIsUnlisted[key]; unlisted {
		return true
	}
	return !a.hasDataChildren(resourceType, 0)
}

// holdsData reports whether a resource of a type, or what is in it, is data.
func (a *Activities) holdsData(resourceType string) bool {
	if _, unlisted := dataIsUnlisted[strings.ToLower(resourceType)]; unlisted {
		return true
	}
	known := a.Registry.Recreation(resourceType)
	return known.Default == resource.RecreateNever && known.Loss == extensions.LossData
}

// mayHoldData reports whether a DELETE of a resource of a type may delete data, in it or
// in its children.
func (a *Activities) mayHoldData(resourceType string) bool {
	_, none := losesNoData[strings.ToLower(resourceType)]
	return a.holdsData(resourceType) && !none || isVaultItem(resourceType) || a.hasDataChildren(resourceType, 0)
}

// hasDataChildren reports whether a type has collections of data, also in its children
// with fixed names.
func (a *Activities) hasDataChildren(resourceType string, depth int) bool {
	return slices.ContainsFunc(types.Children(resourceType), func(child types.Child) bool {
		segment := strings.ToLower(child.Type[strings.LastIndex(child.Type, "/")+1:])
		switch {
		case !child.Writable || slices.Contains(copies, segment) || madeByParent(child.Type):
			return false
		case len(child.Names) > 0 && !child.Open:
			return depth < maxContentsDepth && a.hasDataChildren(child.Type, depth+1)
		}
		return a.holdsData(child.Type) || isVaultItem(child.Type)
	})
}

func isVaultItem(resourceType string) bool {
	return slices.Contains(vaultItems, strings.ToLower(resourceType))
}
