package editor

import (
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// edited is a manifest in the state in which an author meets the editor's help.
const edited = `type: Microsoft.Storage/storageAccounts@2023-01-01
name: mystackdata
owner: my-group
body:
  location: westus2
  kind: StorageV2
  sku: {name: Standard_LRS}
  properties:
    alowBlobPublicAccess: false
    minimumTlsVersion: TLS1_2
    networkAcls:
      defaultAction: Deny
      bypass: {$ref: other, path: properties.x}
    supportsHttpsTrafficOnly: 'yes'
    
reconcile: {policy: manag}
`

// line returns the position behind the first text of a file.
func line(t *testing.T, text, find string) position {
	t.Helper()
	before, _, found := strings.Cut(text, find)
	if !found {
		t.Fatalf("%q is missing", find)
	}
	last := strings.LastIndexByte(before+find, '\n')
	return position{Line: strings.Count(before+find, "\n"), Character: len(before+find) - last - 1}
}

// TestEditor opens a manifest after `armature init`: faults are underlined, and what is
// right is not; properties, values and types are completed; a property is described.
func TestEditor(t *testing.T) {
	folder := stack(t, "edited.yaml", edited)
	cli(t, "init", folder)
	path := filepath.Join(folder, "edited.yaml")
	s := start(t, folder, map[string]any{})
	found, took := s.open(path)
	t.Logf("first diagnostics after %s (aim: 1s)", took.Round(time.Millisecond))
	text := read(t, path)
	wanted := map[string]string{
		"alowBlobPublicAccess":     "alowBlobPublicAccess is not allowed",
		"supportsHttpsTrafficOnly": `Expected "boolean"`,
		"policy":                   "Value is not accepted",
	}
	for name, message := range wanted {
		at := line(t, text, name)
		if !slices.ContainsFunc(found, func(d diagnostic) bool { return d.Range.Start.Line == at.Line && strings.Contains(d.Message, message) }) {
			t.Errorf("line %d: no diagnostic with %q", at.Line+1, message)
		}
	}
	if len(found) != len(wanted) {
		t.Errorf("%d diagnostics, want %d: %+v", len(found), len(wanted), found)
	}

	at := line(t, text, "'yes'\n    ")
	if labels := s.complete(path, at); !slices.Contains(labels, "isHnsEnabled") || slices.Contains(labels, "minimumTlsVersion") || slices.Contains(labels, "primaryEndpoints") {
		t.Errorf("properties are completed with %q; want those that are missing, without read-only ones", labels)
	}
	if labels := s.complete(path, line(t, text, "defaultAction: ")); !slices.Contains(labels, "Allow") {
		t.Errorf("a value is completed with %q", labels)
	}
	if labels := s.complete(path, line(t, text, "type: Microsoft.")); !slices.Contains(labels, "Microsoft.Kusto/clusters@2023-08-15") || len(labels) < 2000 {
		t.Errorf("a type is completed with %d types", len(labels))
	}
	hovered := position{Line: line(t, text, "defaultAct").Line, Character: 8}
	if shown := s.hover(path, hovered); !strings.Contains(shown, "text, required: Allow | Deny") {
		t.Errorf("a property is described as %q", shown)
	}
	if shown := s.hover(path, position{Line: line(t, text, "reconcile: {pol").Line, Character: 14}); !strings.Contains(shown, "`observe` writes nothing") {
		t.Errorf("a field of the manifest is described as %q", shown)
	}
}

// TestExamplesInEditor opens every example: nothing is underlined.
func TestExamplesInEditor(t *testing.T) {
	folder := stack(t, "edited.yaml", edited)
	cli(t, "init", folder)
	s := start(t, folder, map[string]any{})
	files, err := filepath.Glob(filepath.Join(folder, "[0-9]*.yaml"))
	if err != nil || len(files) < 10 {
		t.Fatalf("%d examples: %v", len(files), err)
	}
	for _, file := range files {
		if found, _ := s.open(file); len(found) > 0 {
			t.Errorf("%s: %+v", filepath.Base(file), found)
		}
	}
}

// TestSettings opens a manifest without the comment, as an editor does whose settings
// map the schema to files.
func TestSettings(t *testing.T) {
	folder := stack(t, "edited.yaml", edited)
	cli(t, "init", folder)
	var settings struct {
		Schemas map[string]any `json:"yaml.schemas"`
	}
	if err := json.Unmarshal([]byte(read(t, filepath.Join(folder, ".vscode", "settings.json"))), &settings); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(folder, "edited.yaml"), edited)
	write(t, filepath.Join(folder, "pipeline.yaml"), "on: push\n")
	s := start(t, folder, map[string]any{"schemas": settings.Schemas})
	if found, _ := s.open(filepath.Join(folder, "edited.yaml")); len(found) == 0 {
		t.Error("a manifest without the comment has no diagnostics")
	}
	if found, _ := s.open(filepath.Join(folder, "pipeline.yaml")); len(found) > 0 {
		t.Errorf("a file that is no manifest has diagnostics: %+v", found)
	}
}

// TestAllTypesInEditor measures the schema of all types.
func TestAllTypesInEditor(t *testing.T) {
	folder := stack(t, "edited.yaml", edited)
	cli(t, "init", folder)
	write(t, filepath.Join(folder, ".armature", "schema.json"), string(cli(t, "init", "--print", "--all-types")))
	path := filepath.Join(folder, "edited.yaml")
	newest := strings.Replace(read(t, path), "storageAccounts@2023-01-01", newestOf(t, "Microsoft.Storage/storageAccounts"), 1)
	write(t, path, newest)
	s := start(t, folder, map[string]any{})
	found, took := s.open(path)
	t.Logf("first diagnostics with the schema of all types after %s", took.Round(time.Millisecond))
	if !slices.ContainsFunc(found, func(d diagnostic) bool { return strings.Contains(d.Message, "alowBlobPublicAccess is not allowed") }) {
		t.Errorf("the misspelt property is not found: %+v", found)
	}
}

// newestOf returns a type's last segment with its newest version.
func newestOf(t *testing.T, name string) string {
	t.Helper()
	var entries []struct{ Type, Version string }
	if err := json.Unmarshal(cli(t, "types", name, "-o", "json"), &entries); err != nil {
		t.Fatal(err)
	}
	return filepath.Base(entries[0].Type) + "@" + entries[0].Version
}
