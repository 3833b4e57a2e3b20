package manifest

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/armature-io/armature/resource"
)

const exportedAccount = `type: Microsoft.Storage/storageAccounts@2023-01-01
name: st1
owner: /subscriptions/11111111-1111-1111-1111-111111111111/resourceGroups/g
body: {location: westus2, kind: StorageV2, sku: {name: Standard_LRS}}
export:
`

// TestExports checks what a list of exports becomes.
func TestExports(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "m.yaml")
	text := exportedAccount + `- {to: 'keyvault:https://V.vault.azure.net/secrets/a', from: {action: listKeys, path: 'keys[0].value'}, policy: replace, interval: 15m}
- {to: 'keyvault:https://v.vault.azure.net/secrets/b', from: {text: '${name} ${properties.primaryEndpoints.blob}'}, policy: if-absent, tags: {team: data}}
`
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	set, err := Load(Options{Validate: true}, file)
	if err != nil || len(set.Warnings) > 0 {
		t.Fatal(err, set.Warnings)
	}
	want := []resource.Export{
		{To: "keyvault:https://V.vault.azure.net/secrets/a", From: resource.ExportSource{Action: "listKeys", Path: "keys[0].value"}, Interval: 15 * time.Minute},
		{To: "keyvault:https://v.vault.azure.net/secrets/b", From: resource.ExportSource{Text: "${name} ${properties.primaryEndpoints.blob}"}, Policy: resource.ExportIfAbsent, Tags: map[string]string{"team": "data"}},
	}
	if diff := cmp.Diff(want, set.Resources[0].Exports); diff != "" {
		t.Errorf("exports (-want +got):\n%s", diff)
	}
}

// TestExportFindings checks what is found in exports before anything is sent.
func TestExportFindings(t *testing.T) {
	t.Parallel()
	const to = "to: 'keyvault:https://v.vault.azure.net/secrets/a'"
	cases := map[string]struct {
		reason, export, want string
	}{
		"unknown action":  {"the type lacks it", "- {" + to + ", from: {action: listKey, path: x}}", "m.yaml:6:71: export[0].from.action: Microsoft.Storage/storageAccounts@2023-01-01 has no action listKey; did you mean listKeys?"},
		"signature":       {"it differs each time", "- {" + to + ", from: {action: listAccountSas, path: accountSasToken}}", "needs input"},
		"path to nothing": {"the answer has no such member", "- {" + to + ", from: {action: listKeys, path: 'key[0].value'}}", "warning: export[0].from.path: key[0].value leads to nothing that is published of the answer of listKeys"},
		"body to nothing": {"the type has no such property", "- {" + to + ", from: {path: properties.fqdn}}", "warning: export[0].from.path: properties.fqdn leads to nothing that is published of Microsoft.Storage/storageAccounts"},
		"twice":           {"two exports would fight", "- {" + to + ", from: {path: id}}\n- {to: 'keyvault:https://v.vault.azure.net/secrets/A', from: {path: id}}", "another export writes the same secret"},
		"misplaced value": {"a text that is no target may be a secret", "- {to: pl4nted-s3cret, from: {path: id}}", "export[0].to: it is no secret of a key vault; write it like"},
		"a version":       {"a version cannot be written", "- {to: 'keyvault:https://v.vault.azure.net/secrets/a/0123456789abcdef0123456789abcdef', from: {path: id}}", "without a version"},
		"our tag":         {"it marks the secrets of Armature", "- {" + to + ", from: {path: id}, tags: {Armature-Export: x}}", "is the tag by which Armature knows its secrets"},
		"no variable":     {"the language names the known ones", "- {" + to + ", from: {text: '${property.x}'}}", "undeclared reference to 'property'"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			folder := t.TempDir()
			if err := os.WriteFile(filepath.Join(folder, "m.yaml"), []byte(exportedAccount+tc.export+"\n"), 0o600); err != nil {
				t.Fatal(err)
			}
			report := Validate(Options{}, filepath.Join(folder, "m.yaml"))
			var lines []string
			for _, issue := range report.Issues {
				lines = append(lines, strings.TrimPrefix(issue.File, folder+"/")+strings.TrimPrefix(issue.String(), issue.File))
			}
			got := strings.Join(lines, "\n")
			if strings.Contains(got, "pl4nted") {
				t.Errorf("%s: a value is shown: %s", tc.reason, got)
			}
			for _, part := range strings.Split(tc.want, ": ") {
				if !strings.Contains(got, part) {
					t.Errorf("%s: %s; want %q", tc.reason, got, part)
				}
			}
		})
	}
}
