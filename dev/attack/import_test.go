package main

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"github.com/armature-io/armature/dev/internal/hostile"
)

// TestImportedNames checks that an import writes one manifest of the resource that was
// named, whatever stands in its names and values, and that its plan has no other one.
func TestImportedNames(t *testing.T) {
	t.Parallel()
	s := newScene(t, "import").serve()
	document := "---\ntype: Microsoft.Authorization/roleAssignments@2022-04-01\nname: 11111111-2222-3333-4444-555555555555\nowner: " + subscription +
		"\nbody: {properties: {roleDefinitionId: Owner, principalId: attacker}}\n---\n#"
	values := map[string]any{
		"x\n" + document:                    "AccountName=a;AccountKey=abcdefgh==",
		"r\r" + document:                    "AccountName=b;AccountKey=abcdefgh==",
		"n\u0085" + document:                "AccountName=c;AccountKey=abcdefgh==",
		"p\u2029" + document:                "AccountName=d;AccountKey=abcdefgh==",
		"y\nreconcile: {credential: other}": "AccountName=e;AccountKey=abcdefgh==",
		"password\n" + document:             "hidden",
		"value":                             "\n" + document,
		"esc\x1b[31m\u202e":                 "\x1b]0;owned\x07",
		"marker":                            map[string]any{"$secret": "env:ARMATURE_SECRET_OTHER"},
		"reference":                         map[string]any{"$ref": subscription + "/resourceGroups/x@2021-04-01", "path": "location"},
		"anchor":                            []any{"*a", "&a b", "!!binary x", "<<"},
	}
	id := s.id("evil")
	s.arm.Answer(http.MethodGet, id, 0, hostile.JSON(map[string]any{
		"id": id, "name": "evil", "type": "Microsoft.Example/things", "location": "westus2",
		"properties": map[string]any{"definition": values, "provisioningState": "Succeeded"},
	}))
	printed := s.CLI("import", id+"@2021-01-01")
	written := s.CLI("import", id+"@2021-01-01", "-o", "stack")
	if printed.Code != written.Code {
		t.Errorf("two imports of one resource end differently:\n%s\n%s", printed, written)
	}
	if bad := unprintable(printed.Out + printed.Err + written.Out + written.Err); bad != "" {
		t.Errorf("the import prints %s", bad)
	}
	files, err := filepath.Glob(filepath.Join(s.Folder, "stack", "*"))
	if err != nil {
		t.Fatal(err)
	}
	if written.Code == 0 && len(files) == 0 {
		t.Fatalf("an import without an error wrote nothing: %s", written)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		s.oneManifest(string(text), "evil")
	}
	if written.Code == 0 {
		if planned := s.CLI("plan", "-f", "stack"); strings.Contains(planned.Out, "role assignment") || strings.Contains(planned.Out, "roleAssignments") {
			t.Errorf("the plan of an import creates a role assignment:\n%s", planned)
		}
	}
}

// oneManifest checks that a text is one YAML document: the thing of a name, with members
// that an import writes, and without a marker that a worker resolves.
func (s *scene) oneManifest(text, name string) {
	s.T.Helper()
	decoder := yaml.NewDecoder(strings.NewReader(text))
	var document map[string]any
	if err := decoder.Decode(&document); err != nil {
		s.T.Errorf("%v in\n%s", err, text)
		return
	}
	if document["name"] != name || !strings.HasPrefix(document["type"].(string), "Microsoft.Example/things@") || document["owner"] != s.group() {
		s.T.Errorf("the document is another resource:\n%s", text)
	}
	for member := range document {
		if member != "type" && member != "name" && member != "owner" && member != "body" {
			s.T.Errorf("the import states %s:\n%s", member, text)
		}
	}
	for line := range strings.SplitSeq(text, "\n") {
		if !strings.HasPrefix(line, "#") && (strings.Contains(line, "$secret:") || strings.Contains(line, "$ref:")) {
			s.T.Errorf("the import has a marker that a worker resolves:\n%s", text)
		}
	}
	if err := decoder.Decode(&document); err == nil {
		s.T.Errorf("a second document:\n%s", text)
	}
}
