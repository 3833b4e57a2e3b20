package rules

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestSchemaHasAllFields compares the schema with the fields that a rule file may have.
func TestSchemaHasAllFields(t *testing.T) {
	t.Parallel()
	for what, c := range map[string]struct {
		fields []string
		schema schemaObject
	}{
		"a rule": {ruleFields(), ruleSchema()}, "a test": {testFields(), testSchema()},
	} {
		if diff := cmp.Diff(slices.Sorted(slices.Values(c.fields)), slices.Sorted(maps.Keys(c.schema))); diff != "" {
			t.Errorf("%s (-file +schema):\n%s", what, diff)
		}
		for name, field := range c.schema {
			if text, _ := field.(schemaObject)["description"].(string); !strings.HasSuffix(text, ".") {
				t.Errorf("%s: %s has the description %q", what, name, text)
			}
		}
	}
}

// TestSchemaOffersPaths checks the paths of a type: as published, without those of items, and
// read-only ones for conditions alone.
func TestSchemaOffersPaths(t *testing.T) {
	t.Parallel()
	text, err := Schema([]string{"Microsoft.Storage/storageAccounts", "Contoso.Things/things"})
	if err != nil {
		t.Fatal(err)
	}
	var schema struct {
		Properties struct {
			Rules struct {
				Items struct {
					AllOf []struct {
						Then struct {
							Properties struct {
								When struct{ DefaultSnippets []struct{ Label string } }
								Set  struct{ Properties map[string]any }
							}
						}
					}
				}
			}
		}
	}
	if err := json.Unmarshal(text, &schema); err != nil {
		t.Fatal(err)
	}
	cases := schema.Properties.Rules.Items.AllOf
	if len(cases) != 1 {
		t.Fatalf("%d types have paths, want the published one", len(cases))
	}
	offered := cases[0].Then.Properties
	var conditions []string
	for _, snippet := range offered.When.DefaultSnippets {
		conditions = append(conditions, snippet.Label)
	}
	for path, writable := range map[string]bool{"properties.minimumTlsVersion": true, "properties.provisioningState": false, "sku.name": true} {
		if _, set := offered.Set.Properties[path]; set != writable || !slices.Contains(conditions, "observed."+path) {
			t.Errorf("%s: offered for set %t, for conditions %t", path, set, slices.Contains(conditions, "observed."+path))
		}
	}
	if len(conditions) > maxSchemaPaths || slices.ContainsFunc(conditions, func(c string) bool { return strings.Contains(c, "[") }) {
		t.Errorf("%d conditions are offered", len(conditions))
	}
}
