package armsim

import "net/http"

// otherRows are shapes that no example uses and tests of long-running operations
// and of secrets do (recorded for these providers).
func otherRows() []typeRule {
	var rows []typeRule
	for _, pattern := range []string{ // settings that live and die with their parent
		"microsoft.documentdb/*/throughputsettings", "microsoft.sql/servers/*/transparentdataencryption", "microsoft.web/sites/config",
		"microsoft.sql/servers/connectionpolicies", "*/advancedthreatprotectionsettings", "microsoft.sql/servers/securityalertpolicies",
		"microsoft.eventhub/namespaces/networkrulesets", "microsoft.servicebus/namespaces/networkrulesets",
	} {
		rows = append(rows, typeRule{pattern: pattern, noDelete: true, etag: true})
	}
	for _, pattern := range []string{"microsoft.apimanagement/service/products/apis", "microsoft.apimanagement/service/products/groups"} {
		rows = append(rows, typeRule{pattern: pattern, noGet: true, noState: true})
	}
	return append(rows, []typeRule{{
		pattern: "microsoft.keyvault/vaults",
		create:  OperationSpec{Shape: ShapeState, Status: http.StatusOK, Seconds: 5, State: "RegisteringDns"},
	}, {
		pattern: "microsoft.notificationhubs/namespaces/*authorizationrules",
		secrets: []string{"primaryKey", "secondaryKey"},
	}, {
		pattern: "microsoft.insights/components",
		secrets: []string{"InstrumentationKey", "ConnectionString"},
	}, {
		pattern: "microsoft.resources/deployments", noLocation: true,
	}}...)
}
