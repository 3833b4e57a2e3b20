package resource

import "testing"

// TestPlace checks which texts the names on the way to them make secret.
func TestPlace(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		reason string
		names  []string
		label  string
		want   bool
	}{
		{"a name of a secret", []string{"properties", "adminPassword"}, "", true},
		{"a name below one is none", []string{"keys", "keyName"}, "", false},
		{"the value below one", []string{"keys", "value"}, "", true},
		{"the value of a labelled object", []string{"env", "value"}, "DB_PASSWORD", true},
		{"everything in protected settings", []string{"properties", "protectedSettings", "commandToExecute"}, "", true},
		{"at any depth", []string{"protectedSettings", "a", "b", "permissions", "keys"}, "", true},
		{"of Kubernetes extensions", []string{"configurationProtectedSettings", "omsagent.domain"}, "", true},
		{"in any case", []string{"PROTECTEDSETTINGS", "a"}, "", true},
		{"words in other cases", []string{"ProtectedSettings", "a"}, "", true},
		{"the value of a protected parameter", []string{"protectedParameters", "value"}, "", true},
		{"its name", []string{"protectedParameters", "name"}, "", false},
		{"the reference to a vault", []string{"protectedSettingsFromKeyVault", "secretUrl"}, "", false},
		{"protected items are resources", []string{"protectedItems", "name"}, "", false},
		{"ordinary settings", []string{"settings", "commandToExecute"}, "", false},
		{"rights on keys", []string{"permissions", "keys"}, "", false},
	} {
		var place Place
		for _, name := range c.names {
			place = place.Member(name, c.label, nil)
		}
		if place.Secret() != c.want {
			t.Errorf("%s: %v is secret: %v", c.reason, c.names, place.Secret())
		}
	}
}
