package drift_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/armature-io/armature/drift"
	"github.com/armature-io/armature/internal/jsontree"
)

// TestKeep follows a resource over two PUTs: what the service showed after the first one,
// what Azure shows now, and the body of the second.
//
//guard:changed-selectors
//guard:settings-of-others
func TestKeep(t *testing.T) {
	const storage = "Microsoft.Storage/storageAccounts"
	cases := map[string]struct {
		reason, resourceType, version    string
		first, after, desired, now, want string
		adopted                          bool
	}{
		"default of the service": {
			reason: "the service may choose another default for another SKU", resourceType: "Microsoft.Sql/servers/databases", version: "2021-11-01",
			first: `{"location":"westus2","sku":{"name":"S0"}}`, after: `{"location":"westus2","sku":{"name":"S0","capacity":10},"properties":{"maxSizeBytes":268435456000,"zoneRedundant":false}}`,
			desired: `{"location":"westus2","sku":{"name":"Basic"}}`, now: `{"location":"westus2","sku":{"name":"S0","capacity":10},"properties":{"maxSizeBytes":268435456000,"zoneRedundant":false}}`,
			want: `{"location":"westus2","sku":{"name":"Basic"}}`,
		},
		"changed by another tool": {
			reason: "its value differs from what the service had set", resourceType: storage, version: "2023-01-01",
			first: `{"properties":{"accessTier":"Hot"}}`, after: `{"properties":{"accessTier":"Hot","minimumTlsVersion":"TLS1_0"}}`,
			desired: `{"properties":{"accessTier":"Hot"}}`, now: `{"properties":{"accessTier":"Cool","minimumTlsVersion":"TLS1_2"}}`,
			want: `{"properties":{"accessTier":"Hot","minimumTlsVersion":"TLS1_2"}}`,
		},
		"added by another tool": {
			reason: "the service had not set it", resourceType: storage, version: "2023-01-01",
			first: `{"properties":{"accessTier":"Hot"}}`, after: `{"properties":{"accessTier":"Hot"}}`,
			desired: `{"properties":{"accessTier":"Hot"}}`, now: `{"identity":{"type":"SystemAssigned","principalId":"11111111-1111-1111-1111-111111111111","tenantId":"t"},"properties":{"accessTier":"Hot"}}`,
			want: `{"identity":{"type":"SystemAssigned"},"properties":{"accessTier":"Hot"}}`,
		},
		"adopted": {
			reason: "what the service set and what others did is not known", resourceType: storage, version: "2023-01-01", adopted: true,
			first: `{"properties":{"accessTier":"Hot"}}`, after: `{"properties":{"accessTier":"Hot","minimumTlsVersion":"TLS1_0"}}`,
			desired: `{"properties":{"accessTier":"Cool"}}`, now: `{"properties":{"accessTier":"Hot","minimumTlsVersion":"TLS1_0","provisioningState":"Succeeded","primaryEndpoints":{"blob":"b"}}}`,
			want: `{"properties":{"accessTier":"Cool","minimumTlsVersion":"TLS1_0"}}`,
		},
		"read-only and unknown": {
			reason: "services refuse them", resourceType: storage, version: "2023-01-01", adopted: true,
			first: `{}`, after: `{}`, desired: `{"properties":{}}`,
			now:  `{"id":"/x","properties":{"creationTime":"2026-01-01","invented":1,"secondaryLocation":"eastus"}}`,
			want: `{"properties":{}}`,
		},
		"required beside what is kept": {
			reason: "a part of a rule is refused", resourceType: storage, version: "2023-01-01",
			first: `{"properties":{}}`, after: `{"properties":{"networkAcls":{"defaultAction":"Allow","bypass":"AzureServices"}}}`,
			desired: `{"properties":{}}`, now: `{"properties":{"networkAcls":{"defaultAction":"Allow","bypass":"None"}}}`,
			want: `{"properties":{"networkAcls":{"defaultAction":"Allow","bypass":"None"}}}`,
		},
		"required beside what is stated": {
			reason: "the manifest states the object, and the service had set the rest", resourceType: storage, version: "2023-01-01",
			first: `{"properties":{"networkAcls":{"bypass":"None"}}}`, after: `{"properties":{"networkAcls":{"defaultAction":"Allow","bypass":"None"}}}`,
			desired: `{"properties":{"networkAcls":{"bypass":"Logging"}}}`, now: `{"properties":{"networkAcls":{"defaultAction":"Allow","bypass":"None"}}}`,
			want: `{"properties":{"networkAcls":{"bypass":"Logging"}}}`,
		},
		"items of a stated list": {
			reason: "the list is the manifest's; its items keep what the manifest does not state", resourceType: "Microsoft.Network/networkInterfaces", version: "2023-09-01",
			first: `{"properties":{"ipConfigurations":[{"name":"a","properties":{"primary":true}}]}}`, after: `{"properties":{"ipConfigurations":[{"name":"a","properties":{"primary":true}}]}}`,
			desired: `{"properties":{"ipConfigurations":[{"name":"a","properties":{"primary":true}}]}}`,
			now:     `{"properties":{"ipConfigurations":[{"name":"b","properties":{}},{"name":"a","properties":{"primary":false,"subnet":{"id":"/s"}}}]}}`,
			want:    `{"properties":{"ipConfigurations":[{"name":"a","properties":{"primary":true,"subnet":{"id":"/s"}}}]}}`,
		},
		"a list of others": {
			reason: "a list is kept as a whole", resourceType: "Microsoft.DocumentDB/databaseAccounts", version: "2023-11-15",
			first: `{"properties":{"enableFreeTier":false}}`, after: `{"properties":{"enableFreeTier":false,"capabilities":[{"name":"A"}]}}`,
			desired: `{"properties":{"enableFreeTier":false}}`, now: `{"properties":{"enableFreeTier":false,"capabilities":[{"name":"A"}],"ipRules":[{"ipAddressOrRange":"203.0.113.7"}]}}`,
			want: `{"properties":{"enableFreeTier":false,"ipRules":[{"ipAddressOrRange":"203.0.113.7"}]}}`,
		},
		"placeholder": {
			reason: "asterisks would become the secret", resourceType: "Microsoft.Insights/actionGroups", version: "2023-01-01", adopted: true,
			first: `{}`, after: `{}`, desired: `{"location":"global"}`, now: `{"location":"global","tags":{"a":"***","b":"1"}}`,
			want: `{"location":"global","tags":{"b":"1"}}`,
		},
		"absent": {
			reason: "a creation sends the manifest", resourceType: storage, version: "2023-01-01",
			first: `{}`, after: `{}`, desired: `{"location":"westus2"}`, now: `null`, want: `{"location":"westus2"}`,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			opts := drift.Options{Type: tc.resourceType, Facts: factsOf(tc.resourceType), APIVersion: tc.version, Key: []byte("key"), KeepOthers: true}
			if !tc.adopted {
				after := opts
				after.Put, after.Sent = true, true
				opts.Baseline = drift.NewBaseline(object(t, tc.first), object(t, tc.after), after)
			}
			desired, now := object(t, tc.desired), object(t, tc.now)
			before := jsontree.Clone(now)
			payload := drift.Body(desired, desired, now, opts).Body
			if diff := cmp.Diff(object(t, tc.want), payload); diff != "" {
				t.Errorf("%s (-want +got)\n%s", tc.reason, diff)
			}
			if diff := cmp.Diff(before, now); diff != "" {
				t.Errorf("the observed body was changed:\n%s", diff)
			}
			if diff := cmp.Diff(object(t, tc.desired), desired); diff != "" {
				t.Errorf("the manifest was changed:\n%s", diff)
			}
		})
	}
}

