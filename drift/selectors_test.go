package drift_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/armature-io/armature/drift"
)

// TestSelectors changes what decides about other values: those that the service had set for
// the last one are left to it, values of other tools stay if they can.
//
//guard:changed-selectors
func TestSelectors(t *testing.T) {
	const database, storage, document = "Microsoft.Sql/servers/databases", "Microsoft.Storage/storageAccounts", "Microsoft.DocumentDB/databaseAccounts"
	const (
		small = `{"sku":{"name":"S0"},"properties":{"readScale":"Enabled"}}`
		large = `{"sku":{"name":"P1"},"properties":{"readScale":"Enabled"}}`
		shown = `{"sku":{"name":"S0","tier":"Standard","capacity":10},"properties":{"readScale":"Enabled","maxSizeBytes":268435456000}}`
	)
	cases := map[string]struct {
		reason, resourceType, version, before, after, desired, now, want string
		merge                                                            bool
		drops                                                            []string
	}{
		"sku": {
			reason: "tier, capacity and size belong to the last one", resourceType: database, version: "2021-11-01",
			before: small, after: shown, desired: large, now: shown, want: large,
		},
		"sku, merge": {
			reason: "the same holds where everything is kept", resourceType: database, version: "2021-11-01", merge: true,
			before: small, after: shown, desired: large, now: `{"sku":{"name":"S0","tier":"Standard","capacity":10},"properties":{"readScale":"Enabled","maxSizeBytes":268435456000,"licenseType":"BasePrice"}}`,
			want: `{"sku":{"name":"P1"},"properties":{"readScale":"Enabled","licenseType":"BasePrice"}}`,
		},
		"no change, merge": {
			reason: "everything is kept", resourceType: database, version: "2021-11-01", merge: true,
			before: small, after: shown, desired: small, now: shown, want: shown,
		},
		"sku, adopted": {
			reason: "nothing shows what the service had set; what is beside the name goes, and is named", resourceType: database, version: "2021-11-01",
			desired: large, now: shown, want: `{"sku":{"name":"P1"},"properties":{"readScale":"Enabled","maxSizeBytes":268435456000}}`,
			drops: []string{"sku.capacity", "sku.tier"},
		},
		"sku, set by another tool": {
			reason: "the capacity is no default of the last one", resourceType: database, version: "2021-11-01",
			before: small, after: shown, desired: large, now: `{"sku":{"name":"S0","tier":"Standard","capacity":20},"properties":{"readScale":"Enabled","maxSizeBytes":268435456000}}`,
			want: `{"sku":{"name":"P1","capacity":20},"properties":{"readScale":"Enabled"}}`,
		},
		"identity": {
			reason: "a type without assigned identities cannot have some: they are named", resourceType: storage, version: "2023-01-01",
			before: `{"identity":{"type":"SystemAssigned"}}`, after: `{"identity":{"type":"SystemAssigned"}}`, desired: `{"identity":{"type":"SystemAssigned"}}`,
			now:  `{"identity":{"type":"SystemAssigned,UserAssigned","userAssignedIdentities":{"/subscriptions/s/u":{}}}}`,
			want: `{"identity":{"type":"SystemAssigned"}}`, drops: []string{"identity.userAssignedIdentities"},
		},
		"identity, adopted": {
			reason: "the same without a baseline", resourceType: storage, version: "2023-01-01", desired: `{"identity":{"type":"SystemAssigned"}}`,
			now:  `{"identity":{"type":"SystemAssigned,UserAssigned","userAssignedIdentities":{"/subscriptions/s/u":{}}}}`,
			want: `{"identity":{"type":"SystemAssigned"}}`, drops: []string{"identity.userAssignedIdentities"},
		},
		"identity that is assigned": {
			reason: "the type says so", resourceType: storage, version: "2023-01-01",
			before: `{"identity":{"type":"UserAssigned","userAssignedIdentities":{"/subscriptions/s/u":{}}}}`, after: `{"identity":{"type":"UserAssigned","userAssignedIdentities":{"/subscriptions/s/u":{}}}}`,
			desired: `{"identity":{"type":"UserAssigned","userAssignedIdentities":{"/subscriptions/s/u":{}}}}`,
			now:     `{"identity":{"type":"UserAssigned","userAssignedIdentities":{"/subscriptions/s/u":{},"/subscriptions/s/v":{}}}}`,
			want:    `{"identity":{"type":"UserAssigned","userAssignedIdentities":{"/subscriptions/s/u":{},"/subscriptions/s/v":{}}}}`,
		},
		"form": {
			reason: "what belongs to the other form goes, and is named unless the service had set it", resourceType: document, version: "2023-11-15",
			before: `{"properties":{"backupPolicy":{"type":"Periodic"}}}`, after: `{"properties":{"backupPolicy":{"type":"Periodic","periodicModeProperties":{"backupIntervalInMinutes":240}}}}`,
			desired: `{"properties":{"backupPolicy":{"type":"Continuous"}}}`, now: `{"properties":{"backupPolicy":{"type":"Periodic","periodicModeProperties":{"backupIntervalInMinutes":240,"backupRetentionIntervalInHours":48}}}}`,
			want: `{"properties":{"backupPolicy":{"type":"Continuous"}}}`, drops: []string{"properties.backupPolicy.periodicModeProperties.backupRetentionIntervalInHours"},
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			opts := drift.Options{Type: c.resourceType, Facts: factsOf(c.resourceType), APIVersion: c.version, Key: []byte("key"), KeepOthers: !c.merge, Merge: c.merge}
			if c.before != "" {
				after := opts
				after.Put, after.Sent = true, true
				opts.Baseline = stored(t, drift.NewBaseline(body(t, []byte(c.before)), body(t, []byte(c.after)), after))
			}
			desired, now := body(t, []byte(c.desired)), body(t, []byte(c.now))
			if diff := cmp.Diff(body(t, []byte(c.want)), drift.Body(desired, desired, now, opts).Body); diff != "" {
				t.Errorf("%s: body (-want +got)\n%s", c.reason, diff)
			}
			if diff := cmp.Diff(c.drops, drift.DropsOf(desired, now, opts).Paths); diff != "" {
				t.Errorf("%s: drops (-want +got)\n%s", c.reason, diff)
			}
		})
	}
}
