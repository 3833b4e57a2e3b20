package manifest

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestPlain checks how a manifest states a value that is no secret under a property with
// the name of one.
func TestPlain(t *testing.T) {
	t.Parallel()
	const start = "type: Contoso.Things/things@2024-01-01\nname: t\nowner: /subscriptions/11111111-2222-3333-4444-555555555555/resourceGroups/g\nbody:\n  properties: "
	cases := map[string]struct {
		reason, properties, body string
		plain                    []string
		want                     string
	}{
		"text":    {reason: "the author states that it is none", properties: "{sortKey: a, primaryKey: {$plain: data.color}}", body: `{"primaryKey":"data.color","sortKey":"a"}`, plain: []string{"properties.primaryKey"}},
		"list":    {reason: "all of them", properties: "{indexKeys: {$plain: [_id, name]}}", body: `{"indexKeys":["_id","name"]}`, plain: []string{"properties.indexKeys"}},
		"filter":  {reason: "the table has it", properties: "{advancedFilters: [{operatorType: StringIn, key: data.color, values: [red]}]}", body: `{"advancedFilters":[{"key":"data.color","operatorType":"StringIn","values":["red"]}]}`},
		"literal": {reason: "without it nothing is plain", properties: "{primaryKey: data.color}", want: "is a literal secret; write {$secret: env:NAME} or {$secret: file:NAME}, or {$plain: VALUE} if it is none"},
		"object":  {reason: "an object may hide more than its author sees", properties: "{keys: {$plain: {a: b}}}", want: "write a text, or a list of texts"},
		"more":    {reason: "the marker stands alone", properties: "{keys: {$plain: a, b: c}}", want: "$plain must be the only property"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			set, err := Load(Options{Stdin: strings.NewReader(start + c.properties + "\n")}, "-")
			if c.want != "" {
				if err == nil || !strings.Contains(err.Error(), c.want) {
					t.Errorf("%s: got %v, want %q", c.reason, err, c.want)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			got := set.Resources[0]
			if body := `{"properties":` + c.body + `}`; string(got.Body) != body {
				t.Errorf("%s: body %s, want %s", c.reason, got.Body, body)
			}
			if diff := cmp.Diff(c.plain, got.Plain); diff != "" {
				t.Errorf("%s: plain paths (-want +got):\n%s", c.reason, diff)
			}
		})
	}
}
