package types

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

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
		"a form":       {"the name selects the form of the body", "Microsoft.Web/sites/config", "web", 0},
		"no form":      {"the name selects the form of the body", "Microsoft.Web/sites/config", "wb", 1},
		"number":       {"the name is published as a number", "Microsoft.Compute/cloudServices/updateDomains", "0", 0},
		"no number":    {"the name is published as a number", "Microsoft.Compute/cloudServices/updateDomains", "zero", 1},
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

// TestNamed checks a type whose name selects the form of its body.
func TestNamed(t *testing.T) {
	shape := Lookup("Microsoft.Web/sites/config", "2023-01-01")
	body := map[string]any{"properties": map[string]any{"use32BitWorkerProcess": "yes"}}
	cases := map[string]struct {
		reason string
		shape  *Shape
		want   int
	}{
		"no name":    {"the form is not known, so nothing is", shape, 0},
		"its form":   {"the property is true or false", shape.Named("web"), 1},
		"other case": {"names ignore case", shape.Named("WEB"), 1},
		"other form": {"a map of texts takes it", shape.Named("appsettings"), 0},
		"no form":    {"CheckName reports it", shape.Named("wb"), 0},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if got := tc.shape.Check(body); len(got) != tc.want {
				t.Errorf("%s: got %v, want %d findings", tc.reason, got, tc.want)
			}
		})
	}
	if other := Lookup("Microsoft.Storage/storageAccounts", "2023-01-01"); other.Named("x") != other {
		t.Error("the name of a storage account selects no form")
	}
	names, open := shape.PublishedNames()
	if diff := cmp.Diff([]string{"appsettings", "authsettings", "authsettingsV2"}, names[:3]); diff != "" || open {
		t.Errorf("the published names are open: %v, (-want +got)\n%s", open, diff)
	}
}
