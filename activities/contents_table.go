package activities

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/types"
)

// madeByOtherSide reports whether children of a kind are views of resources elsewhere:
// the private endpoint, or the perimeter, of another resource stays when the view goes.
func madeByOtherSide(segment string) bool {
	return strings.EqualFold(segment, "privateEndpointConnections") || strings.EqualFold(segment, "networkSecurityPerimeterConfigurations")
}

// partsOfParents are types of children that exist only as a part of their parent, which
// makes and removes such children by itself; type in lower case, then the page at
// learn.microsoft.com/azure.
var partsOfParents = map[string]string{
	"microsoft.compute/virtualmachinescalesets/virtualmachines": "virtual-machine-scale-sets/virtual-machine-scale-sets-orchestration-modes: made from the model of the set",
	"microsoft.web/sites/functions":                             "azure-functions/functions-reference: read from the deployed content",
	"microsoft.web/sites/slots/functions":                       "azure-functions/functions-reference: read from the deployed content",
	"microsoft.web/sites/deployments":                           "app-service/deploy-best-practices: the log of its deployments",
	"microsoft.web/sites/slots/deployments":                     "app-service/deploy-best-practices: the log of its deployments",
}

// madeByParent reports whether a type of child is a part of its parent.
func madeByParent(childType string) bool { return partsOfParents[strings.ToLower(childType)] != "" }

// ownChildren are children that a service creates with the parent and that cannot exist
// without it; type in lower case, then their names. The sources
// are the pages of learn.microsoft.com that describe what a new resource contains.
var ownChildren = map[string][]string{
	// System database of a logical server.
	"microsoft.sql/servers/databases":                                           {"master"},
	"microsoft.sql/managedinstances/databases":                                  {"master", "model", "msdb", "tempdb"},
	"microsoft.dbforpostgresql/flexibleservers/databases":                       {"postgres", "azure_maintenance", "azure_sys"},
	"microsoft.dbforpostgresql/servers/databases":                               {"postgres", "azure_maintenance", "azure_sys"},
	"microsoft.dbformysql/flexibleservers/databases":                            {"information_schema", "mysql", "performance_schema", "sys"},
	"microsoft.dbformysql/servers/databases":                                    {"information_schema", "mysql", "performance_schema", "sys"},
	"microsoft.dbformariadb/servers/databases":                                  {"information_schema", "mysql", "performance_schema"},
	"microsoft.eventhub/namespaces/eventhubs/consumergroups":                    {"$default"},
	"microsoft.eventhub/namespaces/authorizationrules":                          {"rootmanagesharedaccesskey"},
	"microsoft.servicebus/namespaces/authorizationrules":                        {"rootmanagesharedaccesskey"},
	"microsoft.servicebus/namespaces/topics/subscriptions/rules":                {"$default"},
	"microsoft.relay/namespaces/authorizationrules":                             {"rootmanagesharedaccesskey"},
	"microsoft.notificationhubs/namespaces/authorizationrules":                  {"rootmanagesharedaccesskey"},
	"microsoft.notificationhubs/namespaces/notificationhubs/authorizationrules": {"defaultlistensharedaccesssignature", "defaultfullsharedaccesssignature"},
	// Records at the apex that every zone has.
	"microsoft.network/dnszones/soa":        {"@"},
	"microsoft.network/dnszones/ns":         {"@"},
	"microsoft.network/privatednszones/soa": {"@"},
	// Sample contents of a new API Management service, and its built-in groups.
	"microsoft.apimanagement/service/groups":        {"administrators", "developers", "guests"},
	"microsoft.apimanagement/service/users":         {"1"},
	"microsoft.apimanagement/service/subscriptions": {"master"},
	"microsoft.apimanagement/service/apis":          {"echo-api"},
	"microsoft.apimanagement/service/products":      {"starter", "unlimited"},
	// Built-in role definitions of a Cosmos account.
	"microsoft.documentdb/databaseaccounts/sqlroledefinitions":   {builtInReader, builtInContributor},
	"microsoft.documentdb/databaseaccounts/tableroledefinitions": {builtInReader, builtInContributor},
	// backup/backup-create-recovery-services-vault: the policies of a new vault.
	"microsoft.recoveryservices/vaults/backuppolicies":           {"defaultpolicy", "hourlylogbackup", "enhancedpolicy"},
	"microsoft.recoveryservices/vaults/replicationalertsettings": {"defaultalertsetting"},
	// iot-hub/iot-hub-devguide-messages-read-builtin
	"microsoft.devices/iothubs/eventhubendpoints/consumergroups": {"$default"},
	// azure-sql/database/transparent-data-encryption-byok-overview
	"microsoft.sql/servers/keys":          {"servicemanaged"},
	"microsoft.sql/managedinstances/keys": {"servicemanaged"},
	// virtual-wan/about-virtual-hub-routing
	"microsoft.network/virtualhubs/hubroutetables": {"defaultroutetable", "noneroutetable"},
	// synapse-analytics/security/synapse-workspace-managed-vnet, data-factory/concepts-integration-runtime
	"microsoft.synapse/workspaces/integrationruntimes": {"autoresolveintegrationruntime"},
	// machine-learning/concept-data: the datastores of a new workspace.
	"microsoft.machinelearningservices/workspaces/datastores": {"workspaceblobstore", "workspacefilestore", "workspaceworkingdirectory", "workspaceartifactstore"},
	// automation/quickstarts/create-azure-automation-account-portal: tutorial runbooks.
	"microsoft.automation/automationaccounts/runbooks": {"azureautomationtutorialwithidentity", "azureautomationtutorialwithidentitygraphical"},
	// storage/common/storage-analytics-logging, storage/blobs/storage-blob-change-feed
	"microsoft.storage/storageaccounts/blobservices/containers": {"$logs", "$blobchangefeed"},
}

