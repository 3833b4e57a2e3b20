package armsim

import "net/http"

// metadata describes the cloud, for clients that are given a host name only
// (/metadata/endpoints, without a token): this server is all of it.
func (s *Simulator) metadata(q *request) *answer {
	if q.r.Method != http.MethodGet {
		return errMethod(q.r.Method)
	}
	origin := q.origin()
	audience := s.options.Audience
	if audience == "" {
		audience = origin
	}
	tenant := s.options.TenantID
	if tenant == "" {
		tenant = "common"
	}
	return newAnswer(http.StatusOK, object{
		"name": "armsim", "portal": origin, "resourceManager": origin, "graph": origin, "graphAudience": origin,
		"microsoftGraphResourceId": origin, "batch": origin, "media": origin, "sqlManagement": origin, "vmImageAliasDoc": origin,
		"activeDirectoryDataLake": origin, "appInsightsResourceId": origin, "appInsightsTelemetryChannelResourceId": origin,
		"attestationResourceId": origin, "synapseAnalyticsResourceId": origin, "logAnalyticsResourceId": origin, "ossrDbmsResourceId": origin,
		"authentication": object{
			"loginEndpoint": origin, "audiences": []any{audience}, "tenant": tenant, "identityProvider": "AAD",
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
