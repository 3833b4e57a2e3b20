package activities

import (
	"maps"
	"slices"
	"strings"

	"github.com/armature-io/armature/resource"
)

// purgeWay is how what Azure keeps of the deleted resources of a type is purged.
type purgeWay struct {
	// parameter of the DELETE purges at once; "" where a request of its own follows.
	parameter string
	// path is the path of the kept resource below its subscription, with {location},
	// {group} and {name}; apiVersion is the version for it.
	path, apiVersion string
	// action is the POST that purges, "" for a DELETE.
	action string
	// original is the property with the ID of the deleted resource, "" where the path has
	// its group and its name.
	original string
	// source is the page at learn.microsoft.com.
	source string
}

// purgeWays returns the types whose deleted resources Azure keeps and a request purges;
// type in lower case.
func purgeWays() map[string]purgeWay {
	return map[string]purgeWay{
		"microsoft.keyvault/vaults": {
			path: "Microsoft.KeyVault/locations/{location}/deletedVaults/{name}", apiVersion: "2025-05-01", action: "purge",
			original: "vaultId", source: "rest/api/keyvault/keyvault/vaults/purge-deleted",
		},
		"microsoft.keyvault/managedhsms": {
			path: "Microsoft.KeyVault/locations/{location}/deletedManagedHSMs/{name}", apiVersion: "2025-05-01", action: "purge",
			original: "mhsmId", source: "rest/api/keyvault/managedhsm/managed-hsms/purge-deleted",
		},
		"microsoft.cognitiveservices/accounts": {
			path: "Microsoft.CognitiveServices/locations/{location}/resourceGroups/{group}/deletedAccounts/{name}", apiVersion: "2023-05-01",
			source: "rest/api/aiservices/accountmanagement/deleted-accounts/purge",
		},
		"microsoft.apimanagement/service": {
			path: "Microsoft.ApiManagement/locations/{location}/deletedservices/{name}", apiVersion: "2022-08-01",
			original: "serviceId", source: "rest/api/apimanagement/deleted-services/purge",
		},
		"microsoft.appconfiguration/configurationstores": {
			path: "Microsoft.AppConfiguration/locations/{location}/deletedConfigurationStores/{name}", apiVersion: "2024-05-01", action: "purge",
			original: "configurationStoreId", source: "rest/api/appconfiguration/configuration-stores/purge-deleted",
		},
		"microsoft.operationalinsights/workspaces":     {parameter: "force", source: "rest/api/loganalytics/workspaces/delete"},
		"microsoft.machinelearningservices/workspaces": {parameter: "forceToPurge", source: "rest/api/azureml/workspaces/delete"},
	}
}

// purgeWayOf returns how a type is purged.
func purgeWayOf(resourceType string) (purgeWay, bool) {
	way, found := purgeWays()[strings.ToLower(resourceType)]
	return way, found
}

// kept returns the ID of what Azure keeps of a deleted resource, zero if the way needs a
// location and there is none.
func (w purgeWay) kept(id resource.ID, location string) (resource.ID, error) {
	location = strings.ToLower(strings.ReplaceAll(location, " ", ""))
	path := strings.NewReplacer("{location}", location, "{group}", id.ResourceGroup(), "{name}", id.Name()).Replace(w.path)
	return resource.ParseID("/subscriptions/" + id.Subscription() + "/providers/" + path)
}

// deleteQuery returns the parameters of the DELETE of a resource: the parameters of its manifest,
// and the one that purges at once.
func deleteQuery(desired resource.Desired) map[string]string {
	query := maps.Clone(desired.Deletion.Query)
	if way, found := purgeWayOf(desired.ID.Type()); found && desired.Deletion.Purge && way.parameter != "" {
		if query == nil {
			query = map[string]string{}
		}
		query[way.parameter] = "true"
	}
	return query
}

// deletionText returns what the manifest adds to a DELETE, "" for nothing.
func deletionText(desired resource.Desired) string {
	query := deleteQuery(desired)
	if len(query) == 0 {
		return ""
	}
	parameters := make([]string, 0, len(query))
	for _, name := range slices.Sorted(maps.Keys(query)) {
		parameters = append(parameters, name+"="+query[name])
	}
	return ", sent with " + strings.Join(parameters, "&") + " (reconcile.delete)"
}
