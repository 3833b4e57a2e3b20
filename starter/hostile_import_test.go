package starter

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/armature-io/armature/activities"
	"github.com/armature-io/armature/manifest"
	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/starter/internal/cli"
)

// injection is the name of a property that would end a comment and begin the manifest of a
// role assignment.
const injection = "x\n---\ntype: Microsoft.Authorization/roleAssignments@2022-04-01\nname: 11111111-2222-3333-4444-555555555555\n" +
	"owner: /subscriptions/11111111-2222-3333-4444-555555555555\nbody: {properties: {principalId: p}}\nreconcile: {policy: manage}\n---\n#"

// hostileWorld returns a world with an import of hostile names, values and messages.
func hostileWorld(t *testing.T) *world {
	t.Helper()
	w := newWorld()
	body, err := json.Marshal(map[string]any{"location": "westus2", "properties": map[string]any{
		injection: injection, "\u202emoc\x1b[2J\u009b": "\x1b]0;PWN\x07\u2028", "run": "::error::x\n::error::y\n##vso[task.x]", "marker": map[string]any{"$secret": "env:ARMATURE_SECRET_X"},
	}})
	if err != nil {
		t.Fatal(err)
	}
	w.temporal.imports = map[string]activities.ImportResourceResult{
		"adx": {
			Body: body, Secrets: []string{"properties." + injection, "properties.##vso[task.x]"},
			Contents: listed("2022-02-01", mustID(t, database), mustID(t, cluster+"/databases/builtin"), mustID(t, cluster+"/databases/failed")),
		},
		"telemetry": {Body: body, Secrets: []string{injection}},
		"builtin":   {Skipped: "made by\n::error::x\x1b[2J"},
		"failed":    {Verdict: resource.Fail("Bad\n::error::x", resource.RetryNone, "no\n::error::x\x1b[2J\u202e")},
	}
	return w
}

// TestGuardImportIsData checks in every mode that an import writes exactly the resources
// that were asked for, whatever the names and values in Azure are.
//
//guard:texts-are-data
func TestGuardImportIsData(t *testing.T) {
	for name, args := range map[string][]string{"stdout": nil, "folder": {"-o", "FOLDER"}} {
		t.Run(name, func(t *testing.T) {
			w, folder := hostileWorld(t), filepath.Join(t.TempDir(), "stack")
			line := []string{"import", cluster + "@2023-08-15", "--children"}
			for _, arg := range args {
				line = append(line, strings.Replace(arg, "FOLDER", folder, 1))
			}
			if code := w.run(line...); code != cli.ExitFailed {
				t.Fatalf("exit code %d, want %d for the child that failed: %s", code, cli.ExitFailed, w.err)
			}
			options, path := manifest.Options{Stdin: strings.NewReader(w.out.String())}, "-"
			if args != nil {
				path = folder
			}
			set, err := manifest.Load(options, path)
			if err != nil {
				t.Fatalf("%v\n%s", err, w.out)
			}
			var ids []string
			for _, desired := range set.Resources {
				ids = append(ids, desired.ID.String())
				body, err := resource.DecodeBody(desired.Body)
				properties, _ := body["properties"].(map[string]any)
				if err != nil || properties[injection] != injection || properties["\u202emoc\x1b[2J\u009b"] != "\x1b]0;PWN\x07\u2028" || properties["run"] != "::error::x\n::error::y\n##vso[task.x]" || len(properties) != 3 {
					t.Errorf("the body of %s is %q: %v", desired.ID, properties, err)
				}
			}
			if want := []string{cluster, database}; !slices.Equal(ids, want) {
				t.Errorf("imported %v, want %v", ids, want)
			}
			checkHarmless(t, "standard output", w.out.String(), false)
			checkHarmless(t, "standard error", w.err.String(), false)
		})
	}
}

// TestImportOfAnotherResource checks that a worker's answer about another resource is
// refused.
func TestImportOfAnotherResource(t *testing.T) {
	w := hostileWorld(t)
	result := w.temporal.imports["adx"]
	result.ID = mustID(t, strings.Replace(cluster, "rg1", "rg2", 1))
	w.temporal.imports["adx"] = result
	if code := w.run("import", cluster); code != cli.ExitFailed || w.out.Len() > 0 || !strings.Contains(w.err.String(), "the worker read /subscriptions") {
		t.Errorf("exit code %d: %s%s", code, w.out, w.err)
	}
}

// TestImportFollowsNoLink checks that a link in the folder is neither written through nor
// replaced.
func TestImportFollowsNoLink(t *testing.T) {
	folder := t.TempDir()
	for _, target := range []string{"victim", "none"} {
		link := filepath.Join(folder, "kusto-cluster-adx.yaml")
		if err := os.Symlink(filepath.Join(folder, target), link); err != nil {
			t.Fatal(err)
		}
		if target == "victim" {
			if err := os.WriteFile(filepath.Join(folder, target), []byte("kept"), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		w := importWorld(t)
		if code := w.run("import", cluster, "-o", folder); code != cli.ExitFailed {
			t.Errorf("exit code %d: %s", code, w.err)
		}
		if err := os.Remove(link); err != nil {
			t.Fatal(err)
		}
	}
	if text, err := os.ReadFile(filepath.Join(folder, "victim")); string(text) != "kept" || err != nil {
		t.Errorf("the target of the link is %q: %v", text, err)
	}
	if _, err := os.Stat(filepath.Join(folder, "none")); err == nil {
		t.Error("the target of the link was created")
	}
}

// TestPlanOutFollowsNoLink checks the file of a plan: private, and no link is followed.
func TestPlanOutFollowsNoLink(t *testing.T) {
	w, file := planWorld(t, activities.PlanCreate)
	dir := t.TempDir()
	victim, link := filepath.Join(dir, "victim"), filepath.Join(dir, "link")
	if err := os.WriteFile(victim, []byte("kept"), 0o644); err != nil || os.Symlink(victim, link) != nil {
		t.Fatal(err)
	}
	if code := w.run("plan", "-f", labelledAdx(t), "--out", link); code != cli.ExitFailed || !strings.Contains(w.err.String(), "is a link") {
		t.Errorf("exit code %d: %s", code, w.err)
	}
	if text, err := os.ReadFile(victim); string(text) != "kept" || err != nil {
		t.Errorf("the target of the link is %q: %v", text, err)
	}
	if err := os.Chmod(file, 0o644); err != nil {
		t.Fatal(err)
	}
	if code := w.run("plan", "-f", labelledAdx(t), "--out", file); code != exitChanges {
		t.Errorf("exit code %d: %s", code, w.err)
	}
	if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the mode of a replaced plan is %v: %v", info.Mode(), err)
	}
}

// TestInitFollowsNoLink checks that init writes nothing outside of its folder.
func TestInitFollowsNoLink(t *testing.T) {
	dir := manifests(t, map[string]string{"adx.yaml": editedManifest})
	victim := filepath.Join(t.TempDir(), "victim")
	if err := os.WriteFile(victim, []byte("{}"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{".armature/schema.json", ".vscode/settings.json"} {
		link := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(link), 0o700); err != nil || os.Symlink(victim, link) != nil {
			t.Fatal(err)
		}
		w := offlineWorld(t)
		if code := w.run("init", dir); code != cli.ExitFailed {
			t.Errorf("%s: exit code %d: %s%s", name, code, w.out, w.err)
		}
		if err := os.Remove(link); err != nil {
			t.Fatal(err)
		}
	}
	if text, err := os.ReadFile(victim); string(text) != "{}" || err != nil {
		t.Errorf("the target of the link is %q: %v", text, err)
	}
}
