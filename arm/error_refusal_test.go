package arm

import "testing"

func TestRefusal(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		reason  string
		failure Error
		want    Refusal
	}{
		"quota of cores":        {"the code says nothing, the message does", Error{Status: 409, Code: "OperationNotAllowed", Message: "Operation could not be completed as it results in exceeding approved standardDSv3Family Cores quota."}, RefusalQuota},
		"quota code":            {"by its code", Error{Status: 400, Code: "CoresQuotaExceeded"}, RefusalQuota},
		"policy":                {"by its code", Error{Status: 403, Code: "RequestDisallowedByPolicy", Message: "Resource 'x' was disallowed by policy."}, RefusalPolicy},
		"immutable code":        {"isHnsEnabled of a storage account", Error{Status: 409, Code: "AccountPropertyCannotBeUpdated", Message: "The property 'isHnsEnabled' was specified in the input, but it cannot be updated."}, RefusalImmutable},
		"immutable message":     {"a general code of Compute", Error{Status: 409, Code: "PropertyChangeNotAllowed", Message: "Changing property 'osDisk.name' is not allowed."}, RefusalImmutable},
		"a state, no property":  {"it ends by itself", Error{Status: 409, Code: "Conflict", Message: "The server cannot be updated while it is in state Stopping."}, ""},
		"soft-deleted":          {"a name that is taken by a deleted resource is told apart", Error{Status: 409, Code: "VaultAlreadyExists", Message: "A vault with the same name already exists in deleted but recoverable state."}, RefusalSoftDeleted},
		"name taken":            {"by its code", Error{Status: 409, Code: "StorageAccountAlreadyTaken", Message: "The storage account named x is already taken."}, RefusalNameTaken},
		"operation in progress": {"a conflict that ends", Error{Status: 409, Code: "AnotherOperationInProgress", Message: "Another operation is in progress; the quota is checked after it."}, ""},
		"throttled":             {"a request quota refills by itself", Error{Status: 429, Code: "TooManyRequests", Message: "The request quota limit of the subscription is reached."}, ""},
		"service failed":        {"not the request", Error{Status: 503, Code: "ServerBusy", Message: "quota service is down"}, ""},
		"rights":                {"a 403 names no kind of refusal: rights replicate", Error{Status: 403, Code: "AuthorizationFailed"}, ""},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c.failure.classify("PUT")
			if got := c.failure.Refusal(); got != c.want {
				t.Errorf("%s: Refusal() = %q (class %s), want %q", c.reason, got, c.failure.Class, c.want)
			}
		})
	}
}

func TestNamesOperation(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		reason  string
		failure Error
		want    bool
	}{
		"operation":   {"it ends by itself", Error{Status: 409, Code: "AnotherOperationInProgress"}, true},
		"in message":  {"a general code", Error{Status: 409, Code: "Conflict", Message: "Cannot modify this site because another operation is in progress."}, true},
		"quota":       {"a conflict about a limit", Error{Status: 409, Code: "OperationNotAllowed", Message: "Operation could not be completed as it results in exceeding approved Cores quota."}, false},
		"no conflict": {"another class", Error{Status: 400, Code: "InvalidParameter", Message: "in progress"}, false},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c.failure.classify("PUT")
			if got := c.failure.NamesOperation(); got != c.want {
				t.Errorf("%s: NamesOperation() = %t (class %s), want %t", c.reason, got, c.failure.Class, c.want)
			}
		})
	}
}
