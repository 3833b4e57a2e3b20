package convert

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/armature-io/armature/manifest"
	"github.com/armature-io/armature/resource"
)

const (
	readGroup    = "/subscriptions/11111111-2222-3333-4444-555555555555/resourceGroups/rg1"
	readCluster  = readGroup + "/providers/Microsoft.Kusto/clusters/adx"
	readDatabase = readCluster + "/databases/telemetry"
)

func TestOwnerText(t *testing.T) {
	for id, want := range map[string]string{
		readCluster:  readGroup,
		readDatabase: readCluster,
		readGroup:    "/subscriptions/11111111-2222-3333-4444-555555555555",
		readCluster + "/providers/Microsoft.Authorization/locks/l1":                                                 readCluster + "@2023-08-15",
		"/providers/Microsoft.Management/managementGroups/m1":                                                       "/",
		"/subscriptions/11111111-2222-3333-4444-555555555555/providers/Microsoft.Authorization/policyDefinitions/p": "/subscriptions/11111111-2222-3333-4444-555555555555",
	} {
		parsed, err := resource.ParseID(id)
		if err != nil {
			t.Fatal(err)
		}
		read := Observed{ID: parsed, APIVersion: "2020-01-01", Body: json.RawMessage(`{}`)}
		if strings.Contains(id, "locks") {
			read.OwnerAPIVersion = "2023-08-15"
		}
		text := written(t, read)
		if !strings.Contains(text, "\nowner: "+want+"\n") {
			t.Errorf("%s: want the owner %q in\n%s", id, want, text)
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
	id, err := resource.ParseID(readCluster)
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
			text := written(t, Observed{ID: id, APIVersion: "2023-08-15", Body: body, Comments: c.secrets})
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

// written returns the manifest of one resource.
func written(t *testing.T, read Observed) string {
	t.Helper()
	made, err := FromObserved(Options{}, []Observed{read})
	if err != nil || len(made) != 1 || made[0].Err != nil {
		t.Fatalf("%v: %+v", err, made)
	}
	return made[0].Text
}

// TestObservedIsPlannable verifies that a manifest of a resource that Azure shows against its own
// published types is marked, and no other one.
func TestObservedIsPlannable(t *testing.T) {
	const group = "/subscriptions/11111111-2222-3333-4444-555555555555/resourceGroups/rg/providers/Microsoft.Storage/storageAccounts/"
	observed := func(name, body string) Observed {
		id, err := resource.ParseID(group + name)
		if err != nil {
			t.Fatal(err)
		}
		return Observed{ID: id, APIVersion: "2023-01-01", Body: json.RawMessage(body)}
	}
	const rest = `"location":"westeurope","kind":"StorageV2","sku":{"name":"Standard_LRS"}`
	made, err := FromObserved(Options{}, []Observed{
		observed("clean", `{`+rest+`}`),
		observed("wrong", `{`+rest+`,"properties":{"minimumTlsVerison":"TLS1_2","supportsHttpsTrafficOnly":"yes"}}`),
	})
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(made[0].Text, "validation") {
		t.Errorf("a clean resource is marked:\n%s", made[0].Text)
	}
	text := made[1].Text
	for _, want := range []string{"validation: warn", "# Azure shows it, the published types refuse it: body.properties.minimumTlsVerison: unknown property"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	if _, err := manifest.Load(manifest.Options{Validate: true, Stdin: strings.NewReader(text)}, "-"); err != nil {
		t.Errorf("a plan refuses it: %v", err)
	}
}
