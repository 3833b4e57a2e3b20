package armsim

import (
	"slices"
	"strings"
)

// omittedRow names members of a type that a PUT keeps although its body omits them.
type omittedRow struct {
	typePattern string   // glob over the lower-cased type
	paths       []string // a last step * is every member
}

// omittedRows returns the table. A member without a row is gone after a PUT that omits it.
// Sources of the rule, and of the types that are known for it:
//
//   - Microsoft.Network: Azure/terraform-provider-azapi#905 (a subnet loses its security
//     group and route table), Azure/azure-sdk-for-python#28350.
//   - Microsoft.Web/sites/config: "Replaces the application settings of an app"
//     (learn.microsoft.com, Web Apps - Update Application Settings).
//   - Microsoft.Compute: a list that is sent replaces the data disks
//     (Azure/azure-sdk-for-node#3606).
//   - Microsoft.Web/sites: the members of siteConfig that a body omits, or has as null, stay
//     (az webapp update sends back what the GET shows, where nearly all are null); a list
//     that it states is the whole list.
//   - Microsoft.Authorization/roleDefinitions: the permissions come from the body
//     (learn.microsoft.com, Role Definitions - Create Or Update).
//
// Sources of the rows: the descriptions of the properties at learn.microsoft.com, by
// which they are needed at the creation only (Virtual Machines, Servers and Flexible
// Servers, Managed Clusters, Agent Pools - Create Or Update), and the table in
// check_change_table.go of those that cannot change afterwards.
func omittedRows() []omittedRow {
	return []omittedRow{
		{machineType, []string{"properties.osProfile", "properties.osProfile.customData", "properties.osProfile.adminUsername", "properties.osProfile.adminPassword",
			"properties.storageProfile.osDisk", "properties.storageProfile.osDisk.diskSizeGB", "properties.storageProfile.imageReference"}},
		{"microsoft.compute/virtualmachinescalesets", []string{"properties.virtualMachineProfile.osProfile.adminPassword"}},
		{aksType, []string{"properties.kubernetesVersion", "properties.dnsPrefix", "properties.networkProfile.serviceCidr", "properties.windowsProfile.adminPassword"}},
		{aksType + "/agentpools", []string{"properties.orchestratorVersion", "properties.count", "properties.vmSize", "properties.osDiskSizeGB", "properties.osType"}},
		{"microsoft.web/sites", []string{"properties.siteConfig.*"}},
		{"microsoft.web/sites/slots", []string{"properties.siteConfig.*"}},
		{"microsoft.storage/storageaccounts", []string{"kind", "properties.isHnsEnabled", "properties.isNfsV3Enabled", "properties.encryption.requireInfrastructureEncryption"}},
		{"microsoft.keyvault/vaults", []string{"properties.enablePurgeProtection"}},
		{"microsoft.eventhub/namespaces/eventhubs", []string{"properties.partitionCount"}},
		{"microsoft.sql/servers", []string{"properties.administratorLogin", "properties.administratorLoginPassword"}},
		{"microsoft.sql/managedinstances", []string{"properties.administratorLogin", "properties.administratorLoginPassword"}},
		{"microsoft.dbfor*sql/flexibleservers", []string{"properties.administratorLogin", "properties.administratorLoginPassword",
			"properties.availabilityZone", "properties.storage.storageSizeGB"}},
	}
}

// keepOmitted adds to a body what the server keeps of the stored one.
func keepOmitted(resourceType string, body, stored object) {
	for _, row := range omittedRows() {
		if !globMatch(row.typePattern, resourceType) {
			continue
		}
		for _, path := range row.paths {
			names := strings.Split(path, ".")
			if last := len(names) - 1; names[last] == "*" {
				members, _ := memberAt(stored, names[:last]).(object)
				for name := range members {
					keepMember(body, stored, append(slices.Clone(names[:last]), name))
				}
				continue
			}
			if memberAt(stored, names) != nil {
				keepMember(body, stored, names)
			}
		}
	}
}

func keepMember(body, stored object, path []string) {
	old, known := stored[path[0]]
	if !known {
		return
	}
	if len(path) == 1 {
		setDefault(body, path[0], clone(old))
		return
	}
	before, isObject := old.(object)
	if !isObject {
		return
	}
	setDefault(body, path[0], object{})
	if below, ok := body[path[0]].(object); ok {
		keepMember(below, before, path[1:])
	}
}
