package armsim

import (
	"cmp"
	"net/http"
	"slices"
	"strings"
)

func (s *Simulator) handleSubscription(q *request) *response {
	if q.r.Method != http.MethodGet {
		return errMethod(q.r.Method)
	}
	if q.target.kind == kindSubscription {
		return newResponse(http.StatusOK, s.subscriptionBody(q.target.subscription))
	}
	list := []any{}
	for _, id := range s.listedSubscriptions() {
		list = append(list, s.subscriptionBody(id))
	}
	return newResponse(http.StatusOK, object{"value": list, "count": object{"type": "Total", "value": len(list)}})
}

// listedSubscriptions returns the configured subscriptions; without any, those that
// contain a resource.
func (s *Simulator) listedSubscriptions() []string {
	if len(s.options.Subscriptions) > 0 {
		return s.options.Subscriptions
	}
	var ids []string
	for _, r := range s.below("") {
		if t, ok := parseID(r.id); ok && t.subscription != "" {
			ids = append(ids, strings.ToLower(t.subscription))
		}
	}
	slices.Sort(ids)
	return slices.Compact(ids)
}

func (s *Simulator) subscriptionBody(id string) object {
	tenant := cmp.Or(s.options.TenantID, "00000000-0000-0000-0000-000000000000")
	return object{
		"id": "/subscriptions/" + id, "subscriptionId": id, "tenantId": tenant, "state": "Enabled",
		"displayName": "Simulated subscription", "authorizationSource": "RoleBased", "managedByTenants": []any{},
		"subscriptionPolicies": object{"locationPlacementId": "Public_2014-09-01", "quotaId": "PayAsYouGo_2014-09-01", "spendingLimit": "Off"},
	}
}

// cloudMetadata describes the cloud to clients that know a host name only
// (/metadata/endpoints, without a token). Every endpoint is this server.
func (s *Simulator) cloudMetadata(q *request) *response {
	if q.r.Method != http.MethodGet {
		return errMethod(q.r.Method)
	}
	origin := q.origin()
	return newResponse(http.StatusOK, object{
		"name": "armsim", "portal": origin, "resourceManager": origin, "graph": origin, "graphAudience": origin,
		"microsoftGraphResourceId": origin, "batch": origin, "media": origin, "sqlManagement": origin, "vmImageAliasDoc": origin,
		"activeDirectoryDataLake": origin, "appInsightsResourceId": origin, "appInsightsTelemetryChannelResourceId": origin,
		"attestationResourceId": origin, "synapseAnalyticsResourceId": origin, "logAnalyticsResourceId": origin, "ossrDbmsResourceId": origin,
		"authentication": object{
			"loginEndpoint": origin, "audiences": []any{cmp.Or(s.options.Audience, origin)},
			"tenant": cmp.Or(s.options.TenantID, "common"), "identityProvider": "AAD",
		},
		"suffixes": object{
			"acrLoginServer": "azurecr.io", "keyVaultDns": "vault.azure.net", "storage": "core.windows.net",
			"sqlServerHostname": "database.windows.net", "mysqlServerEndpoint": "mysql.database.azure.com",
			"postgresqlServerEndpoint": "postgres.database.azure.com", "mariadbServerEndpoint": "mariadb.database.azure.com",
			"azureFrontDoorEndpointSuffix": "azurefd.net", "mhsmDns": "managedhsm.azure.net", "synapseAnalytics": "dev.azuresynapse.net",
			"storageSyncEndpointSuffix": "afs.azure.net", "attestationEndpoint": "attest.azure.net",
			"azureDataLakeStoreFileSystem": "azuredatalakestore.net", "azureDataLakeAnalyticsCatalogAndJob": "azuredatalakeanalytics.net",
		},
	})
}
