package editor

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// editedRule is a rule file in the state in which an author meets the editor's help.
const editedRule = `rules:
  - name: tls
    type: Microsoft.Storage/storageAccounts
    at: prae
    when: 
    blok: TLS is old
  - name: tier
    type: Microsoft.Storage/storageAccounts
    at: payload
    when: labels.tier == "cool"
    set:
      properties.accessTier: '"Cool"'
      
tests:
  - {name: cool, rule: tier, want: pass}
`

// TestRulesInEditor opens a rule file after `armature init`: faults are underlined, and the paths
// of the type are completed in conditions and payloads.
func TestRulesInEditor(t *testing.T) {
	folder := t.TempDir()
	path := filepath.Join(folder, "storage.rules.yaml")
	write(t, path, editedRule)
	cli(t, "init", folder)
	s := start(t, folder, map[string]any{})
	found, _ := s.open(path)
	text := read(t, path)
	for name, message := range map[string]string{"at: prae": "Value is not accepted", "blok": "blok is not allowed"} {
		at := line(t, text, name)
		if !slices.ContainsFunc(found, func(d diagnostic) bool { return d.Range.Start.Line == at.Line && strings.Contains(d.Message, message) }) {
			t.Errorf("line %d: no diagnostic with %q: %+v", at.Line+1, message, found)
		}
	}
	for find, want := range map[string]string{
		"at: ": "post", "when: ": "observed.properties.minimumTlsVersion", "'\"Cool\"'\n      ": "properties.minimumTlsVersion",
	} {
		if labels := s.complete(path, line(t, text, find)); !slices.Contains(labels, want) {
			t.Errorf("after %q %q is not offered, but %q", find, want, labels)
		}
	}
}

// TestRuleExamplesInEditor opens the rules of the repository: nothing is underlined.
func TestRuleExamplesInEditor(t *testing.T) {
	folder := t.TempDir()
	files, err := filepath.Glob(filepath.Join(root, "examples", "rules", "*", "*.yaml"))
	if err != nil || len(files) < 5 {
		t.Fatalf("%d rule files: %v", len(files), err)
	}
	for _, file := range files {
		write(t, filepath.Join(folder, filepath.Base(file)), read(t, file))
	}
	cli(t, "init", folder)
	s := start(t, folder, map[string]any{})
	for _, file := range files {
		if found, _ := s.open(filepath.Join(folder, filepath.Base(file))); len(found) > 0 {
			t.Errorf("%s: %+v", filepath.Base(file), found)
		}
	}
}
