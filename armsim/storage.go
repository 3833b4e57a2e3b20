package armsim

import "strings"

// storageRows: a create answers 202 with Location and an empty body; updates
// and deletes are done at once.
func storageRows() []typeRule {
	return []typeRule{{
		pattern:  "microsoft.storage/storageaccounts",
		create:   OperationSpec{Shape: ShapeLocation, Seconds: 20, RetryAfter: []float64{17, 3}, EmptyBody: true},
		update:   OperationSpec{Shape: ShapeSync},
		delete:   OperationSpec{Shape: ShapeSync},
		defaults: storageDefaults,
	}, {pattern: "microsoft.storage/storageaccounts/*services", noDelete: true}, {pattern: "microsoft.storage/*"}}
}

func storageDefaults(r *resource, body object) {
	p := properties(body)
	setDefault(body, "tags", object{})
	endpoints := object{}
	for name, host := range map[string]string{"blob": "blob", "dfs": "dfs", "file": "file", "queue": "queue", "table": "table", "web": "z5.web"} {
		endpoints[name] = "https://" + r.name + "." + host + ".core.windows.net/"
	}
	p["primaryEndpoints"] = endpoints
	p["primaryLocation"], p["statusOfPrimary"] = body["location"], "available"
	p["creationTime"] = "2026-01-01T00:00:00.0000000Z"
	p["privateEndpointConnections"] = []any{}
	if sku, ok := body["sku"].(object); ok {
		sku["tier"], _, _ = strings.Cut(text(body, "sku.name"), "_")
	}
	setDefault(p, "accessTier", "Hot")
	setDefault(p, "supportsHttpsTrafficOnly", true)
	setDefault(p, "minimumTlsVersion", "TLS1_0")
	setDefault(p, "allowBlobPublicAccess", false)
	setDefault(p, "networkAcls", object{"bypass": "AzureServices", "virtualNetworkRules": []any{}, "ipRules": []any{}, "defaultAction": "Allow"})
	service := object{"keyType": "Account", "enabled": true}
	setDefault(p, "encryption", object{"keySource": "Microsoft.Storage", "services": object{"file": service, "blob": clone(service)}})
}