// TestKeepTwice shows that what was kept once is kept again: after the PUT it is not
// taken for a value of the service.
//
//guard:settings-of-others
func TestKeepTwice(t *testing.T) {
	opts := drift.Options{Type: "Microsoft.Storage/storageAccounts", Facts: factsOf("Microsoft.Storage/storageAccounts"), APIVersion: "2023-01-01", Key: []byte("key"), KeepOthers: true}
	desired := object(t, `{"properties":{"accessTier":"Hot"}}`)
	after := opts
	after.Put, after.Sent = true, true
	opts.Baseline = drift.NewBaseline(desired, object(t, `{"properties":{"accessTier":"Hot"}}`), after)
	now := object(t, `{"properties":{"accessTier":"Cool","minimumTlsVersion":"TLS1_2"}}`)
	for range 3 {
		sent := drift.Body(desired, desired, now, opts)
		if diff := cmp.Diff(object(t, `{"properties":{"accessTier":"Hot","minimumTlsVersion":"TLS1_2"}}`), sent.Body); diff != "" {
			t.Fatalf("(-want +got)\n%s", diff)
		}
		after.Baseline, after.Kept = opts.Baseline, sent.Kept
		opts.Baseline = drift.NewBaseline(desired, sent.Body, after)
	}
}

// TestAddedItemIsDrift shows that an item that another tool adds to a list of the manifest
// after a PUT is a difference, which a plan shows before the next PUT removes it.
func TestAddedItemIsDrift(t *testing.T) {
	opts := drift.Options{Type: "Microsoft.Network/networkInterfaces", Facts: factsOf("Microsoft.Network/networkInterfaces"), APIVersion: "2023-09-01", Key: []byte("key"), KeepOthers: true}
	desired := object(t, `{"properties":{"ipConfigurations":[{"name":"a","properties":{"primary":true}}]}}`)
	after := opts
	after.Put, after.Sent = true, true
	opts.Baseline = drift.NewBaseline(desired, desired, after)
	now := object(t, `{"properties":{"ipConfigurations":[{"name":"a","properties":{"primary":true,"subnet":{"id":"/s"}}},{"name":"b","properties":{}}]}}`)
	result := drift.Compare(desired, now, opts)
	if len(result.Differences) != 1 || result.Differences[0].Path != "properties.ipConfigurations[name=b]" {
		t.Errorf("differences %+v, want the added item alone", result.Differences)
	}
}
