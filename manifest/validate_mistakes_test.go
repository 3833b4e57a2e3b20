package manifest

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// correct has no mistake: references, outputs, names with dashes and addresses that fit.
const correct = `type: Microsoft.ManagedIdentity/userAssignedIdentities@2023-01-31
name: id-dev
owner: /subscriptions/11111111-2222-3333-4444-555555555555/resourceGroups/rg
body: {location: westeurope}
outputs: {CLIENT: properties.clientId}
---
type: Microsoft.Storage/storageAccounts@2023-01-01
name: stdev
owner: /subscriptions/11111111-2222-3333-4444-555555555555/resourceGroups/rg
body: {location: westeurope, kind: StorageV2, sku: {name: Standard_LRS}}
outputs: {BLOB: properties.primaryEndpoints.blob}
---
type: Microsoft.Sql/servers@2021-11-01
name: tix-dev-sql
owner: /subscriptions/11111111-2222-3333-4444-555555555555/resourceGroups/rg
body: {location: westeurope, properties: {version: "12.0"}}
---
type: Microsoft.Sql/servers/firewallRules@2021-11-01
name: office
owner: tix-dev-sql
body: {properties: {startIpAddress: 203.0.113.1, endIpAddress: 203.0.113.9}}
---
type: Microsoft.Network/virtualNetworks@2023-09-01
name: vnet
owner: /subscriptions/11111111-2222-3333-4444-555555555555/resourceGroups/rg
body:
  location: westeurope
  properties:
    addressSpace: {addressPrefixes: [10.1.0.0/16]}
    subnets:
      - {name: apps, properties: {addressPrefix: 10.1.0.0/24}}
---
type: Microsoft.Network/virtualNetworks/subnets@2023-09-01
name: data
owner: vnet
body: {properties: {addressPrefix: 10.1.1.0/24}}
---
type: Microsoft.Network/virtualNetworks/subnets@2023-09-01
name: more
owner: vnet
body: {properties: {addressPrefix: 10.1.2.0/24}}
---
type: Microsoft.Network/routeTables@2023-09-01
name: routes
owner: /subscriptions/11111111-2222-3333-4444-555555555555/resourceGroups/rg
body: {location: westeurope, properties: {routes: [{name: all, properties: {addressPrefix: 0.0.0.0/0, nextHopType: Internet}}]}}
---
type: Microsoft.ContainerService/managedClusters@2023-09-01
name: aks
owner: /subscriptions/11111111-2222-3333-4444-555555555555/resourceGroups/rg
body: {location: westeurope, properties: {networkProfile: {podCidr: 10.244.0.0/16, serviceCidr: 10.0.0.0/16, dnsServiceIP: 10.0.0.10}}}
---
type: Microsoft.Web/sites@2022-09-01
name: web
owner: /subscriptions/11111111-2222-3333-4444-555555555555/resourceGroups/rg
body:
  location: westeurope
  tags:
    client: {$ref: id-dev, path: properties.clientId}
    sql: {$text: "${ref.tix-dev-sql.properties.fullyQualifiedDomainName}"}
    blob: {$text: "${ref.stdev.properties.primaryEndpoints.blob}x"}
    vnet: {$ref: vnet, path: "properties.subnets[0].id"}
    group: {$text: "${ref[\"id-dev\"].location}"}
    hosts: {$text: "${ref.web-api.properties.hostNames[0]}"}
---
type: Microsoft.Web/sites@2022-09-01
name: web-api
owner: /subscriptions/11111111-2222-3333-4444-555555555555/resourceGroups/rg
body: {location: westeurope}
`

