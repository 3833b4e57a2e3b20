package armsim

import "net/http"

// otherRows are shapes that no example uses and tests of long-running operations
// and of secrets do (recorded for these providers).
func otherRows() []typeRule {
	return []typeRule{{
		pattern: "microsoft.dbforpostgresql/flexibleservers*",
		create: OperationSpec{Shape: ShapeBoth, Status: http.StatusAccepted, Seconds: 240, RetryAfter: []float64{60, 15},
			HiddenUntilDone: true, EmptyBody: true},
		update: OperationSpec{Shape: ShapeBoth, Status: http.StatusAccepted, Seconds: 60, RetryAfter: []float64{15}, EmptyBody: true},
		delete: OperationSpec{Shape: ShapeBoth, Seconds: 30, RetryAfter: []float64{15}},
	}, {
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
	}}
}
