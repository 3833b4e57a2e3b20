package starter

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/armature-io/armature/activities"
	"github.com/armature-io/armature/activities/importing"
	"github.com/armature-io/armature/manifest"
	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/starter/internal/backend"
	"github.com/armature-io/armature/starter/internal/cli"
	"github.com/google/go-cmp/cmp"
)

// Import returns the prepared result of a resource name.
func (f *fakeTemporal) Import(_ context.Context, workflowID string, in activities.ImportResourceInput) (activities.ImportResourceResult, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.inputs = append(f.inputs, in)
	f.runs = append(f.runs, workflowID)
	result, known := f.imports[in.ID.Name()]
	if !known {
		result.Verdict = resource.Fail(resource.ReasonNotFound, resource.RetryNone, "it does not exist in Azure")
	}
	if result.ID.IsZero() {
		result.ID = in.ID
	}
	result.APIVersion = in.APIVersion
	if result.APIVersion == "" {
		result.APIVersion = "2023-08-15"
	}
	if in.Contents == nil {
		result.Contents = nil
	} else if result.Contents == nil && !result.Verdict.Stops() {
		result.Contents = &importing.Contents{}
	}
	return result, nil
}

const importedBody = `{"location":"West US 2","kind":"x","properties":{"on":"yes","count":12345678901234567890,"share":1.50,"list":[{"b":1,"a":"2001-02-03"},[]],
	"null":null,"text":"two\nlines: and more","empty":""},"sku":{"name":"S1"},"aa":true,"tags":{"a.b/c":"017"}}`

func importWorld(t *testing.T) *world {
	t.Helper()
	w := newWorld()
	w.temporal.imports = map[string]activities.ImportResourceResult{
		"adx": {
			Body: json.RawMessage(importedBody), Secrets: []string{"properties.adminPassword"},
			Contents: listed("2022-02-01", mustID(t, database), mustID(t, cluster+"/databases/builtin")),
		},
		"telemetry": {Body: json.RawMessage(`{}`)},
		"builtin":   {Skipped: "the service makes it by itself"},
	}
	return w
}

// listed returns contents with items.
func listed(apiVersion string, ids ...resource.ID) *importing.Contents {
	contents := &importing.Contents{}
	for _, id := range ids {
		contents.Items = append(contents.Items, importing.Item{ID: id, APIVersion: apiVersion})
	}
	return contents
}

// TestImport verifies that the manifest loader reads what import wrote, digit by digit.
func TestImport(t *testing.T) {
	w := importWorld(t)
	if code := w.run("import", cluster+"@2023-08-15", "--children"); code != 0 {
		t.Fatalf("exit code %d: %s", code, w.err)
	}
	golden(t, "import.txt", w.out.String())
	if !strings.Contains(w.err.String(), "adx/builtin: the service makes it by itself\n2 imported, 1 skipped\n") {
		t.Errorf("stderr %q", w.err)
	}
	set, err := manifest.Load(manifest.Options{Stdin: strings.NewReader(w.out.String())}, "-")
	if err != nil {
		t.Fatal(err)
	}
	if len(set.Resources) != 2 || !set.Resources[0].ID.Equal(mustID(t, cluster)) || set.Resources[1].APIVersion != "2022-02-01" {
		t.Fatalf("read back %+v", set.Resources)
	}
	var want, got any
	if json.Unmarshal([]byte(importedBody), &want) != nil || json.Unmarshal(set.Resources[0].Body, &got) != nil || !cmp.Equal(want, got) ||
		!strings.Contains(string(set.Resources[0].Body), "12345678901234567890") {
		t.Errorf("read back %s", set.Resources[0].Body)
	}
	first := w.out.String()
	again := importWorld(t)
	if again.run("import", cluster+"@2023-08-15", "--children"); again.out.String() != first {
		t.Error("the same answer gives another text")
	}
	if runs := w.temporal.runs; len(slices.Compact(slices.Sorted(slices.Values(runs)))) != 3 || !strings.HasPrefix(runs[0], "import:") {
		t.Errorf("workflow IDs %v", runs)
	}
}

func TestImportToFolder(t *testing.T) {
	w := importWorld(t)
	folder := filepath.Join(t.TempDir(), "new")
	if code := w.run("import", cluster, "--children", "-o", folder); code != 0 {
		t.Fatalf("exit code %d: %s", code, w.err)
	}
	entries, err := os.ReadDir(folder)
	if err != nil || len(entries) != 2 || entries[0].Name() != "kusto-cluster-adx.yaml" || entries[1].Name() != "kusto-database-adx-telemetry.yaml" {
		t.Errorf("files %v, %v", entries, err)
	}
	path := filepath.Join(folder, "kusto-cluster-adx.yaml")
	first, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	labelled := string(first) + "labels:\n  stack: prod\n"
	if err := os.WriteFile(path, []byte(labelled), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, step := range []struct {
		reason, kind string
		args         []string
		code         int
		err, file    string
	}{
		{"what Azure has is in the files, whatever else they state", "x", nil, 0, "2 unchanged, 1 skipped", labelled},
		{"a file of the user is not replaced unasked", "z", nil, 1, "existing files are not overwritten, except with --overwrite", labelled},
		{"it is with the flag", "z", []string{"--overwrite"}, 0, "1 imported, 1 unchanged, 1 skipped", strings.Replace(string(first), "kind: x", "kind: z", 1)},
	} {
		again := importWorld(t)
		result := again.temporal.imports["adx"]
		result.Body = json.RawMessage(strings.Replace(importedBody, `"kind":"x"`, `"kind":"`+step.kind+`"`, 1))
		again.temporal.imports["adx"] = result
		code := again.run(append([]string{"import", cluster, "--children", "-o", folder}, step.args...)...)
		text, err := os.ReadFile(path)
		if code != step.code || !strings.Contains(again.err.String(), step.err) || string(text) != step.file || err != nil {
			t.Errorf("%s: exit code %d: %s\n%s", step.reason, code, again.err, text)
		}
	}
}

func TestImportErrors(t *testing.T) {
	for name, c := range map[string]struct {
		reason string
		args   []string
		code   int
		want   string
	}{
		"NoID":    {"a name is of what is managed", []string{"adx"}, 1, "use the resource ID to import"},
		"None":    {"nothing is imported by accident", nil, 2, "name what to import"},
		"Version": {"an @ with nothing behind it is a slip", []string{cluster + "@"}, 2, "use one like @2023-08-15"},
		"Absent":  {"what does not exist is named, the rest is written", []string{cluster, group + "/providers/Microsoft.Kusto/clusters/none"}, 1, "none: NotFound: it does not exist"},
	} {
		t.Run(name, func(t *testing.T) {
			w := importWorld(t)
			code := w.run(append([]string{"import"}, c.args...)...)
			if code != c.code || !strings.Contains(w.err.String(), c.want) {
				t.Errorf("%s: exit code %d: %s", c.reason, code, w.err)
			}
			if name == "Absent" && !strings.Contains(w.out.String(), "name: adx") {
				t.Errorf("%s: wrote %s", c.reason, w.out)
			}
		})
	}
}

// TestImportManaged verifies that an import by labels takes the api-version of the
// manifest.
func TestImportManaged(t *testing.T) {
	w := importWorld(t)
	w.temporal.manage(t, cluster, readyStatus())
	w.temporal.change(t, cluster, func(r *backend.Record) { r.APIVersion = "2022-02-01" })
	if code := w.run("import", "-l", "stack=prod"); code != cli.ExitOK || !strings.Contains(w.out.String(), "@2022-02-01") {
		t.Errorf("exit code %d:\n%s%s", code, w.out, w.err)
	}
}
