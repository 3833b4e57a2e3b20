package azure

import (
	"strings"
	"testing"

	"github.com/armature-io/armature/manifest"
)

// TestAddedValuesValidate: the table has the values that this package adds to Azure's, and a
// manifest may state them.
func TestAddedValuesValidate(t *testing.T) {
	vault := func(mode string) string {
		return "type: " + KeyVaultType + "@2023-07-01\nname: vault1\nowner: /subscriptions/11111111-2222-3333-4444-555555555555/resourceGroups/g\n" +
			"body: {location: westus2, properties: {tenantId: 11111111-2222-3333-4444-555555555555, sku: {family: A, name: standard}, createMode: " + mode + "}}\n"
	}
	facts := func(resourceType string) manifest.Facts {
		found := manifest.Facts{Values: map[string][]string{}}
		for _, values := range FactsOf(resourceType).Values {
			found.Values[values.Path] = values.Values
		}
		return found
	}
	for mode, want := range map[string]int{createOrRecover: 0, purgeThenCreate: 0, "recover": 0, "recoverOrCreate": 1} {
		report := manifest.Validate(manifest.Options{Facts: facts, Stdin: strings.NewReader(vault(mode))}, "-")
		if len(report.Issues) != want {
			t.Errorf("createMode %s: %v, want %d issues", mode, report.Issues, want)
		}
	}
}
