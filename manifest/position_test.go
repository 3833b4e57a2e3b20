package manifest_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/armature-io/armature/manifest"
)

func TestIssueOf(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "net.yaml")
	text := `type: Microsoft.Network/virtualNetworks@2024-01-01
name: net
owner: /subscriptions/11111111-2222-3333-4444-555555555555/resourceGroups/rg1
body:
  location: westus2
  properties:
    addressSpace:
      addressPrefixes: [10.0.0.0/16]
    subnets:
    - name: a
      properties: {addressPrefix: 10.0.0.0/24}
    - name: b
      properties:
        addressPrefix: 10.9.0.0/24
`
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	set, err := manifest.Load(manifest.Options{}, file)
	if err != nil {
		t.Fatal(err)
	}
	cases := map[string]struct{ reason, property, want string }{
		"Path":      {"a property has its own line", "properties.subnets[1].properties.addressPrefix", "14 body.properties.subnets[name=b].properties.addressPrefix"},
		"Short":     {"many providers leave properties out", "addressSpace.addressPrefixes", "8 body.properties.addressSpace.addressPrefixes"},
		"Missing":   {"a missing property is at the object that lacks it", "properties.dhcpOptions", "6 body.properties.dhcpOptions"},
		"Envelope":  {"a member beside properties", "location", "5 body.location"},
		"NoPath":    {"a text that is no path is at the manifest", "the network: [", "1 the network: ["},
		"NoName":    {"without a property", "", "1 "},
		"ItemAlone": {"an item of a list", "properties.subnets[0]", "10 body.properties.subnets[name=a]"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			issue := set.IssueOf(set.Resources[0].ID, c.property, "wrong")
			if got := fmt.Sprint(issue.Line, " ", issue.Path); got != c.want || issue.File != file || issue.Severity != manifest.SeverityFault {
				t.Errorf("%s: got %q of %+v, want %q", c.reason, got, issue, c.want)
			}
		})
	}
}
