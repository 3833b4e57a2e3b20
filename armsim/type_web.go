package armsim

import (
	"maps"
	"slices"
	"strings"
)

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
		return typeRule{
			typePattern: pattern, noDelete: true, noState: true, readAction: "list", readNames: secret,
			withOwner: showSiteConfig, onDone: changeSite,
		}
	}
	static := typeRule{
		typePattern: "microsoft.web/staticsites/config", noDelete: true, noState: true,
		readAction: "list", readNames: []string{"appsettings", "functionappsettings"}, readOfOwner: true,
	}
	return []typeRule{
		{typePattern: "microsoft.web/sites", etag: true, onRead: hideSiteConfig, onDeleted: deleteEmptyPlan},
		{typePattern: "microsoft.web/sites/slots", etag: true, onRead: hideSiteConfig},
		settings("microsoft.web/sites/config"), settings("microsoft.web/sites/slots/config"), static,
	}
}

// siteSettings are the members of siteConfig that only an action returns, by the name of the
// child that has it, in lower case. The action returns them by their names; value is the
// member of an item with the value, "" if siteConfig has an object too.
func siteSettings() map[string]struct{ member, value string } {
	return map[string]struct{ member, value string }{
		"appsettings":          {"appSettings", "value"},
		"connectionstrings":    {"connectionStrings", "connectionString"},
		"azurestorageaccounts": {"azureStorageAccounts", ""},
	}
}

// shownSiteConfig are the members of siteConfig that a GET of a site shows; it has null for
// the others, and config/web has them (Azure/azure-powershell#27904,
// Azure/azure-sdk-for-js#26876).
var shownSiteConfig = []string{
	"numberOfWorkers", "linuxFxVersion", "windowsFxVersion", "acrUseManagedIdentityCreds", "acrUserManagedIdentityID", "alwaysOn", "http20Enabled",
	"functionAppScaleLimit", "minimumElasticInstanceCount",
}

func hideSiteConfig(_ *Simulator, _ *resource, body object) {
	config, isObject := properties(body)["siteConfig"].(object)
	if !isObject {
		return
	}
	for name := range config {
		if !containsFold(shownSiteConfig, name) {
			config[name] = nil
		}
	}
}

// siteConfig returns the stored configuration of the site that owns a child.
func (s *Simulator) siteConfig(childID string) object {
	id, _ := splitType(childID)
	id, _ = splitType(id)
	site := s.find(id)
	if site == nil {
		return nil
	}
	props := properties(site.body)
	if props["siteConfig"] == nil {
		props["siteConfig"] = object{}
	}
	config, _ := props["siteConfig"].(object)
	return config
}

// impliedRestriction is the rule that config/web shows after those of a user
// (learn.microsoft.com, Set up Azure App Service access restrictions).
func impliedRestriction(config object, list, action string) object {
	if own, _ := config[list].([]any); len(own) > 0 {
		action = "Deny"
	}
	if stated := text(config, list+"DefaultAction"); stated != "" {
		action = stated
	}
	return object{"ipAddress": "Any", "action": action, "priority": 2147483647, "name": action + " all", "description": action + " all access"}
}

// showSiteConfig returns what a child of a site shows of the configuration that the site
// has; nil for other children.
func showSiteConfig(s *Simulator, t target) object {
	config := s.siteConfig(t.id)
	if config == nil {
		return nil
	}
	shown := object{}
	settings, ofAction := siteSettings()[strings.ToLower(t.name())]
	switch {
	case strings.EqualFold(t.name(), "web"):
		shown = cloneObject(config)
		for _, hidden := range siteSettings() {
			shown[hidden.member] = nil
		}
		for _, list := range []string{"ipSecurityRestrictions", "scmIpSecurityRestrictions"} {
			own, _ := shown[list].([]any)
			shown[list] = append(own, impliedRestriction(config, list, "Allow"))
		}
	case !ofAction:
		return nil
	case settings.value == "":
		shown, _ = clone(config[settings.member]).(object)
	default:
		items, _ := config[settings.member].([]any)
		for _, item := range items {
			item, _ := clone(item).(object)
			name, value := text(item, "name"), item[settings.value]
			delete(item, "name")
			if delete(item, settings.value); len(item) == 0 {
				shown[name] = value
				continue
			}
			item["value"], shown[name] = value, item
		}
	}
	if shown == nil {
		shown = object{}
	}
	return object{"id": t.id, "name": t.name(), "type": t.resourceType(), "properties": shown}
}

// changeSite writes what was sent to a child of a site into the configuration of the site.
func changeSite(s *Simulator, child *resource) {
	config, sent := s.siteConfig(child.id), cloneObject(properties(child.body))
	settings, ofAction := siteSettings()[strings.ToLower(child.name)]
	delete(sent, "provisioningState")
	switch {
	case config == nil:
	case strings.EqualFold(child.name, "web"):
		for name, value := range sent {
			if value != nil {
				config[name] = value
			}
		}
	case !ofAction:
	case settings.value == "":
		config[settings.member] = sent
	default:
		items := []any{}
		for _, name := range slices.Sorted(maps.Keys(sent)) {
			item := object{"name": name, settings.value: sent[name]}
			if members, isObject := sent[name].(object); isObject {
				item[settings.value] = members["value"]
				for member, value := range members {
					if member != "value" {
						item[member] = value
					}
				}
			}
			items = append(items, item)
		}
		config[settings.member] = items
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
	s.removeWith(plan)
}

// deleteWithMachine deletes the disks, network interfaces and addresses of a deleted
// machine that its body marks with deleteOption Delete (learn.microsoft.com, Delete a VM
// and attached resources).
func deleteWithMachine(s *Simulator, machine *resource) {
	for _, id := range markedForDelete(machine.body) {
		s.removeWith(id)
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
