package drift_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/armature-io/armature/drift"
)

// TestSharedLists follows lists with known other writers: their items are no drift, and a
// PUT keeps them, unless the manifest stated them before.
//
//guard:lists-of-several-writers
func TestSharedLists(t *testing.T) {
	const (
		machine, vault = "Microsoft.Compute/virtualMachines", "Microsoft.KeyVault/vaults"
		gateway        = "Microsoft.Network/applicationGateways"
		ours           = `{"properties":{"storageProfile":{"dataDisks":[{"lun":0,"createOption":"Empty","diskSizeGB":8}]}}}`
		both           = `{"properties":{"storageProfile":{"dataDisks":[{"lun":3,"name":"theirs","createOption":"Attach"},{"lun":0,"name":"made","createOption":"Empty","diskSizeGB":8}]}}}`
		policies       = `{"properties":{"accessPolicies":[{"objectId":"a","tenantId":"11111111-1111-1111-1111-111111111111","permissions":{"keys":["get"]}},{"objectId":"b","tenantId":"11111111-1111-1111-1111-111111111111","permissions":{}}]}}`
		listeners      = `{"properties":{"httpListeners":[{"name":"a"}]}}`
	)
	cases := map[string]struct {
		reason, resourceType, version  string
		before, desired, now, want     string
		merge, replace, differs, drops bool
	}{
		"data disks": {
			reason: "a disk without a name is identified by its unit", resourceType: machine, version: "2023-03-01",
			desired: ours, now: both, want: both,
		},
		"data disks after a PUT": {
			reason: "the disk was attached since", resourceType: machine, version: "2023-03-01",
			before: ours, desired: ours, now: both, want: both,
		},
		"data disks, merge": {
			reason: "the list is merged by unit", resourceType: machine, version: "2023-03-01", merge: true,
			desired: ours, now: both, want: both,
		},
		"data disk that the manifest stated": {
			reason: "the manifest no longer states it", resourceType: machine, version: "2023-03-01", differs: true,
			before:  `{"properties":{"storageProfile":{"dataDisks":[{"lun":0,"createOption":"Empty","diskSizeGB":8},{"lun":3,"createOption":"Attach"}]}}}`,
			desired: ours, now: both, want: `{"properties":{"storageProfile":{"dataDisks":[{"lun":0,"name":"made","createOption":"Empty","diskSizeGB":8}]}}}`,
		},
		"data disk that the manifest stated, merge": {
			reason: "the manifest no longer states it", resourceType: machine, version: "2023-03-01", merge: true, differs: true,
			before:  `{"properties":{"storageProfile":{"dataDisks":[{"lun":0,"createOption":"Empty","diskSizeGB":8},{"lun":3,"createOption":"Attach"}]}}}`,
			desired: ours, now: both, want: `{"properties":{"storageProfile":{"dataDisks":[{"lun":0,"name":"made","createOption":"Empty","diskSizeGB":8}]}}}`,
		},
		"data disks, replace": {
			reason: "put: replace sends the manifest alone, and names the disk", resourceType: machine, version: "2023-03-01", replace: true,
			before: ours, desired: ours, now: both, want: ours, differs: true, drops: true,
		},
		"access policies": {
			reason: "others added theirs by the child type accessPolicies", resourceType: vault, version: "2023-02-01",
			desired: `{"properties":{"accessPolicies":[{"objectId":"b","tenantId":"11111111-1111-1111-1111-111111111111","permissions":{}}]}}`, now: policies,
			want: policies,
		},
		"no access policies": {
			reason: "an empty list of the manifest is required by the service, and empties nothing", resourceType: vault, version: "2023-02-01",
			desired: `{"properties":{"accessPolicies":[]}}`, now: policies, want: policies,
		},
		"gateway of an ingress controller": {
			reason: "the tag shows the controller", resourceType: gateway, version: "2023-09-01",
			before: listeners, desired: listeners, now: `{"tags":{"managed-by-k8s-ingress":"1.5.3"},"properties":{"httpListeners":[{"name":"a"},{"name":"k8s"}]}}`,
			want: `{"tags":{"managed-by-k8s-ingress":"1.5.3"},"properties":{"httpListeners":[{"name":"a"},{"name":"k8s"}]}}`,
		},
		"gateway without one": {
			reason: "the list is the manifest's", resourceType: gateway, version: "2023-09-01",
			before: listeners, desired: listeners, now: `{"properties":{"httpListeners":[{"name":"a"},{"name":"k8s"}]}}`, want: listeners, differs: true, drops: true,
		},
		"backend pools": {
			reason: "the owner of a load balancer added its pool", resourceType: "Microsoft.Network/networkInterfaces", version: "2023-09-01",
			desired: `{"properties":{"ipConfigurations":[{"name":"a","properties":{"loadBalancerBackendAddressPools":[{"id":"/p/1"}]}}]}}`,
			now:     `{"properties":{"ipConfigurations":[{"name":"a","properties":{"loadBalancerBackendAddressPools":[{"id":"/p/2"},{"id":"/P/1"}]}}]}}`,
			want:    `{"properties":{"ipConfigurations":[{"name":"a","properties":{"loadBalancerBackendAddressPools":[{"id":"/p/2"},{"id":"/p/1"}]}}]}}`,
		},
		"scanner": {
			reason: "the scanner adds its own rule", resourceType: "Microsoft.Storage/storageAccounts", version: "2023-01-01", differs: true, drops: true,
			before:  `{"properties":{"networkAcls":{"defaultAction":"Deny","resourceAccessRules":[{"tenantId":"11111111-1111-1111-1111-111111111111","resourceId":"/r"}]}}}`,
			desired: `{"properties":{"networkAcls":{"defaultAction":"Deny","resourceAccessRules":[{"tenantId":"11111111-1111-1111-1111-111111111111","resourceId":"/r"}]}}}`,
			now: `{"properties":{"networkAcls":{"defaultAction":"Deny","resourceAccessRules":[{"tenantId":"11111111-1111-1111-1111-111111111111","resourceId":"/r"},{"tenantId":"11111111-1111-1111-1111-111111111111","resourceId":"/other"},
				{"tenantId":"11111111-1111-1111-1111-111111111111","resourceId":"/subscriptions/s/providers/Microsoft.Security/datascanners/storageDataScanner"}]}}}`,
			want: `{"properties":{"networkAcls":{"defaultAction":"Deny","resourceAccessRules":[{"tenantId":"11111111-1111-1111-1111-111111111111","resourceId":"/r"},
				{"tenantId":"11111111-1111-1111-1111-111111111111","resourceId":"/subscriptions/s/providers/Microsoft.Security/datascanners/storageDataScanner"}]}}}`,
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			opts := drift.Options{Type: c.resourceType, Facts: factsOf(c.resourceType), APIVersion: c.version, Key: []byte("key"), KeepOthers: !c.merge && !c.replace, Merge: c.merge}
			if c.before != "" {
				after := opts
				after.Put, after.Sent = true, true
				opts.Baseline = stored(t, drift.NewBaseline(body(t, []byte(c.before)), body(t, []byte(c.before)), after))
			}
			desired, now := body(t, []byte(c.desired)), body(t, []byte(c.now))
			sent := drift.Body(desired, desired, now, opts).Body
			if diff := cmp.Diff(body(t, []byte(c.want)), sent); diff != "" {
				t.Errorf("%s: body (-want +got)\n%s", c.reason, diff)
			}
			if result := drift.Compare(desired, now, opts); result.InSync == c.differs && c.before != "" && !c.merge {
				t.Errorf("%s: differences %+v", c.reason, result.Differences)
			}
			if drops := drift.DropsOf(desired, now, opts); (len(drops.Paths) > 0) != c.drops {
				t.Errorf("%s: drops %v", c.reason, drops.Paths)
			}
		})
	}
}
