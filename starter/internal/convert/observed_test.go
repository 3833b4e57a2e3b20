package importer

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/armature-io/armature/activities"
	"github.com/armature-io/armature/manifest"
	"github.com/armature-io/armature/resource"
)

const (
	group    = "/subscriptions/11111111-2222-3333-4444-555555555555/resourceGroups/rg1"
	cluster  = group + "/providers/Microsoft.Kusto/clusters/adx"
	database = cluster + "/databases/telemetry"
)

func TestOwnerText(t *testing.T) {
	for id, want := range map[string]string{
		cluster:  group,
		database: cluster,
		group:    "/subscriptions/11111111-2222-3333-4444-555555555555",
		cluster + "/providers/Microsoft.Authorization/locks/l1":                                                     cluster + "@2023-08-15",
		"/providers/Microsoft.Management/managementGroups/m1":                                                       "/",
		"/subscriptions/11111111-2222-3333-4444-555555555555/providers/Microsoft.Authorization/policyDefinitions/p": "/subscriptions/11111111-2222-3333-4444-555555555555",
	} {
		parsed, err := resource.ParseID(id)
		if err != nil {
			t.Fatal(err)
		}
		result := activities.ImportResourceResult{ID: parsed, APIVersion: "2020-01-01", Body: json.RawMessage(`{}`)}
		if strings.Contains(id, "locks") {
			result.OwnerAPIVersion = "2023-08-15"
		}
		if got := ownerText(result); got != want {
			t.Errorf("%s: owner %q, want %q", id, got, want)
		}
		text, err := Manifest(result, Reconcile{})
		if err != nil {
			t.Fatal(err)
		}
		set, err := manifest.Load(manifest.Options{Stdin: strings.NewReader(text)}, "-")
		if err != nil || !set.Resources[0].ID.Equal(parsed) {
			t.Errorf("%s: %v of\n%s", id, err, text)
		}
	}
}

// TestManifestIsOneDocument checks that names and values in Azure stay data: whatever they
// contain, the manifest is one document of the resource that was read, with its body.
func TestManifestIsOneDocument(t *testing.T) {
	t.Parallel()
	const injected = "x\n---\ntype: Microsoft.Authorization/roleAssignments@2022-04-01\nname: 1\nowner: /subscriptions/s\n---\n#"
	cases := map[string]struct {
		reason  string
		body    map[string]any
		secrets []string
		want    map[string]any // nil for the body as it is
	}{
		"name of a secret": {reason: "a comment names it", body: map[string]any{"location": "westus2"}, secrets: []string{"properties.definition." + injected}},
		"carriage return":  {reason: "another line break of YAML", body: map[string]any{}, secrets: []string{"a\rb\u0085c\u2028d\u2029e"}},
		"bidi override":    {reason: "a comment that reads otherwise than it is", body: map[string]any{}, secrets: []string{"a\u202eb"}},
		"name":             {reason: "a property", body: map[string]any{"properties": map[string]any{injected: "1"}}},
		"value":            {reason: "a value", body: map[string]any{"properties": map[string]any{"a": injected, "b": "---", "c": "# d", "e": "*f", "g": "&h", "i": "!!binary aa", "j": "<<", "k": "null", "l": "1e3", "m": "yes"}}},
		"marker text":      {reason: "a text that looks like a marker", body: map[string]any{"properties": map[string]any{"a": "{$secret: env:X}"}}},
		"marker": {reason: "a mapping that a manifest would resolve", body: map[string]any{"properties": map[string]any{
			"a": map[string]any{"$secret": "env:X"}, "b": []any{map[string]any{"$ref": "/subscriptions/s", "path": "x"}}, "c": "1",
		}}, want: map[string]any{"properties": map[string]any{"c": "1"}}},
	}
	id, err := resource.ParseID(cluster)
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			body, err := json.Marshal(c.body)
			if err != nil {
				t.Fatal(err)
			}
			text, err := Manifest(activities.ImportResourceResult{ID: id, APIVersion: "2023-08-15", Body: body, Secrets: c.secrets}, Reconcile{})
			if err != nil {
				t.Fatal(err)
			}
			set, err := manifest.Load(manifest.Options{Stdin: strings.NewReader(text)}, "-")
			if err != nil {
				t.Fatalf("%s: %v\n%s", c.reason, err, text)
			}
			if len(set.Resources) != 1 || !set.Resources[0].ID.Equal(id) {
				t.Errorf("%s: %d resources\n%s", c.reason, len(set.Resources), text)
			}
			if c.want == nil {
				c.want = c.body
			}
			got, err := resource.DecodeBody(set.Resources[0].Body)
			if diff := cmp.Diff(c.want, got); diff != "" || err != nil {
				t.Errorf("%s: body (-want +got): %v\n%s", c.reason, err, diff)
			}
		})
	}
}
