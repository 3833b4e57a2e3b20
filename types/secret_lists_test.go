package types_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/armature-io/armature/types"
)

//guard:secrets-of-others
func TestSecretLists(t *testing.T) {
	cases := map[string]struct {
		reason, typ, version string
		want                 []string
	}{
		"items": {"the item of the answer has the members of the body's item", "Microsoft.App/containerApps", "2024-03-01",
			[]string{"listSecrets properties.configuration.secrets.[].value from value.[].value"}},
		"same path": {"the answer is the resource with its secrets", "Microsoft.BotService/botServices/connections", "2022-09-15",
			[]string{"listWithSecrets properties.clientSecret from properties.clientSecret"}},
		"flat": {"the answer has members of the object", "Microsoft.ApiManagement/service/authorizationServers", "2022-08-01",
			[]string{"listSecrets properties.clientSecret from clientsecret"}},
		"older version": {"the action was published later", "Microsoft.Network/virtualNetworkGateways", "2023-09-01",
			[]string{"listRadiusSecrets properties.vpnClientConfiguration.radiusServers.[].radiusServerSecret from value.[].radiusserversecret"}},
		"other members":   {"keys of the service are not what the body states", "Microsoft.Devices/IotHubs", "2023-06-30", nil},
		"no secret":       {"its keys are not in the body", "Microsoft.Storage/storageAccounts", "2023-01-01", nil},
		"not published":   {"a private type", "Contoso.Things/things", "2023-01-01", nil},
		"only credential": {"a file with credentials is no secret of the body", "Microsoft.ContainerService/managedClusters", "2024-02-01", nil},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			var got []string
			for _, list := range types.SecretListsOf(tc.typ, tc.version) {
				got = append(got, list.Action+" "+strings.Join(list.Secret, ".")+" from "+strings.Join(list.Answer, "."))
			}
			var want []string
			for _, text := range tc.want {
				action, rest, _ := strings.Cut(text, " ")
				want = append(want, action+" "+strings.ToLower(rest))
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%s (-want +got)\n%s", tc.reason, diff)
			}
		})
	}
}

// TestSecretListsOfAllTypes counts the types with such an action, so that a change of the
// rule shows.
func TestSecretListsOfAllTypes(t *testing.T) {
	found := 0
	for _, name := range types.Names(true) {
		lists := types.SecretListsOf(name, types.Newest(name))
		if len(lists) > 0 {
			found++
		}
		for _, list := range lists {
			if len(list.Secret) == 0 || list.Version == "" || !strings.EqualFold(list.Action[:4], "list") {
				t.Errorf("%s: %+v", name, list)
			}
		}
	}
	t.Logf("%d types list secrets of their bodies", found)
	if found < 15 {
		t.Errorf("%d types list secrets of their bodies, want at least 15", found)
	}
}
