package starter

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/armature-io/armature/starter/internal/cli"
	"github.com/google/go-cmp/cmp"
)

const editedManifest = "type: Microsoft.Kusto/clusters@2023-08-15\nname: adx\nbody: {location: westus2}\n"

// contents returns the files below a folder.
func contents(t *testing.T, folder string) map[string]string {
	t.Helper()
	files := map[string]string{}
	err := filepath.WalkDir(folder, func(path string, entry os.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		name, _ := filepath.Rel(folder, path)
		files[filepath.ToSlash(name)] = string(text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

func TestInit(t *testing.T) {
	folder := manifests(t, map[string]string{"adx.yaml": editedManifest, "ci.yaml": "on: push\n"})
	w := offlineWorld(t)
	if code := w.run("init", folder, "--dry-run"); code != cli.ExitOK || !strings.Contains(w.out.String(), ".armature/schema.json  to be created  1 type") {
		t.Errorf("exit code %d, %s%s", code, w.out, w.err)
	}
	if got := contents(t, folder); len(got) != 2 || got["adx.yaml"] != editedManifest {
		t.Errorf("a dry run wrote something: %v", got)
	}
	w = offlineWorld(t)
	if code := w.run("init", folder); code != cli.ExitOK {
		t.Errorf("exit code %d: %s", code, w.err)
	}
	first := contents(t, folder)
	if want := "# yaml-language-server: $schema=.armature/schema.json\n" + editedManifest; first["adx.yaml"] != want || first["ci.yaml"] != "on: push\n" {
		t.Errorf("manifests get a comment, other files do not: %q", first)
	}
	var settings struct {
		Schemas map[string][]string `json:"yaml.schemas"`
	}
	if err := json.Unmarshal([]byte(first[".vscode/settings.json"]), &settings); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(map[string][]string{".armature/schema.json": {"adx.yaml"}}, settings.Schemas); diff != "" {
		t.Errorf("settings (-want +got):\n%s", diff)
	}
	w = offlineWorld(t)
	w.run("init", folder)
	if diff := cmp.Diff(first, contents(t, folder)); diff != "" || strings.Contains(w.out.String(), "updated") {
		t.Errorf("the second time changes something: %s\n%s", w.out, diff)
	}
}

// TestInitKeepsComments checks settings that cannot be merged without a loss.
func TestInitKeepsComments(t *testing.T) {
	const settings = "{\n  // mine\n  \"editor.tabSize\": 2\n}\n"
	folder := manifests(t, map[string]string{"adx.yaml": editedManifest})
	if err := os.Mkdir(filepath.Join(folder, ".vscode"), 0o700); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(folder, ".vscode", "settings.json")
	if err := os.WriteFile(path, []byte(settings), 0o600); err != nil {
		t.Fatal(err)
	}
	w := offlineWorld(t)
	if code := w.run("init", folder); code != cli.ExitOK || !strings.Contains(w.out.String(), "add this to .vscode/settings.json:\n  \"yaml.schemas\": {") {
		t.Errorf("exit code %d, %s%s", code, w.out, w.err)
	}
	if got := contents(t, folder)[".vscode/settings.json"]; got != settings {
		t.Errorf("the settings were changed: %s", got)
	}
}

func TestSchemaCommands(t *testing.T) {
	folder := manifests(t, map[string]string{"adx.yaml": editedManifest})
	other := manifests(t, map[string]string{"ci.yaml": "on: push\n"})
	cases := map[string]struct {
		reason         string
		args           []string
		code           int
		stdout, stderr string
	}{
		"schema":         {"the types in use", []string{"init", "--print", folder}, cli.ExitOK, `{"enum":["Microsoft.Kusto/clusters@2023-08-15"]}`, ""},
		"all types":      {"the newest version of each", []string{"init", "--print", "--all-types"}, cli.ExitOK, `{"enum":["Microsoft.Kusto/clusters@`, ""},
		"no such path":   {"as for manifests", []string{"init", "--print", folder + "/nowhere"}, cli.ExitBadInput, "", "cannot be read"},
		"init of a file": {"a folder", []string{"init", folder + "/adx.yaml"}, cli.ExitBadInput, "", "init needs a folder"},
		"no manifest":    {"what to do next", []string{"init", other}, cli.ExitFailed, "", "armature new TYPE > FILE.yaml"},
		"empty folder":   {"what to do next", []string{"init", t.TempDir()}, cli.ExitBadInput, "", "armature new TYPE > FILE.yaml"},
	}
	if testing.Short() {
		delete(cases, "all types") // the schema of 3,000 types
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			w := offlineWorld(t)
			if code := w.run(tc.args...); code != tc.code {
				t.Errorf("%s: exit code %d, want %d", tc.reason, code, tc.code)
			}
			if !strings.Contains(w.out.String(), tc.stdout) || !strings.Contains(w.err.String(), tc.stderr) {
				t.Errorf("%s:\nstdout %.300s\nstderr %s", tc.reason, w.out, w.err)
			}
		})
	}
}

// TestInitRules checks what init does for rule files, alone and beside manifests: a schema with
// the paths of their types, its mapping, and a comment in each.
func TestInitRules(t *testing.T) {
	const ruleFile = "rules:\n  - name: a\n    type: microsoft.kusto/clusters\n    when: observed.properties.state == \"x\"\n    block: b\n"
	for name, files := range map[string]map[string]string{
		"alone":            {"kusto.rules.yaml": ruleFile},
		"beside manifests": {"adx.yaml": editedManifest, "kusto.rules.yaml": ruleFile, "ci.yaml": "on: push\n"},
	} {
		folder := manifests(t, files)
		w := offlineWorld(t)
		if code := w.run("init", folder); code != cli.ExitOK || !strings.Contains(w.out.String(), ".armature/rules.schema.json  created  1 rule file, 1 type") {
			t.Errorf("%s: exit code %d, %s%s", name, code, w.out, w.err)
		}
		got := contents(t, folder)
		if want := "# yaml-language-server: $schema=.armature/rules.schema.json\n" + ruleFile; got["kusto.rules.yaml"] != want {
			t.Errorf("%s: the rule file is %q", name, got["kusto.rules.yaml"])
		}
		if !strings.Contains(got[".armature/rules.schema.json"], `"observed.properties.state"`) || !strings.Contains(got[".vscode/settings.json"], `"kusto.rules.yaml"`) {
			t.Errorf("%s: the schema or its mapping is wrong: %s", name, got[".vscode/settings.json"])
		}
		if _, schema := got[".armature/schema.json"]; schema != (files["adx.yaml"] != "") {
			t.Errorf("%s: a schema of manifests: %t", name, schema)
		}
		w = offlineWorld(t)
		if code := w.run("init", folder); code != cli.ExitOK || strings.Contains(w.out.String(), "created") || strings.Contains(w.out.String(), "updated") {
			t.Errorf("%s: the second time: exit code %d, %s", name, code, w.out)
		}
	}
}
