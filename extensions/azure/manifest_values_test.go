package azure

import (
	"strings"
	"testing"

	"github.com/armature-io/armature/manifest"
)

// TestAddedValuesValidate checks that a manifest may state the values that this package
// adds to Azure's: package manifest has a table of them, and cannot import this one.
func TestAddedValuesValidate(t *testing.T) {
	vault := func(mode string) string {
		return "type: " + KeyVaultType + "@2023-07-01\nname: vault1\nowner: /subscriptions/11111111-2222-3333-4444-555555555555/resourceGroups/g\n" +
			"body: {location: westus2, properties: {tenantId: 11111111-2222-3333-4444-555555555555, sku: {family: A, name: standard}, createMode: " + mode + "}}\n"
	}
	for mode, want := range map[string]int{createOrRecover: 0, purgeThenCreate: 0, "recover": 0, "recoverOrCreate": 1} {
		report := manifest.Validate(manifest.Options{Stdin: strings.NewReader(vault(mode))}, "-")
		if len(report.Issues) != want {
			t.Errorf("createMode %s: %v, want %d issues", mode, report.Issues, want)
		}
	}
}
