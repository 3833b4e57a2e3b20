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
		"mapping": {"a text is no mapping", map[string]any{"networkAcls": UnknownText{}}, []string{"properties.networkAcls: found a text, expected a mapping"}},
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

func TestCheckName(t *testing.T) {
	cases := map[string]struct {
		reason, shape, name string
		want                int
	}{
		"good":         {"lower-case letters and digits", "Microsoft.Storage/storageAccounts", "account1", 0},
		"upper case":   {"the published pattern has no upper case", "Microsoft.Storage/storageAccounts", "Account1", 1},
		"too long":     {"at most 24 characters", "Microsoft.Storage/storageAccounts", "abcdefghijklmnopqrstuvwxyz", 1},
		"the only one": {"a parent has one blob service", "Microsoft.Storage/storageAccounts/blobServices", "default", 0},
		"other case":   {"ARM ignores the case of names", "Microsoft.Storage/storageAccounts/blobServices", "Default", 0},
		"another name": {"a parent has one blob service", "Microsoft.Storage/storageAccounts/blobServices", "mine", 1},
		"any name":     {"no rule is published", "Microsoft.Network/virtualNetworks/subnets", "A_b", 0},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got := Lookup(tc.shape, "2023-01-01").CheckName(tc.name)
			if len(got) != tc.want {
				t.Errorf("%s: got %v, want %d findings", tc.reason, got, tc.want)
			}
			for _, f := range got {
				if f.Fault {
					t.Errorf("%s: %v is a fault, want a warning", tc.reason, f)
				}
			}
		})
	}
}
