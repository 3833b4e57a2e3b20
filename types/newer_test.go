package types_test

import (
	"testing"

	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/types"
)

//guard:newer-api-versions
func TestNewerThan(t *testing.T) {
	const storage = "Microsoft.Storage/storageAccounts"
	cases := map[string]struct {
		reason, resourceType, version, path string
		want                                bool
	}{
		"added later":        {"2019 had no public network access", storage, "2019-06-01", "properties.publicNetworkAccess", true},
		"known":              {"2019 had access tiers", storage, "2019-06-01", "properties.accessTier", false},
		"read-only":          {"Azure sets it", storage, "2019-06-01", "properties.storageAccountSkuConversionStatus.startTime", false},
		"newest":             {"there is no newer version", storage, types.Newest(storage), "properties.publicNetworkAccess", false},
		"not published":      {"the nearest version may be another one", storage, "2019-06-02", "properties.publicNetworkAccess", false},
		"in items of a list": {"2017 had no service endpoint policies of subnets", "Microsoft.Network/virtualNetworks", "2017-10-01", "properties.subnets[0].properties.natGateway", true},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			path, err := resource.ParsePath(c.path)
			if err != nil {
				t.Fatal(err)
			}
			newer := types.NewerThan(c.resourceType, c.version)
			if got := newer.Members.Cover(path); got != c.want || got && newer.Version != types.Newest(c.resourceType) {
				t.Errorf("%s: %v in %q", c.reason, got, newer.Version)
			}
		})
	}
}
