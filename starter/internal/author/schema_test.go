package author

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/armature-io/armature/manifest"
	"github.com/armature-io/armature/types"
	"github.com/google/go-cmp/cmp"
)

// written returns the schema of the types in use, decoded.
func written(t *testing.T, uses []Use, descriptions bool) (object, int) {
	t.Helper()
	raw, err := WriteSchema(uses, descriptions)
	if err != nil {
		t.Fatal(err)
	}
	var schema object
	if err := json.Unmarshal(raw, &schema); err != nil {
		t.Fatal(err)
	}
	return schema, len(raw)
}

// at follows keys of objects and "0" for the first item of a list, also through
// references.
func at(t *testing.T, root object, path ...string) any {
	t.Helper()
	var value any = root
	for _, key := range path {
		if list, isList := value.([]any); isList && key == "0" {
			value = list[0]
			continue
		}
		o, _ := value.(object)
		if name, refers := o["$ref"].(string); refers {
			o = root["definitions"].(object)[strings.TrimPrefix(name, prefix)].(object)
		}
		if value = o[key]; value == nil {
			t.Fatalf("%v: %q is missing in %v", path, key, o)
		}
	}
	return value
}

// TestFields checks that the schema has every field of the manifest and no other one.
func TestFields(t *testing.T) {
	schema, _ := written(t, nil, true)
	var got []string
	add := func(prefix string, section object) {
		for name, field := range section["properties"].(object) {
			got = append(got, prefix+name)
			if field.(object)["description"] == "" {
				t.Errorf("%s%s has no description", prefix, name)
			}
		}
	}
	add("", schema)
	add("reconcile.", at(t, schema, "properties", "reconcile").(object))
	slices.Sort(got)
	var want, required []string
	for _, f := range manifest.Fields() {
		want = append(want, f.Name)
		if f.Required {
			required = append(required, f.Name)
		}
	}
	slices.Sort(want)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("fields (-manifest +schema):\n%s", diff)
	}
	if diff := cmp.Diff(required, texts(schema["required"])); diff != "" {
		t.Errorf("required fields (-manifest +schema):\n%s", diff)
	}
	for _, f := range manifest.Fields() {
		if outer, name, nested := strings.Cut(f.Name, "."); nested && f.Kind == manifest.KindChoice {
			if diff := cmp.Diff(f.Allowed, texts(at(t, schema, "properties", outer, "properties", name, "enum"))); diff != "" {
				t.Errorf("%s (-manifest +schema):\n%s", f.Name, diff)
			}
		}
	}
	if _, found := schema["allOf"]; found {
		t.Error("a schema without types has an empty list, for which servers drop it")
	}
}

func texts(list any) []string {
	var found []string
	items, _ := list.([]any)
	for _, item := range items {
		text, _ := item.(string)
		found = append(found, text)
	}
	return found
}

