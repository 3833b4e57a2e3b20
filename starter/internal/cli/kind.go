package cli

import (
	"strings"
	"unicode"

	"github.com/armature-io/armature/resource"
)

// products has Microsoft's product for provider namespaces with an unclear or
// misleading name. An empty name adds nothing: the type's name is enough.
// Source: https://learn.microsoft.com/azure/azure-resource-manager/management/azure-services-resource-providers
var products = map[string]string{
	"microsoft.alertsmanagement":        "alert",
	"microsoft.apimanagement":           "API Management",
	"microsoft.appconfiguration":        "App Configuration",
	"microsoft.authorization":           "",
	"microsoft.cognitiveservices":       "Azure AI services",
	"microsoft.compute":                 "",
	"microsoft.containerinstance":       "",
	"microsoft.containerservice":        "AKS",
	"microsoft.datafactory":             "Data Factory",
	"microsoft.dbformariadb":            "MariaDB",
	"microsoft.dbformysql":              "MySQL",
	"microsoft.dbforpostgresql":         "PostgreSQL",
	"microsoft.desktopvirtualization":   "Virtual Desktop",
	"microsoft.documentdb":              "Cosmos DB",
	"microsoft.eventgrid":               "Event Grid",
	"microsoft.eventhub":                "Event Hubs",
	"microsoft.keyvault":                "key vault",
	"microsoft.machinelearningservices": "Machine Learning",
	"microsoft.managedidentity":         "",
	"microsoft.network":                 "",
	"microsoft.notificationhubs":        "Notification Hubs",
	"microsoft.operationalinsights":     "Log Analytics",
	"microsoft.recoveryservices":        "Recovery Services",
	"microsoft.search":                  "AI Search",
	"microsoft.servicebus":              "Service Bus",
	"microsoft.signalrservice":          "SignalR",
	"microsoft.sql":                     "SQL",
	"microsoft.storagesync":             "Azure File Sync",
	"microsoft.web":                     "App Service",
}

// typeNames has the types for which Microsoft's documentation uses another name than
// the rule gives.
var typeNames = map[string]string{
	"microsoft.app/containerapps":                           "container app",
	"microsoft.app/managedenvironments":                     "Container Apps environment",
	"microsoft.appconfiguration/configurationstores":        "App Configuration store",
	"microsoft.cache/redis":                                 "Redis cache",
	"microsoft.cache/redisenterprise":                       "Redis Enterprise cluster",
	"microsoft.containerregistry/registries":                "container registry",
	"microsoft.containerservice/managedclusters":            "AKS cluster",
	"microsoft.containerservice/managedclusters/agentpools": "AKS agent pool",
	"microsoft.documentdb/databaseaccounts":                 "Cosmos DB account",
	"microsoft.eventhub/namespaces/eventhubs":               "event hub",
	"microsoft.insights/components":                         "Application Insights",
	"microsoft.insights/diagnosticsettings":                 "diagnostic setting",
	"microsoft.keyvault/managedhsms":                        "managed HSM",
	"microsoft.keyvault/vaults":                             "key vault",
	"microsoft.managedidentity/userassignedidentities":      "managed identity",
	"microsoft.sql/managedinstances":                        "SQL managed instance",
	"microsoft.web/serverfarms":                             "App Service plan",
	"microsoft.web/sites":                                   "App Service app",
}

// Kind returns the display name of a resource type: "kusto cluster", "PostgreSQL
// flexible server". The provider is left out if the type's own name includes it:
// "virtual network", "resource group". A type whose last segment is not a plural is
// returned as written, because every other spelling would hide a typo
// (Microsoft.Storage/storageAccount).
func Kind(id resource.ID) string {
	full := id.Type()
	if name, known := typeNames[strings.ToLower(full)]; known {
		return name
	}
	last := full[strings.LastIndex(full, "/")+1:]
	words := splitWords(last)
	name := singular(words)
	if name == words {
		return full
	}
	product, known := products[strings.ToLower(id.Provider())]
	if !known {
		product = strings.ToLower(id.Provider()[strings.LastIndex(id.Provider(), ".")+1:])
	}
	if product == "" || strings.Contains(name, strings.ToLower(product)) || strings.Contains(strings.ToLower(product), strings.Fields(name)[0]) {
		return name
	}
	return product + " " + name
}

// KindAndName returns the type's name and the short name: "kusto cluster adx".
func KindAndName(id resource.ID) string { return Kind(id) + " " + id.Short() }

// splitWords splits camelCase into lower-case words.
func splitWords(name string) string {
	var b strings.Builder
	runes := []rune(name)
	for i, r := range runes {
		if i > 0 && unicode.IsUpper(r) && (!unicode.IsUpper(runes[i-1]) || i+1 < len(runes) && unicode.IsLower(runes[i+1])) {
			b.WriteByte(' ')
		}
		b.WriteRune(unicode.ToLower(r))
	}
	return b.String()
}

// singular returns the singular of the last word of an English plural, and any
// other text unchanged.
func singular(words string) string {
	for _, rule := range []struct{ end, with string }{
		{"ies", "y"}, {"sses", "ss"}, {"xes", "x"}, {"ss", "ss"}, {"is", "is"}, {"us", "us"}, {"s", ""},
	} {
		if strings.HasSuffix(words, rule.end) {
			return strings.TrimSuffix(words, rule.end) + rule.with
		}
	}
	return words
}
