package types

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestUnknownText(t *testing.T) {
	storage := Lookup("Microsoft.Storage/storageAccounts", "2023-01-01")
	cases := map[string]struct {
		reason     string
		properties map[string]any
		want       []string
	}{
		"text":    {"a secret is a text", map[string]any{"defaultToOAuthAuthentication": true, "accessTier": UnknownText{}}, nil},
		"boolean": {"a text is no boolean", map[string]any{"isHnsEnabled": UnknownText{}}, []string{"properties.isHnsEnabled: found a text, expected true or false"}},
		"mapping": {"a text is no mapping", map[string]any{"networkAcls": UnknownText{}}, []string{"properties.networkAcls: found a text, expected a mapping with defaultAction"}},
		"list":    {"a text is no list", map[string]any{"networkAcls": map[string]any{"defaultAction": "Deny", "ipRules": UnknownText{}}}, []string{"properties.networkAcls.ipRules: found a text, expected a list"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			stated := map[string]any{"location": UnknownText{}, "kind": UnknownText{}, "sku": map[string]any{"name": UnknownText{}}, "properties": tc.properties}
			var got []string
			for _, f := range storage.Check(stated) {
				got = append(got, f.String())
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}