func TestBody(t *testing.T) {
	schema, _ := written(t, []Use{{accounts, "2023-01-01"}}, true)
	body := []string{"allOf", "0", "then", "properties", "body"}
	for name, tc := range map[string]struct {
		reason string
		path   []string
		want   string
	}{
		"condition":   {"the type with its version", []string{"allOf", "0", "if", "properties", "type", "enum"}, `["` + accounts + `@2023-01-01"]`},
		"required":    {"without name and type, which the manifest states", append(body, "required"), `["kind","location","sku"]`},
		"unknown":     {"other properties are not allowed", append(body, "properties", "properties", "additionalProperties"), `false`},
		"repeated":    {"what the manifest states", append(body, "patternProperties"), `{"^(id|name|type)$":{"type":"string"}}`},
		"closed enum": {"the values, or a marker", append(body, "properties", "properties", "properties", "networkAcls", "properties", "defaultAction", "anyOf"), `[{"enum":["Allow","Deny"]},{"$ref":"#/definitions/marker"}]`},
		"open enum":   {"other texts too", append(body, "properties", "properties", "properties", "minimumTlsVersion", "anyOf"), `[{"enum":["TLS1_0","TLS1_1","TLS1_2"]},{"type":"string"},{"$ref":"#/definitions/marker"}]`},
		"boolean":     {"no marker: it is a text", append(body, "properties", "properties", "properties", "isHnsEnabled", "type"), `"boolean"`},
		"map":         {"any key", append(body, "properties", "tags", "additionalProperties"), `{"$ref":"#/definitions/text"}`},
		"description": {"kind, flags and values", append(body, "properties", "properties", "properties", "networkAcls", "properties", "defaultAction", "description"), `"text, required: Allow | Deny"`},
		"marker":      {"$ref with a path", []string{"definitions", "marker", "anyOf", "0", "required"}, `["$ref"]`},
		"other types": {"types that are not in use are offered", []string{"properties", "type", "defaultSnippets", "0", "body"}, `"` + AllUses()[0].Type + "@" + AllUses()[0].Version + `"`},
	} {
		t.Run(name, func(t *testing.T) {
			raw, err := json.Marshal(at(t, schema, tc.path...))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, string(raw)); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

// TestSpecialBodies checks the types whose bodies are not plain objects.
func TestSpecialBodies(t *testing.T) {
	for name, tc := range map[string]struct {
		reason string
		use    Use
		want   []string
	}{
		"forms":         {"a discriminator selects a form", Use{"Microsoft.Resources/deploymentScripts", "2023-08-01"}, []string{`"kind":{"enum":["AzureCLI"]}`, `"azPowerShellVersion"`}},
		"form by name":  {"the body may be of any form", Use{"Microsoft.Web/sites/config", "2023-01-01"}, []string{`"name":{"anyOf":[{"enum":["appsettings",`, `"acrUseManagedIdentityCreds"`}},
		"fixed name":    {"the name, or names of owners", Use{accounts + "/blobServices", "2023-01-01"}, []string{`"name":{"anyOf":[{"enum":["default"]},{"pattern":"/","type":"string"}]}`}},
		"extra value":   {"what an extension takes", Use{"Microsoft.KeyVault/vaults", "2023-07-01"}, []string{`"createMode":{"anyOf":[{"enum":["recover","default","createOrRecover","purgeThenCreate"]}`}},
		"other version": {"the nearest published version", Use{accounts, "2023-01-02"}, []string{`"enum":["` + accounts + `@2023-01-02"]`, `"networkAcls"`}},
		"other case":    {"as the manifest writes it, and as published", Use{"microsoft.storage/storageaccounts", "2023-01-01"}, []string{`["` + accounts + `@2023-01-01","microsoft.storage/storageaccounts@2023-01-01"]`}},
	} {
		t.Run(name, func(t *testing.T) {
			raw, err := WriteSchema([]Use{tc.use}, false)
			if err != nil {
				t.Fatal(err)
			}
			for _, want := range tc.want {
				if !strings.Contains(string(raw), want) {
					t.Errorf("%s: %s is missing", tc.reason, want)
				}
			}
		})
	}
}

func TestOf(t *testing.T) {
	got := UsesOf([]manifest.Document{{Type: accounts, Version: "2023-01-01"}, {Type: accounts, Version: "2023-01-01"}, {Type: "A.B/cs", Version: "2023-01-01"}, {}})
	if diff := cmp.Diff([]Use{{accounts, "2023-01-01"}}, got); diff != "" {
		t.Errorf("each published type once (-want +got):\n%s", diff)
	}
}

func TestPortable(t *testing.T) {
	for name, tc := range map[string]struct {
		reason, pattern string
		want            bool
	}{
		"plain":     {"both have it", `^[a-z0-9]+$`, true},
		"group":     {"both have it", `^(?:a|b)$`, true},
		"lookahead": {"the checks of manifests skip it", `^(?!-)a`, false},
		"flag":      {"editors have no flags", `(?i)^a$`, false},
		"none":      {"no pattern", ``, false},
	} {
		t.Run(name, func(t *testing.T) {
			if got := portable(tc.pattern); got != tc.want {
				t.Errorf("portable(%q) = %v: %s", tc.pattern, got, tc.reason)
			}
		})
	}
}

// TestAll checks the schema of every type: references lead to definitions, all
// definitions are used, and no list is empty. It prints the size.
func TestAll(t *testing.T) {
	if testing.Short() {
		t.Skip("the schema of all types is large; test-product checks it")
	}
	schema, size := written(t, AllUses(), false)
	definitions := schema["definitions"].(object)
	used := map[string]bool{}
	var walk func(value any)
	walk = func(value any) {
		switch value := value.(type) {
		case object:
			if name, refers := value["$ref"].(string); refers {
				name = strings.TrimPrefix(name, prefix)
				used[name] = true
				if definitions[name] == nil {
					t.Errorf("the definition %s is missing", name)
				}
			}
			for _, member := range value {
				walk(member)
			}
		case []any:
			if len(value) == 0 {
				t.Error("a list is empty")
			}
			for _, item := range value {
				walk(item)
			}
		}
	}
	walk(schema)
	for name := range definitions {
		if !used[name] {
			t.Errorf("the definition %s is not used", name)
		}
	}
	if got, want := len(schema["allOf"].([]any)), len(types.Names(true)); got != want {
		t.Errorf("%d types, want %d", got, want)
	}
	const maxSize = 6 << 20
	if size > maxSize {
		t.Errorf("the schema has %d bytes, want at most %d", size, maxSize)
	}
	t.Logf("%d types, %d definitions, %d bytes", len(types.Names(true)), len(definitions), size)
}