// TestValidateMistakes verifies that mistakes behind references, in names and in addresses are
// told offline, at the line of the mistake.
func TestValidateMistakes(t *testing.T) {
	cases := map[string]struct {
		// old is replaced by wrong; the issue is in the line of wrong and has all texts.
		old, wrong string
		want       []string
	}{
		"property of a $ref":             {"properties.clientId}\n    sql", "properties.clintId}\n    sql", []string{"properties.clintId", "did you mean clientId?"}},
		"first step of a $ref":           {"path: properties.clientId", "path: propertys.clientId", []string{"no property propertys", "did you mean properties?"}},
		"unknown property of a $ref":     {"path: properties.clientId", "path: properties.passphrase", []string{"no property properties.passphrase"}},
		"item of a list of a $ref":       {"subnets[0].id", "subnets[0].ident", []string{"no property properties.subnets[0].ident"}},
		"list of a $ref":                 {"properties.subnets[0]", "properties.subnet[0]", []string{"no property properties.subnet", "did you mean subnets?"}},
		"step below a text of a $ref":    {"path: properties.clientId", "path: properties.clientId.value", []string{"no property properties.clientId.value"}},
		"unfinished path of a $ref":      {"path: properties.clientId", "path: properties..clientId", []string{"a name is empty"}},
		"name of a $ref":                 {"$ref: id-dev", "$ref: id-dve", []string{`no manifest is named "id-dve"`, "id-dev"}},
		"property in a text":             {"fullyQualifiedDomainName}", "fullyQualifiedDomianName}", []string{"did you mean fullyQualifiedDomainName?"}},
		"deep property in a text":        {"primaryEndpoints.blob}x", "primaryEndpoints.blobs}x", []string{"no property properties.primaryEndpoints.blobs", "did you mean blob?"}},
		"property between in a text":     {"properties.primaryEndpoints.blob}x", "properties.primaryEndpoint.blob}x", []string{"did you mean primaryEndpoints?"}},
		"first property in a text":       {`[\"id-dev\"].location`, `[\"id-dev\"].locatoin`, []string{"did you mean location?"}},
		"list in a text":                 {"properties.hostNames[0]", "properties.hostName[0]", []string{"did you mean hostNames?"}},
		"name with dashes in a text":     {"ref.tix-dev-sql.", "ref.tix-dev-sq.", []string{`no manifest is named "tix-dev-sq"`, "tix-dev-sql"}},
		"quoted name in a text":          {`ref[\"id-dev\"]`, `ref[\"id-dve\"]`, []string{`no manifest is named "id-dve"`}},
		"whole resource in a text":       {"${ref.stdev.properties.primaryEndpoints.blob}", "${ref}", []string{"only read by field"}},
		"output":                         {"CLIENT: properties.clientId", "CLIENT: properties.clientID2", []string{"no property properties.clientID2", "did you mean clientId?"}},
		"deep output":                    {"BLOB: properties.primaryEndpoints.blob", "BLOB: properties.primaryEndpoints.blobb", []string{"did you mean blob?"}},
		"output without properties":      {"CLIENT: properties.clientId", "CLIENT: clientId", []string{"no property clientId"}},
		"type, one letter less":          {"Microsoft.Web/sites@2022-09-01\nname: web-api", "Microsoft.Web/site@2022-09-01\nname: web-api", []string{"not a published type", "Microsoft.Web/sites"}},
		"type, letters swapped":          {"Microsoft.Network/routeTables", "Microsoft.Network/routeTabels", []string{"did you mean Microsoft.Network/routeTables?"}},
		"provider, one letter more":      {"Microsoft.Storage/storageAccounts", "Microsoft.Storrage/storageAccounts", []string{"did you mean Microsoft.Storage/storageAccounts?"}},
		"type in the singular":           {"Microsoft.ManagedIdentity/userAssignedIdentities", "Microsoft.ManagedIdentity/userAssignedIdentity", []string{"did you mean Microsoft.ManagedIdentity/userAssignedIdentities?"}},
		"prefix that is too long":        {"addressPrefix: 10.1.1.0/24", "addressPrefix: 10.1.1.0/33", []string{"10.1.1.0/33 is no range of addresses"}},
		"number that is too large":       {"addressPrefix: 10.1.1.0/24", "addressPrefix: 10.1.256.0/24", []string{"10.1.256.0/24 is no range of addresses"}},
		"too few numbers":                {"addressPrefix: 0.0.0.0/0", "addressPrefix: 0.0.0/0", []string{"0.0.0/0 is no range of addresses"}},
		"range that begins in between":   {"addressPrefix: 10.1.1.0/24", "addressPrefix: 10.1.1.1/24", []string{"write 10.1.1.0/24"}},
		"subnet outside of the network":  {"addressPrefix: 10.1.1.0/24", "addressPrefix: 10.2.1.0/24", []string{"10.2.1.0/24 is outside of its network, which has 10.1.0.0/16"}},
		"subnet larger than the network": {"addressPrefix: 10.1.1.0/24", "addressPrefix: 10.0.0.0/8", []string{"10.0.0.0/8"}},
		"inline subnet outside":          {"addressPrefix: 10.1.0.0/24", "addressPrefix: 10.9.0.0/24", []string{"10.9.0.0/24 is outside of its network"}},
		"subnet over an inline one":      {"addressPrefix: 10.1.1.0/24", "addressPrefix: 10.1.0.128/25", []string{"10.1.0.128/25 overlaps 10.1.0.0/24 of another subnet"}},
		"subnet over another":            {"addressPrefix: 10.1.2.0/24", "addressPrefix: 10.1.1.64/26", []string{"10.1.1.64/26 overlaps 10.1.1.0/24 of another subnet"}},
		"impossible space of a network":  {"[10.1.0.0/16]", "[10.1.0.0/61]", []string{"10.1.0.0/61 is no range of addresses"}},
		"last address before the first":  {"endIpAddress: 203.0.113.9", "endIpAddress: 203.0.113.0", []string{"203.0.113.0 is before the first address 203.0.113.1"}},
		"pods over services":             {"podCidr: 10.244.0.0/16", "podCidr: 10.0.128.0/17", []string{"overlaps 10.0.0.0/16 of serviceCidr"}},
		"DNS outside of the services":    {"dnsServiceIP: 10.0.0.10", "dnsServiceIP: 10.2.0.10", []string{"10.2.0.10 is outside of serviceCidr"}},
	}
	check := func(t *testing.T, text string) Issues {
		t.Helper()
		file := filepath.Join(t.TempDir(), "m.yaml")
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return Validate(Options{}, file).Issues
	}
	if issues := check(t, correct); len(issues) > 0 {
		t.Fatalf("the correct manifests have issues: %v", issues)
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			before, after, found := strings.Cut(correct, tc.old)
			if !found {
				t.Fatalf("no %q", tc.old)
			}
			line := 1 + strings.Count(before, "\n")
			for _, issue := range check(t, before+tc.wrong+after) {
				told := issue.Line == line
				for _, want := range tc.want {
					told = told && strings.Contains(issue.Message, want)
				}
				if told {
					return
				}
			}
			t.Errorf("no issue in line %d with %q, found %v", line, tc.want, check(t, before+tc.wrong+after))
		})
	}
}
