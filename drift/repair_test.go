package drift_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/armature-io/armature/drift"
)

// TestSoundBody merges values of others that the published shape does not allow: they are
// left out and named, or the body is not to be sent.
//
//guard:merged-bodies-are-checked
func TestSoundBody(t *testing.T) {
	const storage, document = "Microsoft.Storage/storageAccounts", "Microsoft.DocumentDB/databaseAccounts"
	cases := map[string]struct {
		reason, resourceType, version, desired, now, want string
		drops, violations                                 []string
	}{
		"sound": {
			reason: "what others set fits", resourceType: storage, version: "2023-01-01",
			desired: `{"properties":{"accessTier":"Hot"}}`, now: `{"properties":{"accessTier":"Cool","minimumTlsVersion":"TLS1_2"}}`,
			want: `{"properties":{"accessTier":"Hot","minimumTlsVersion":"TLS1_2"}}`,
		},
		"value": {
			reason: "the version of the manifest does not have the value, and the object needs one", resourceType: storage, version: "2023-01-01",
			desired: `{"properties":{"accessTier":"Hot"}}`, now: `{"properties":{"accessTier":"Cool","largeFileSharesState":"Enabled","networkAcls":{"defaultAction":"Audited","bypass":"None"}}}`,
			want: `{"properties":{"accessTier":"Hot","largeFileSharesState":"Enabled"}}`, drops: []string{"properties.networkAcls"},
		},
		"open value": {
			reason: "other values than the published ones are legal, also one that looks misspelt", resourceType: storage, version: "2023-01-01",
			desired: `{"properties":{"accessTier":"Hot"}}`, now: `{"properties":{"minimumTlsVersion":"TLS1_4"}}`,
			want: `{"properties":{"accessTier":"Hot","minimumTlsVersion":"TLS1_4"}}`,
		},
		"mistake of the manifest": {
			reason: "the manifest's own value is the manifest's", resourceType: storage, version: "2023-01-01",
			desired: `{"properties":{"minimumTlsVersion":"TLS9"}}`, now: `{"properties":{"minimumTlsVersion":"TLS9","accessTier":"Cool"}}`,
			want: `{"properties":{"minimumTlsVersion":"TLS9","accessTier":"Cool"}}`,
		},
		"item": {
			reason: "the item of another writer has no value that is required", resourceType: "Microsoft.KeyVault/vaults", version: "2023-02-01",
			desired: `{"properties":{"tenantId":"11111111-1111-1111-1111-111111111111","sku":{"family":"A","name":"standard"},"accessPolicies":[{"objectId":"b","tenantId":"11111111-1111-1111-1111-111111111111","permissions":{}}]}}`,
			now:     `{"properties":{"accessPolicies":[{"objectId":"a"},{"objectId":"b","tenantId":"11111111-1111-1111-1111-111111111111","permissions":{}}]}}`,
			want:    `{"properties":{"tenantId":"11111111-1111-1111-1111-111111111111","sku":{"family":"A","name":"standard"},"accessPolicies":[{"objectId":"b","tenantId":"11111111-1111-1111-1111-111111111111","permissions":{}}]}}`,
			drops:   []string{"properties.accessPolicies[objectId=a]"},
		},
		"form": {
			reason: "the form that another tool selected does not fit what the manifest states", resourceType: document, version: "2023-11-15",
			desired:    `{"properties":{"databaseAccountOfferType":"Standard","locations":[{"locationName":"a"}],"backupPolicy":{"periodicModeProperties":{"backupIntervalInMinutes":60}}}}`,
			now:        `{"properties":{"databaseAccountOfferType":"Standard","locations":[{"locationName":"a"}],"backupPolicy":{"type":"Continuous","continuousModeProperties":{"tier":"Continuous7Days"}}}}`,
			violations: []string{"properties.backupPolicy.periodicModeProperties"},
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			opts := drift.Options{Type: c.resourceType, Facts: factsOf(c.resourceType), APIVersion: c.version, Key: []byte("key"), KeepOthers: true}
			desired, now := body(t, []byte(c.desired)), body(t, []byte(c.now))
			sent := drift.Body(desired, desired, now, opts)
			if diff := cmp.Diff(c.violations, sent.Violations); diff != "" {
				t.Errorf("%s: violations (-want +got)\n%s", c.reason, diff)
			}
			if c.violations != nil {
				return
			}
			if diff := cmp.Diff(body(t, []byte(c.want)), sent.Body); diff != "" {
				t.Errorf("%s: body (-want +got)\n%s", c.reason, diff)
			}
			if diff := cmp.Diff(c.drops, drift.DropsOf(desired, now, opts).Paths); diff != "" {
				t.Errorf("%s: drops (-want +got)\n%s", c.reason, diff)
			}
		})
	}
}
