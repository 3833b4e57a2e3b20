package activities

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/armature-io/armature/resource"
)

func TestIdentityOf(t *testing.T) {
	t.Parallel()
	const guid, other = "0a1b2c3d-1111-2222-3333-444455556666", "99999999-1111-2222-3333-444455556666"
	cases := map[string]struct {
		reason, resourceType, observed string
		want                           resource.Identity
	}{
		"machine": {
			reason: "vmId is read-only and a GUID; the tenant's ID is that of all", resourceType: "Microsoft.Compute/virtualMachines",
			observed: `{"identity":{"principalId":"` + other + `","tenantId":"` + guid + `"},"properties":{"vmId":"` + guid + `","provisioningState":"Succeeded"}}`,
			want:     resource.Identity{"identity.principalId": other, "properties.vmId": guid},
		},
		"case":       {reason: "providers vary the case of GUIDs", resourceType: "Microsoft.Network/virtualNetworks", observed: `{"properties":{"resourceGuid":"0A1B2C3D-1111-2222-3333-444455556666"}}`, want: resource.Identity{"properties.resourceGuid": guid}},
		"prefix":     {reason: "an immutable ID may have a prefix and no hyphens", resourceType: "Microsoft.Insights/dataCollectionRules", observed: `{"properties":{"immutableId":"dcr-0a1b2c3d111122223333444455556666"}}`, want: resource.Identity{"properties.immutableId": "dcr-0a1b2c3d111122223333444455556666"}},
		"principal":  {reason: "an identity is its principal", resourceType: "Microsoft.ManagedIdentity/userAssignedIdentities", observed: `{"properties":{"principalId":"` + guid + `","clientId":"` + other + `","tenantId":"` + other + `"}}`, want: resource.Identity{"properties.principalId": guid}},
		"assignment": {reason: "the principal of a role assignment is stated, and another's", resourceType: "Microsoft.Authorization/roleAssignments", observed: `{"properties":{"principalId":"` + guid + `"}}`},
		"vault":      {reason: "a vault shows the tenant's ID only", resourceType: "Microsoft.KeyVault/vaults", observed: `{"properties":{"tenantId":"` + guid + `"}}`},
		"empty":      {reason: "the empty GUID is none", resourceType: "Microsoft.Network/virtualNetworks", observed: `{"properties":{"resourceGuid":"00000000-0000-0000-0000-000000000000"}}`},
		"no GUID":    {reason: "a name is no identity", resourceType: "Microsoft.Network/virtualNetworks", observed: `{"properties":{"resourceGuid":"v1"}}`},
		"unknown":    {reason: "nothing is published about the type", resourceType: "Contoso.Things/things", observed: `{"properties":{"resourceGuid":"` + guid + `"}}`},
		"absent":     {reason: "there is nothing to read", resourceType: "Microsoft.Network/virtualNetworks"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			observed, err := resource.DecodeBody([]byte(c.observed))
			must(t, err)
			if diff := cmp.Diff(c.want, identityOf(c.resourceType, observed)); diff != "" {
				t.Errorf("%s (-want +got):\n%s", c.reason, diff)
			}
		})
	}
}

func TestNamesItself(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		resourceType, member string
		want                 bool
	}{
		"own type":      {"Contoso.Data/clusters", "clusterId", true},
		"initials":      {"Contoso.Cloud/virtualMachines", "vmId", true},
		"last word":     {"Contoso.Apps/containerApps", "appId", true},
		"ies":           {"Contoso.Data/factories", "factoryId", true},
		"general":       {"Contoso.Data/clusters", "uniqueIdentifier", true},
		"tenant":        {"Contoso.Data/clusters", "tenantId", false},
		"subscription":  {"Contoso.Data/subscriptions", "subscriptionId", false},
		"operation":     {"Contoso.Data/clusters", "lastOperationId", false},
		"other":         {"Contoso.Data/clusters", "workspaceId", false},
		"no identifier": {"Contoso.Data/clusters", "cluster", false},
	} {
		if got := namesItself(c.resourceType, c.member); got != c.want {
			t.Errorf("%s: namesItself(%s, %s) = %v", name, c.resourceType, c.member, got)
		}
	}
}
