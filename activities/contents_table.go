package activities

import (
	"strings"

	"github.com/armature-io/armature/types"
)

// madeByOtherSide reports whether children of a kind are views of resources elsewhere:
// the private endpoint, or the perimeter, of another resource stays when the view goes.
func madeByOtherSide(segment string) bool {
	return strings.EqualFold(segment, "privateEndpointConnections") || strings.EqualFold(segment, "networkSecurityPerimeterConfigurations")
}

// madeByParent reports whether a type of child exists only as a part of its parent, which
// makes and removes such children by itself: the machines of a scale set, made from its
// model (learn.microsoft.com, "Orchestration modes for Virtual Machine Scale Sets").
func madeByParent(childType string) bool {
	return strings.EqualFold(childType, "Microsoft.Compute/virtualMachineScaleSets/virtualMachines")
}

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
	// Built-in role definitions of a Cosmos account.
	"microsoft.documentdb/databaseaccounts/sqlroledefinitions": {
		"00000000-0000-0000-0000-000000000001", "00000000-0000-0000-0000-000000000002",
	},
}

// settingsCollections are the last parts of types whose items are settings that a
// service has in every resource: their values go with the resource.
var settingsCollections = []string{"configurations", "advisors", "securityalertpolicies", "auditingsettings"}

// existsByItself reports whether a child was created by the service and not by a person:
// it has a published name, or a row of the tables has it.
func existsByItself(child types.Child, name string) bool {
	for _, published := range child.Names {
		if strings.EqualFold(published, name) {
			return true
		}
	}
	key := strings.ToLower(child.Type)
	for _, own := range ownChildren[key] {
		if strings.EqualFold(own, name) {
			return true
		}
	}
	segment := key[strings.LastIndex(key, "/")+1:]
	for _, settings := range settingsCollections {
		if segment == settings {
			return true
		}
	}
	return false
}
