package armsim

import "net/http"

// otherRows returns rows that no example uses but tests of long-running operations and
// of secrets do (recorded for these providers).
func otherRows() []typeRule {
	var rows []typeRule
	for _, pattern := range []string{ // created and deleted with their parent
		"microsoft.documentdb/*/throughputsettings", "microsoft.sql/servers/*/transparentdataencryption",
		"microsoft.sql/servers/connectionpolicies", "*/advancedthreatprotectionsettings", "microsoft.sql/servers/securityalertpolicies",
		"microsoft.eventhub/namespaces/networkrulesets", "microsoft.servicebus/namespaces/networkrulesets",
	} {
		rows = append(rows, typeRule{typePattern: pattern, noDelete: true, etag: true})
	}
	for _, pattern := range []string{"microsoft.apimanagement/service/products/apis", "microsoft.apimanagement/service/products/groups"} {
		rows = append(rows, typeRule{typePattern: pattern, noGet: true, noState: true})
	}
	return append(rows, []typeRule{{
		typePattern: "microsoft.keyvault/vaults",
		create:      OperationSpec{Shape: ShapeState, Status: http.StatusOK, Seconds: 5, State: "RegisteringDns"},
	}, {
		typePattern: "microsoft.notificationhubs/namespaces/*authorizationrules",
		secrets:     []string{"primaryKey", "secondaryKey"},
	}, {
		typePattern: "microsoft.insights/components",
		secrets:     []string{"InstrumentationKey", "ConnectionString"},
	}, {
		typePattern: "microsoft.resources/deployments", noLocation: true,
	}}...)
}

// documentRows returns the rows of Azure Cosmos DB and of OpenShift clusters. Shapes
// follow the published API definitions; durations are round numbers.
func documentRows() []typeRule {
	slow := func(pattern string, create, update, remove float64) typeRule {
		return typeRule{
			typePattern: pattern,
			create:      OperationSpec{Shape: ShapeBoth, Status: http.StatusOK, Seconds: create},
			update:      OperationSpec{Shape: ShapeBoth, Status: http.StatusOK, Seconds: update},
			delete:      OperationSpec{Shape: ShapeBoth, Seconds: remove},
		}
	}
	account := slow("microsoft.documentdb/databaseaccounts", 120, 60, 120)
	account.defaults = func(r *resource, body object) {
		p := properties(body)
		p["documentEndpoint"] = "https://" + r.name + ".documents.azure.com:443/"
		setDefault(body, "kind", "GlobalDocumentDB")
		setDefault(p, "databaseAccountOfferType", "Standard")
		setDefault(p, "consistencyPolicy", object{"defaultConsistencyLevel": "Session", "maxIntervalInSeconds": 5, "maxStalenessPrefix": 100})
	}
	openShift := typeRule{
		typePattern: "microsoft.redhatopenshift/*clusters",
		create:      OperationSpec{Shape: ShapeBoth, Seconds: 600},
		update:      OperationSpec{Shape: ShapeBoth, Seconds: 60},
		delete:      OperationSpec{Shape: ShapeBoth, Seconds: 300},
	}
	return []typeRule{
		account, slow("microsoft.documentdb/databaseaccounts/*databases", 5, 5, 5),
		slow("microsoft.documentdb/cassandraclusters", 300, 60, 120),
		slow("microsoft.documentdb/cassandraclusters/datacenters", 600, 120, 300), openShift,
	}
}

// identityRows returns the rows of managed identities: synchronous, with IDs made by
// the server.
func identityRows() []typeRule {
	const identity = "microsoft.managedidentity/userassignedidentities"
	return []typeRule{{
		typePattern: identity, noState: true,
		defaults: func(r *resource, body object) {
			p := properties(body)
			p["principalId"] = r.guid
			p["tenantId"] = "00000000-0000-0000-0000-000000000000"
			p["clientId"] = r.guid[:24] + r.guid[28:36] + r.guid[24:28]
			setDefault(body, "tags", object{})
		},
	}, {
		typePattern: identity + "/*", noState: true,
	}}
}
