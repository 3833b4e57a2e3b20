package armsim

import "strings"

// omittedRow names members of a type that a PUT keeps although its body omits them.
type omittedRow struct {
	typePattern string // glob over the lower-cased type
	paths       []string
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
//   - Microsoft.Authorization/roleDefinitions: the permissions come from the body
//     (learn.microsoft.com, Role Definitions - Create Or Update).
//
// Sources of the rows: the descriptions of the properties at learn.microsoft.com, by
// which they are needed at the creation only (Virtual Machines, Servers and Flexible
// Servers - Create Or Update).
func omittedRows() []omittedRow {
	return []omittedRow{
		{machineType, []string{"properties.osProfile", "properties.storageProfile.osDisk", "properties.storageProfile.imageReference"}},
		{"microsoft.sql/servers", []string{"properties.administratorLogin", "properties.administratorLoginPassword"}},
		{"microsoft.dbfor*sql/flexibleservers", []string{"properties.administratorLogin", "properties.administratorLoginPassword"}},
	}
}

// keepOmitted adds to a body what the server keeps of the stored one.
func keepOmitted(resourceType string, body, stored object) {
	for _, row := range omittedRows() {
		if !globMatch(row.typePattern, resourceType) {
			continue
		}
		for _, path := range row.paths {
			keepMember(body, stored, strings.Split(path, "."))
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
