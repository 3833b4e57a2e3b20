package activities

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/armature-io/armature/extensions/azure"
	"github.com/armature-io/armature/manifest"
	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/types"
)

// exportRow is a row of the table of docs/contributing/aso-exports.md.
type exportRow struct{ name, typ, from string }

var exportRowPattern = regexp.MustCompile("(?m)^\\| ([a-z]+ \\w+) \\| `([^`]+)` \\| (.+) \\|$")

// exportTable returns the rows of the table.
func exportTable(t *testing.T) []exportRow {
	t.Helper()
	page, err := os.ReadFile(filepath.Join("..", "docs", "contributing", "aso-exports.md"))
	must(t, err)
	var rows []exportRow
	for _, match := range exportRowPattern.FindAllStringSubmatch(string(page), -1) {
		rows = append(rows, exportRow{match[1], match[2], match[3]})
	}
	if len(rows) != 30 {
		t.Fatalf("the table of docs/contributing/aso-exports.md has %d rows, want 30", len(rows))
	}
	return rows
}

// TestExportTable exports each row of the table from the simulator, whose answer has to have
// the published form, and finds the value in the vault.
func TestExportTable(t *testing.T) {
	t.Parallel()
	for _, row := range exportTable(t) {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			from, found := strings.CutPrefix(strings.Trim(row.from, "`"), "{")
			if !found {
				checkRefused(t, row)
				return
			}
			desired := loadExport(t, row.typ, "{"+from)
			w, in := exportWorld(t)
			w.put(desired.ID.String(), bodyOf(t, desired.ID, desired.Exports[0].From))
			in.Desired = desired
			got, err := run(w, w.acts.ExportValues, in)
			must(t, err)
			if got.Verdict.Stops() {
				t.Fatalf("%s: %s", got.Verdict.Reason, got.Verdict.Message)
			}
			secret := w.secret("app-row")
			if len(secret.Versions) != 1 || secret.Versions[0].Value == "" || got.Exports[0].Version != secret.Versions[0].ID {
				t.Fatalf("the vault has %+v, the result %+v", secret, got.Exports)
			}
			w.leaks(secret.Versions[0].Value, got, w.verdicts)
			if action := desired.Exports[0].From.Action; action != "" {
				checkAnswer(t, w, desired, action)
			}
		})
	}
}

// checkRefused checks that the action of a row that is not supported is refused.
func checkRefused(t *testing.T, row exportRow) {
	t.Helper()
	action := strings.Split(row.from, "`")[1]
	if _, _, err := types.FindListAction(row.typ, types.Newest(row.typ), action, azure.FactsOf(row.typ).ReadActionNames()...); err == nil {
		t.Errorf("%s of %s is allowed, and the table says that it is refused", action, row.typ)
	}
}

// loadExport loads a manifest of a type with one export, checked against the published types.
func loadExport(t *testing.T, typ, from string) resource.Desired {
	t.Helper()
	names := make([]string, strings.Count(typ, "/"))
	for i := range names {
		names[i] = fmt.Sprintf("name%d", i)
	}
	file := filepath.Join(t.TempDir(), "m.yaml")
	must(t, os.WriteFile(file, fmt.Appendf(nil, "type: %s@%s\nname: %s\nbody: {}\nreconcile: {policy: detach-on-delete}\nexport: [{to: 'keyvault:https://kv.vault.example/secrets/app-row', from: %s}]\n",
		typ, types.Newest(typ), strings.Join(names, "/"), from), 0o600))
	facts := func(resourceType string) manifest.Facts {
		return manifest.Facts{ReadActions: azure.FactsOf(resourceType).ReadActionNames()}
	}
	options := manifest.Options{Validate: true, Facts: facts, Subscription: "11111111-1111-1111-1111-111111111111", ResourceGroup: "rg1"}
	set, err := manifest.Load(options, file)
	must(t, err)
	for _, warning := range set.Warnings {
		if strings.HasPrefix(warning.Path, "export") {
			t.Errorf("the row has a warning: %v", warning)
		}
	}
	return set.Resources[0]
}

// bodyOf returns a body in which the path of a source that reads it has a value.
func bodyOf(t *testing.T, id resource.ID, from resource.ExportSource) string {
	t.Helper()
	properties := map[string]any{}
	if from.Action == "" {
		properties[strings.TrimPrefix(from.Path, "properties.")] = "value-of-" + id.Name()
	}
	raw, err := json.Marshal(map[string]any{"location": "westus2", "properties": properties})
	must(t, err)
	return string(raw)
}

// checkAnswer compares the simulator's answer with the published output of an action.
func checkAnswer(t *testing.T, w *world, desired resource.Desired, action string) {
	t.Helper()
	published, version, err := types.FindListAction(desired.ID.Type(), desired.APIVersion, action, azure.FactsOf(desired.ID.Type()).ReadActionNames()...)
	must(t, err)
	operation, err := w.acts.Client.Read(withCredential(t.Context(), "", desired.ID), desired.ID, action, version)
	must(t, err)
	answer, err := resource.DecodeBody(operation.Body)
	must(t, err)
	if published.Output == nil {
		t.Fatalf("%s has no published output", action)
	}
	findings := (&types.Shape{Type: desired.ID.Type(), Version: version, Body: published.Output}).Check(answer)
	findings = slices.DeleteFunc(findings, func(f types.Finding) bool { return f.Rule == types.ReadOnlyProperty })
	for _, finding := range findings {
		t.Errorf("the answer differs from the published output: %s: %s", finding.Path, finding.Message)
	}
}