// The names of the built-in role definitions of a Cosmos account.
const (
	builtInReader      = "00000000-0000-0000-0000-000000000001"
	builtInContributor = "00000000-0000-0000-0000-000000000002"
)

// ownNames are the forms of the names of children that a service creates in every
// parent; type in lower case.
func ownNames() map[string]func(parent, name string) bool {
	return map[string]func(parent, name string) bool{
		// azure-monitor/logs/manage-logs-tables: what a person creates ends with _CL, search
		// results with _SRCH and restored logs with _RST.
		"microsoft.operationalinsights/workspaces/tables": func(_, name string) bool {
			return !strings.HasSuffix(name, "_cl") && !strings.HasSuffix(name, "_srch") && !strings.HasSuffix(name, "_rst")
		},
		// The queries that solutions of Azure add: LogManagement(workspace)_General|...
		"microsoft.operationalinsights/workspaces/savedsearches": func(_, name string) bool { return strings.HasPrefix(name, "logmanagement(") },
		// app-service/app-service-web-tutorial-custom-domain: the default host name.
		"microsoft.web/sites/hostnamebindings": func(parent, name string) bool {
			return strings.HasPrefix(name, parent) && strings.HasSuffix(name, ".azurewebsites.net")
		},
		// rest/api/apimanagement/content-type: the types of others begin with c-.
		"microsoft.apimanagement/service/contenttypes": func(_, name string) bool { return !strings.HasPrefix(name, "c-") },
		// machine-learning/resource-curated-environments
		"microsoft.machinelearningservices/workspaces/environments": func(_, name string) bool { return strings.HasPrefix(name, "azureml-") },
	}
}

// builtInFlags and builtInTypes are members of the properties with which services mark
// what they created themselves: the groups of API Management (builtIn), the modules of
// Automation (isGlobal), scope maps of registries (type SystemDefined), content filters of
// OpenAI (type SystemManaged), role definitions of Cosmos accounts (type BuiltInRole). The
// names are in lower case. The source is the published shape of each type.
var (
	builtInFlags = []string{"builtin", "isbuiltin", "isglobal", "issystem", "issystemgenerated"}
	builtInTypes = []string{"builtin", "builtinrole", "system", "systemdefined", "systemmanaged"}
)

// settingsCollections are the last parts of types whose items are settings that a
// service has in every resource: their values go with the resource.
var settingsCollections = []string{"configurations", "advisors", "securityalertpolicies", "auditingsettings"}

// existsByItself reports whether a listed child was created by the service and not by a
// person: it has a published name, a row of the tables has it, or it is marked so.
func existsByItself(child types.Child, parent resource.ID, item json.RawMessage) bool {
	name := itemName(item)
	for _, published := range child.Names {
		if strings.EqualFold(published, name) {
			return true
		}
	}
	return isSetting(child.Type) || createdByService(child, parent, item)
}

// isSetting reports whether the children of a type are settings that every parent has.
func isSetting(childType string) bool {
	return slices.Contains(settingsCollections, strings.ToLower(childType[strings.LastIndex(childType, "/")+1:]))
}

// createdByService reports whether a row of the tables has a listed child, or its service
// marks it as its own.
func createdByService(child types.Child, parent resource.ID, item json.RawMessage) bool {
	name := itemName(item)
	key := strings.ToLower(child.Type)
	for _, own := range ownChildren[key] {
		if strings.EqualFold(own, name) {
			return true
		}
	}
	if own := ownNames()[key]; own != nil && own(strings.ToLower(parent.Name()), strings.ToLower(name)) {
		return true
	}
	return isBuiltIn(item)
}

// isBuiltIn reports whether the properties of a listed item mark it as created by its
// service.
func isBuiltIn(item json.RawMessage) bool {
	var found struct {
		Properties map[string]any `json:"properties"`
	}
	if json.Unmarshal(item, &found) != nil {
		return false
	}
	for name, value := range found.Properties {
		text, _ := value.(string)
		name = strings.ToLower(name)
		if value == true && slices.Contains(builtInFlags, name) || name == "type" && slices.Contains(builtInTypes, strings.ToLower(text)) {
			return true
		}
	}
	return false
}
