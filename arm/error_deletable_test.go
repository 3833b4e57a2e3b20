package arm

import "testing"

func TestNotDeletable(t *testing.T) {
	cases := map[string]struct {
		reason       string
		given        Error
		notDeletable bool
		inUse        bool
		class        Class
	}{
		"NoDelete":      {"recorded: a type without DELETE", Error{Status: 405, Code: "MethodNotAllowed"}, true, false, ClassVerySlow},
		"Bare405":       {"the status decides", Error{Status: 405}, true, false, ClassVerySlow},
		"NotSupported":  {"the words of the code decide", Error{Status: 400, Code: "ThingDeleteNotSupported"}, true, false, ClassVerySlow},
		"LastPool":      {"the code alone would be a conflict", Error{Status: 400, Code: "OperationNotAllowed", Message: "There has to be at least one system agent pool."}, true, false, ClassConflict},
		"MessageOf500":  {"the message of a server failure does not decide", Error{Status: 500, Message: "at least one"}, false, false, ClassSlow},
		"Subnet":        {"recorded: another resource uses it", Error{Status: 400, Code: "InUseSubnetCannotBeDeleted", Message: "at least one resource uses it"}, false, true, ClassSlow},
		"PublicIP":      {"recorded", Error{Status: 400, Code: "PublicIPAddressCannotBeDeleted"}, false, true, ClassSlow},
		"Nested":        {"recorded: it contains other resources", Error{Status: 409, Code: "CannotDeleteResource"}, false, true, ClassSlow},
		"NestedCode":    {"the nested code is specific", Error{Status: 400, Code: "BadRequest", Details: []Detail{{Code: "NetworkInUse"}}}, false, true, ClassSlow},
		"Conflict":      {"an operation is in progress", Error{Status: 409, Code: "AnotherOperationInProgress"}, false, false, ClassConflict},
		"StateConflict": {"a transient state has the same code as the last pool", Error{Status: 409, Code: "OperationNotAllowed", Message: "The machine is being moved."}, false, false, ClassConflict},
		"Locked":        {"a lock is intentional", Error{Status: 409, Code: "ScopeLocked", Message: "The scope cannot perform delete operation because following scope(s) are locked"}, false, false, ClassVerySlow},
		"Forbidden":     {"a permission is missing", Error{Status: 403, Code: "AuthorizationFailed"}, false, false, ClassSlow},
		"GroupBlocked":  {"a resource in the group blocks the delete", Error{Status: 409, Code: "ResourceGroupDeletionBlocked"}, false, false, ClassConflict},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if got := tc.given.NotDeletable(); got != tc.notDeletable {
				t.Errorf("%s: not deletable %t", tc.reason, got)
			}
			if got := tc.given.InUse(); got != tc.inUse {
				t.Errorf("%s: in use %t", tc.reason, got)
			}
			if got := tc.given.Row().Class; got != tc.class {
				t.Errorf("%s: class %s, want %s", tc.reason, got, tc.class)
			}
		})
	}
}
