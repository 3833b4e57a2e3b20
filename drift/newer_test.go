package drift_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/armature-io/armature/drift"
	"github.com/armature-io/armature/types"
)

// TestNewerDrops compares what only a newer api-version shows with what it showed after the
// last PUT.
//
//guard:newer-api-versions
func TestNewerDrops(t *testing.T) {
	const network, storage = "Microsoft.Network/virtualNetworks", "Microsoft.Storage/storageAccounts"
	cases := map[string]struct {
		reason, resourceType, version, desired, after, now string
		want                                               []string
	}{
		"unchanged": {
			reason: "the service had set it", resourceType: storage, version: "2019-06-01", desired: `{}`,
			after: `{"properties":{"publicNetworkAccess":"Enabled"}}`, now: `{"properties":{"publicNetworkAccess":"Enabled"}}`,
		},
		"changed": {
			reason: "a policy changed it, and the user's own version knows the tier", resourceType: storage, version: "2019-06-01", desired: `{}`,
			after: `{"properties":{"publicNetworkAccess":"Enabled"}}`, now: `{"properties":{"publicNetworkAccess":"Disabled","accessTier":"Cool"}}`,
			want: []string{"properties.publicNetworkAccess"},
		},
		"false": {
			reason: "false is a value, too", resourceType: storage, version: "2018-07-01", desired: `{}`,
			after: `{"properties":{"allowBlobPublicAccess":true}}`, now: `{"properties":{"allowBlobPublicAccess":false}}`, want: []string{"properties.allowBlobPublicAccess"},
		},
		"stated": {
			reason: "the manifest states it although its version does not have it", resourceType: storage, version: "2019-06-01",
			desired: `{"properties":{"publicNetworkAccess":"Disabled"}}`, after: `{}`, now: `{"properties":{"publicNetworkAccess":"Disabled"}}`,
		},
		"no baseline": {
			reason: "services fill in values by themselves", resourceType: storage, version: "2019-06-01", desired: `{}`,
			now: `{"properties":{"publicNetworkAccess":"Disabled"}}`,
		},
		"no baseline, a reference": {
			reason: "no service refers to a resource by itself", resourceType: network, version: "2017-10-01", desired: `{"properties":{"subnets":[{"name":"a"}]}}`,
			now: `{"properties":{"subnets":[{"name":"A","properties":{"natGateway":{"id":"/subscriptions/s/g"}}}]}}`, want: []string{"properties.subnets[name=A].properties.natGateway"},
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			newer := types.NewerThan(c.resourceType, c.version)
			opts := drift.Options{Type: c.resourceType, Facts: factsOf(c.resourceType), APIVersion: c.version, Key: []byte("key"), KeepOthers: true}
			desired := body(t, []byte(c.desired))
			if c.after != "" {
				opts.Baseline.Newer = drift.NewNewerValues(desired, body(t, []byte(c.after)), newer, opts)
				opts.Baseline = stored(t, opts.Baseline)
			}
			if diff := cmp.Diff(c.want, drift.NewerDrops(desired, body(t, []byte(c.now)), newer, opts).Paths); diff != "" {
				t.Errorf("%s (-want +got)\n%s", c.reason, diff)
			}
		})
	}
}
