package drift_test

import (
	"testing"

	"github.com/armature-io/armature/drift"
	"github.com/google/go-cmp/cmp"
)

// TestForeign lets others add settings to a storage account after its PUT.
func TestForeign(t *testing.T) {
	const before = `{"location":"westus2","kind":"StorageV2","sku":{"name":"Standard_LRS"},"properties":{"accessTier":"Hot","minimumTlsVersion":"TLS1_2","networkAcls":{"bypass":"AzureServices","defaultAction":"Deny","ipRules":[{"value":"192.0.2.1","action":"Allow"}]}}}`
	desired := body(t, []byte(`{"location":"westus2","kind":"StorageV2","sku":{"name":"Standard_LRS"},"properties":{"minimumTlsVersion":"TLS1_2","networkAcls":{"defaultAction":"Deny","ipRules":[{"value":"192.0.2.1"}]}}}`))
	opts := drift.Options{Type: "Microsoft.Storage/storageAccounts", APIVersion: "2023-01-01", Key: []byte("key"), KeepOthers: true}
	put := opts
	put.Put, put.Sent = true, true
	opts.Baseline = stored(t, drift.NewBaseline(desired, body(t, []byte(before)), put))
	for name, c := range map[string]struct {
		reason, now string
		want        []string
	}{
		"nothing":       {"the service's values stay its own", before, nil},
		"identity":      {"an added identity", `{"identity":{"type":"UserAssigned","userAssignedIdentities":{"/subscriptions/11111111-1111-1111-1111-111111111111/resourceGroups/rg/providers/Microsoft.ManagedIdentity/userAssignedIdentities/i":{"principalId":"p"}}},` + before[1:], []string{"identity.type", "identity.userAssignedIdentities['/subscriptions/11111111-1111-1111-1111-111111111111/resourceGroups/rg/providers/Microsoft.ManagedIdentity/userAssignedIdentities/i']"}},
		"another value": {"the service's value was changed", `{"properties":{"accessTier":"Cool","minimumTlsVersion":"TLS1_2"}}`, []string{"properties.accessTier"}},
		"users":         {"local users", `{"properties":{"accessTier":"Hot","isLocalUserEnabled":true,"minimumTlsVersion":"TLS1_2"}}`, []string{"properties.isLocalUserEnabled"}},
		"firewall":      {"an item of a list of the manifest", `{"properties":{"networkAcls":{"bypass":"AzureServices","defaultAction":"Deny","ipRules":[{"value":"203.0.113.7","action":"Allow"},{"value":"192.0.2.1","action":"Allow"}]}}}`, []string{"properties.networkAcls.ipRules[value=203.0.113.7]"}},
		"drift":         {"a value of the manifest is drift", `{"properties":{"accessTier":"Hot","minimumTlsVersion":"TLS1_0"}}`, nil},
		"state":         {"ARM's own members", `{"id":"/x","properties":{"accessTier":"Hot","provisioningState":"Succeeded","primaryLocation":"eastus"}}`, nil},
	} {
		t.Run(name, func(t *testing.T) {
			found, more := drift.Foreign(desired, body(t, []byte(c.now)), opts)
			var paths []string
			for _, f := range found {
				paths = append(paths, f.Path)
			}
			if diff := cmp.Diff(c.want, paths); diff != "" || more != 0 {
				t.Errorf("%s: (-want +got):\n%s", c.reason, diff)
			}
		})
	}
	if found, _ := drift.Foreign(desired, body(t, []byte(before)), drift.Options{Type: opts.Type, APIVersion: opts.APIVersion, Key: opts.Key, KeepOthers: true}); found != nil {
		t.Errorf("before the first PUT: %v", found)
	}
}

// TestForeignSettings checks that settings of others are named and never shown.
func TestForeignSettings(t *testing.T) {
	const before = `{"location":"westus2","properties":{"siteConfig":{"appSettings":[{"name":"own","value":"1"}]}}}`
	desired := body(t, []byte(before))
	opts := drift.Options{Type: "Microsoft.Web/sites", APIVersion: "2023-12-01", Key: []byte("key"), KeepOthers: true, Completed: []string{"properties.siteConfig.appSettings"}}
	opts.Facts.Parts = []drift.Part{{Path: "properties.siteConfig.appSettings", Child: "config/appsettings", Action: "list", Value: "value", Whole: true}}
	put := opts
	put.Put, put.Sent = true, true
	opts.Baseline = stored(t, drift.NewBaseline(desired, desired, put))
	found, _ := drift.Foreign(desired, body(t, []byte(`{"location":"westus2","properties":{"siteConfig":{"appSettings":[{"name":"own","value":"1"},{"name":"blue","value":"planted"}]}}}`)), opts)
	if len(found) != 1 || found[0].Path != "properties.siteConfig.appSettings[name=blue]" || found[0].Observed != "(masked)" {
		t.Errorf("found %+v", found)
	}
}
