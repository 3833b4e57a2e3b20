package resource

import "testing"

func TestSecretProperty(t *testing.T) {
	cases := map[string]struct {
		reason   string
		property string
		under    bool
		label    string
		want     bool
	}{
		"Name":        {reason: "the name itself says it", property: "adminPassword", want: true},
		"Plain":       {reason: "an ordinary property", property: "displayName"},
		"ValueUnder":  {reason: "keys: [{keyName, value}] as storage accounts list them", property: "value", under: true, want: true},
		"OtherUnder":  {reason: "only the value of such an object is secret", property: "keyName", under: true},
		"ValueLabel":  {reason: "an environment variable with a telling name", property: "value", label: "DB_PASSWORD", want: true},
		"ValuePublic": {reason: "an environment variable with an ordinary name", property: "value", label: "REGION"},
		"Case":        {reason: "property names ignore case", property: "Value", under: true, want: true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if got := SecretProperty(tc.property, tc.under, tc.label); got != tc.want {
				t.Errorf("\n%s\nSecretProperty(%q, %v, %q) = %v", tc.reason, tc.property, tc.under, tc.label, got)
			}
		})
	}
}
