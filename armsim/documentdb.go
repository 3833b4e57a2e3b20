package armsim

import "net/http"

// documentRows: Azure Cosmos DB, and hosted OpenShift clusters. Shapes by the
// published API definitions; durations are round numbers.
func documentRows() []typeRule {
	slow := func(pattern string, create, update, remove float64) typeRule {
		return typeRule{
			pattern: pattern,
			create:  OperationSpec{Shape: ShapeBoth, Status: http.StatusOK, Seconds: create},
			update:  OperationSpec{Shape: ShapeBoth, Status: http.StatusOK, Seconds: update},
			delete:  OperationSpec{Shape: ShapeBoth, Seconds: remove},
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
		pattern: "microsoft.redhatopenshift/*clusters",
		create:  OperationSpec{Shape: ShapeBoth, Seconds: 600},
		update:  OperationSpec{Shape: ShapeBoth, Seconds: 60},
		delete:  OperationSpec{Shape: ShapeBoth, Seconds: 300},
	}
	return []typeRule{
		account, slow("microsoft.documentdb/databaseaccounts/*databases", 5, 5, 5),
		slow("microsoft.documentdb/cassandraclusters", 300, 60, 120),
		slow("microsoft.documentdb/cassandraclusters/datacenters", 600, 120, 300), openShift,
	}
}
