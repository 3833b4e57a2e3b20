package armsim

import "strings"

// webRows returns the rows of sites and their settings. The DELETE of the last site of a
// plan deletes the plan too, unless the request says deleteEmptyServerFarm=false
// (learn.microsoft.com, Web Apps - Delete). Settings with secrets have no GET and no
// DELETE: an action returns them (learn.microsoft.com, Web Apps - List Application
// Settings; Static Sites - List Static Site App Settings; Azure/azure-powershell#4247).
func webRows() []typeRule {
	secret := []string{
		"appsettings", "authsettings", "azurestorageaccounts", "backup", "connectionstrings", "metadata", "publishingcredentials", "pushsettings",
	}
	settings := func(pattern string) typeRule {
		return typeRule{typePattern: pattern, noDelete: true, noState: true, readAction: "list", readNames: secret}
	}
	static := typeRule{
		typePattern: "microsoft.web/staticsites/config", noDelete: true, noState: true,
		readAction: "list", readNames: []string{"appsettings", "functionappsettings"}, readOfOwner: true,
	}
	return []typeRule{
		{typePattern: "microsoft.web/sites", etag: true, onDeleted: deleteEmptyPlan},
		settings("microsoft.web/sites/config"), settings("microsoft.web/sites/slots/config"), static,
	}
}

func deleteEmptyPlan(s *Simulator, site *resource) {
	plan := text(site.body, "properties.serverFarmId")
	if plan == "" || strings.EqualFold(site.deleteQuery.Get("deleteEmptyServerFarm"), "false") {
		return
	}
	for _, other := range s.resources {
		if strings.EqualFold(text(other.body, "properties.serverFarmId"), plan) {
			return
		}
	}
	s.remove(plan)
}

// deleteWithMachine deletes the disks, network interfaces and addresses of a deleted
// machine that its body marks with deleteOption Delete (learn.microsoft.com, Delete a VM
// and attached resources).
func deleteWithMachine(s *Simulator, machine *resource) {
	for _, id := range markedForDelete(machine.body) {
		s.remove(id)
	}
}

// markedForDelete returns the IDs in a body beside a deleteOption Delete.
func markedForDelete(value any) []string {
	var ids []string
	switch at := value.(type) {
	case object:
		id := text(at, "managedDisk.id")
		if id == "" {
			id = text(at, "id")
		}
		option := text(at, "deleteOption")
		if option == "" {
			option = text(at, "properties.deleteOption")
		}
		if id != "" && strings.EqualFold(option, "Delete") {
			ids = append(ids, id)
		}
		for _, member := range at {
			ids = append(ids, markedForDelete(member)...)
		}
	case []any:
		for _, item := range at {
			ids = append(ids, markedForDelete(item)...)
		}
	}
	return ids
}
