package resource

import "testing"

func TestSecretProperty(t *testing.T) {
	cases := map[string]struct {
		reason   string
		property string
		under    bool
		label    string
		parent   string
		beside   string
		want     bool
	}{
		"Name":        {reason: "the name is the name of a secret", property: "adminPassword", want: true},
		"Plain":       {reason: "an ordinary property", property: "displayName"},
		"ValueUnder":  {reason: "keys: [{keyName, value}] as storage accounts list them", property: "value", under: true, want: true},
		"OtherUnder":  {reason: "only the value of such an object is secret", property: "keyName", under: true},
		"ValueLabel":  {reason: "an environment variable with the name of a secret", property: "value", label: "DB_PASSWORD", want: true},
		"ValuePublic": {reason: "an environment variable with an ordinary name", property: "value", label: "REGION"},
		"ValueKind":   {reason: "a setting that selects the sign-in method", property: "value", label: "Storage__credential"},
		"Case":        {reason: "property names ignore case", property: "Value", under: true, want: true},
		"Key":         {reason: "the key of an account", property: "key", parent: "storageaccounts", beside: "container", want: true},
		"KeyAlone":    {reason: "a credential", property: "key", parent: "credentials", want: true},
		"KeyFilter":   {reason: "an advanced filter names the field to compare", property: "key", parent: "advancedFilters", beside: "operatorType"},
		"KeySelector": {reason: "a label selector names the label", property: "key", parent: "matchExpressions", beside: "operator"},
		"KeyPair":     {reason: "the name of the value beside it", property: "key", parent: "enrichments", beside: "value"},
		"KeyUnder":    {reason: "in a list of keys nothing is plain", property: "key", under: true, parent: "accessKeys", beside: "value", want: true},
		"KeyLabel":    {reason: "only in a filter", property: "key", parent: "credentials", beside: "label", want: true},
		"IndexKeys":   {reason: "the fields of an index", property: "keys", under: true, parent: "key"},
		"Keys":        {reason: "the keys of an account", property: "keys", parent: "properties", want: true},
		"OtherKey":    {reason: "the exceptions are for the bare word", property: "accessKey", parent: "enrichments", beside: "value", want: true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			around := Surroundings{Under: tc.under, Label: tc.label, Parent: tc.parent, Has: func(member string) bool { return member == tc.beside }}
			if got := SecretProperty(tc.property, around); got != tc.want {
				t.Errorf("\n%s\nSecretProperty(%q, %+v) = %v", tc.reason, tc.property, tc, got)
			}
		})
	}
}

func TestRightsName(t *testing.T) {
	for name, want := range map[string]bool{
		"permissions": true, "accessRights": true, "dataActions": true, "Permissions": true,
		"keys": false, "": false, "transaction": false,
	} {
		if got := RightsName(name); got != want {
			t.Errorf("RightsName(%q) = %v", name, got)
		}
	}
}
