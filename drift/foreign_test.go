package drift_test

import (
	"strings"
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

// TestForeignRemovals lets others remove from a storage account what its manifest does not state.
func TestForeignRemovals(t *testing.T) {
	const (
		identity = "/subscriptions/11111111-1111-1111-1111-111111111111/resourceGroups/rg/providers/Microsoft.ManagedIdentity/userAssignedIdentities/old"
		rules    = `"ipRules":[{"value":"192.0.2.1","action":"Allow"},{"value":"198.51.100.9","action":"Allow"}],"virtualNetworkRules":[{"id":"/v/s1","action":"Allow"}]`
		user     = `"identity":{"type":"UserAssigned","userAssignedIdentities":{"` + identity + `":{"principalId":"p"}}}`
		before   = `{"location":"westus2",` + user + `,"properties":{"minimumTlsVersion":"TLS1_2","networkAcls":{"defaultAction":"Deny",` + rules + `}}}`
		added    = "properties.networkAcls.ipRules[value=198.51.100.9]: removed"
		networks = "properties.networkAcls.virtualNetworkRules: removed"
	)
	desired := body(t, []byte(`{"location":"westus2","properties":{"minimumTlsVersion":"TLS1_2","networkAcls":{"defaultAction":"Deny","ipRules":[{"value":"192.0.2.1"}]}}}`))
	opts := drift.Options{Type: "Microsoft.Storage/storageAccounts", APIVersion: "2023-01-01", Key: []byte("key"), KeepOthers: true}
	put := opts
	put.Put, put.Sent, put.Answer = true, true, []byte(before)
	opts.Baseline = stored(t, drift.NewBaseline(desired, body(t, []byte(before)), put))
	for name, c := range map[string]struct {
		reason, now, desired string
		ignore               []string
		want                 []string
	}{
		"nothing":          {reason: "all is there", now: before},
		"in another order": {reason: "the same lists", now: strings.Replace(before, rules, `"virtualNetworkRules":[{"action":"Allow","id":"/v/s1"}],"ipRules":[{"value":"198.51.100.9","action":"Allow"},{"value":"192.0.2.1","action":"Allow"}]`, 1)},
		"rule":             {reason: "an item of a list of the manifest", now: strings.Replace(before, `,{"value":"198.51.100.9","action":"Allow"}`, "", 1), want: []string{added}},
		"list":             {reason: "a list of others is empty", now: strings.Replace(before, `{"id":"/v/s1","action":"Allow"}`, "", 1), want: []string{networks}},
		"identity":         {reason: "an identity, and the type that ends with it", now: strings.Replace(before, user+",", "", 1), want: []string{"identity.userAssignedIdentities['" + identity + "']: removed"}},
		"all":              {reason: "removed values are counted first", now: `{"location":"westus2","properties":{"minimumTlsVersion":"TLS1_2","networkAcls":{"defaultAction":"Deny","ipRules":[{"value":"192.0.2.1"}],"bypass":"None"}}}`, want: []string{"identity.userAssignedIdentities['" + identity + "']: removed", added, networks, `properties.networkAcls.bypass: "None"`}},
		"ignored":          {reason: "the manifest leaves it to others", now: strings.Replace(before, `{"id":"/v/s1","action":"Allow"}`, "", 1), ignore: []string{"properties.networkAcls.virtualNetworkRules"}},
	} {
		t.Run(name, func(t *testing.T) {
			opts := opts
			opts.Ignore, opts.Answer = c.ignore, []byte(c.now)
			found, more := drift.Foreign(desired, body(t, []byte(c.now)), opts)
			var texts []string
			for _, f := range found {
				texts = append(texts, f.Path+": "+f.Observed)
			}
			if diff := cmp.Diff(c.want, texts); diff != "" || more != 0 {
				t.Errorf("%s: (-want +got):\n%s", c.reason, diff)
			}
		})
	}
}

// TestForeignOfLargeBodies: a body with more values than the baseline has hashes of has no
// foreign scalars.
func TestForeignOfLargeBodies(t *testing.T) {
	observed := large(t, 5000, "v")
	desired := map[string]any{"location": "westus2"}
	opts := drift.Options{APIVersion: "2024-01-01", Key: []byte("k"), KeepOthers: true}
	put := opts
	put.Put, put.Sent = true, true
	opts.Baseline = drift.NewBaseline(desired, observed, put)
	if found, more := drift.Foreign(desired, observed, opts); len(found) > 0 {
		t.Errorf("%d more: %v", more, found)
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
