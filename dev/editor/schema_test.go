package editor

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"go.yaml.in/yaml/v3"
)

// compiled returns the schema that the CLI writes, checked against draft-07.
func compiled(t *testing.T, args ...string) *jsonschema.Schema {
	t.Helper()
	text := cli(t, append([]string{"init", "--print"}, args...)...)
	t.Logf("armature init --print %s: %d bytes", strings.Join(args, " "), len(text))
	document, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	compiler := jsonschema.NewCompiler()
	if err := compiler.AddResource("schema.json", document); err != nil {
		t.Fatal(err)
	}
	schema, err := compiler.Compile("schema.json")
	if err != nil {
		t.Fatal(err)
	}
	return schema
}

// documents returns the YAML documents of a text as decoded JSON.
func documents(t *testing.T, text []byte) []any {
	t.Helper()
	var list []any
	decoder := yaml.NewDecoder(bytes.NewReader(text))
	for {
		var document any
		err := decoder.Decode(&document)
		if errors.Is(err, io.EOF) {
			return list
		}
		if err != nil {
			t.Fatal(err)
		}
		raw, err := json.Marshal(document)
		if err != nil {
			t.Fatal(err)
		}
		value, err := jsonschema.UnmarshalJSON(bytes.NewReader(raw))
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, value)
	}
}

// TestSchema validates the examples and manifests with one fault each.
func TestSchema(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(root, "examples", "*.yaml"))
	if err != nil || len(files) < 10 {
		t.Fatalf("%d examples: %v", len(files), err)
	}
	schema := compiled(t, filepath.Join(root, "examples"))
	validated := 0
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, document := range documents(t, text) {
			validated++
			if err := schema.Validate(document); err != nil {
				t.Errorf("%s: %v", filepath.Base(file), err)
			}
		}
	}
	t.Logf("%d manifests", validated)
	const base = "type: Microsoft.Kusto/clusters@2023-08-15\nname: adx\nbody:\n  location: westus2\n  sku: {name: Standard_E2d_v4, tier: Standard}\n"
	cases := map[string]struct {
		reason, text string
		valid        bool
	}{
		"good":          {"the base of the others", base, true},
		"property":      {"a property that the type does not have", base + "  properties: {enableDiskEncrypton: true}\n", false},
		"kind":          {"a text for a boolean", base + "  properties: {enableDiskEncryption: 'true'}\n", false},
		"value":         {"a value that is not published", "type: Microsoft.Storage/storageAccounts@2021-04-01\nname: acc1\nbody: {location: x, kind: StorageV2, sku: {name: Standard_LRS}, properties: {networkAcls: {defaultAction: Deni}}}\n", false},
		"marker":        {"a marker for a text", base + "  properties: {virtualClusterGraduationProperties: {$secret: env:X}}\n", true},
		"odd marker":    {"a marker has no other members", base + "  properties: {virtualClusterGraduationProperties: {$secret: env:X, y: 1}}\n", false},
		"required":      {"the sku is missing", "type: Microsoft.Kusto/clusters@2023-08-15\nname: adx\nbody: {location: westus2}\n", false},
		"read-only":     {"Azure sets it", base + "  properties: {state: Running}\n", false},
		"field":         {"a field that manifests do not have", base + "lables: {a: b}\n", false},
		"word":          {"a word that reconcile does not know", base + "reconcile: {policy: manag}\n", false},
		"words":         {"what reconcile knows", base + "reconcile: {policy: observe, interval: 0, timeout: 1h30m, ignore: [properties.x], validation: strict}\n", true},
		"number":        {"a duration needs a unit", base + "reconcile: {interval: 5}\n", false},
		"duration":      {"no duration", base + "reconcile: {timeout: soon}\n", false},
		"label":         {"a label is a text", base + "labels: {rank: 5}\n", false},
		"type":          {"a type needs a version", strings.Replace(base, "@2023-08-15", "", 1), false},
		"other type":    {"a type that is not in use is not checked", strings.Replace(base, "clusters", "other", 1), true},
		"no body":       {"a field is missing", "type: Microsoft.Kusto/clusters@2023-08-15\nname: adx\n", false},
		"repeated name": {"a body may state the name", base + "  name: adx\n", true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if err := schema.Validate(documents(t, []byte(tc.text))[0]); (err == nil) != tc.valid {
				t.Errorf("%s: got %v, want valid: %v", tc.reason, err, tc.valid)
			}
		})
	}
}

// sampleStep is the distance between the types whose skeletons are validated.
const sampleStep = 40

// TestSkeletonsMatchSchema validates the skeletons of a sample of types: `armature new`
// and `armature init --print` agree.
func TestSkeletonsMatchSchema(t *testing.T) {
	var entries []struct {
		Type   string
		Scopes []string
	}
	if err := json.Unmarshal(cli(t, "types", "-o", "json"), &entries); err != nil {
		t.Fatal(err)
	}
	folder := t.TempDir()
	manifests := map[string][]byte{}
	for i, entry := range entries {
		if i%sampleStep == 0 && len(entry.Scopes) > 0 {
			text := cli(t, "new", entry.Type)
			manifests[entry.Type] = text
			write(t, filepath.Join(folder, strings.ReplaceAll(entry.Type, "/", "-")+".yaml"), string(text))
		}
	}
	schema := compiled(t, folder)
	for name, text := range manifests {
		if err := schema.Validate(documents(t, text)[0]); err != nil {
			t.Errorf("%s: %v\n%s", name, err, text)
		}
	}
	t.Logf("%d skeletons", len(manifests))
}
