package starter

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/armature-io/armature/activities"
	"github.com/armature-io/armature/activities/importing"
	"github.com/armature-io/armature/manifest"
	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/starter/internal/cli"
	"github.com/armature-io/armature/starter/internal/coverage"
)

// unmanagedWorld has a group with a managed cluster, a managed and an unmanaged database, a
// built-in one, and a storage account.
func unmanagedWorld(t *testing.T) *world {
	t.Helper()
	w := newWorld()
	builtIn := importing.Item{ID: mustID(t, cluster+"/databases/builtin"), APIVersion: "2023-08-15", BuiltIn: true}
	inCluster := listed("2023-08-15", mustID(t, database), mustID(t, cluster+"/databases/other"))
	inCluster.Items = append(inCluster.Items, builtIn)
	located := json.RawMessage(`{"location":"westus2"}`)
	w.temporal.imports = map[string]activities.ImportResourceResult{
		"rg1":       {Body: located, Contents: listed("", mustID(t, cluster), mustID(t, group+"/providers/Microsoft.Storage/storageAccounts/store"))},
		"adx":       {Body: located, Contents: inCluster},
		"telemetry": {Body: located}, "other": {Body: located}, "builtin": {Body: located}, "store": {Body: located},
	}
	for _, id := range []string{group, cluster, database} {
		w.temporal.manage(t, id, readyStatus())
	}
	return w
}

// TestUnmanaged checks the list, its exit codes, and the notes.
func TestUnmanaged(t *testing.T) {
	const list = "NAME       TYPE                                GROUP\n" +
		"adx/other  Microsoft.Kusto/clusters/databases  rg1\n" +
		"store      Microsoft.Storage/storageAccounts   rg1\n\n"
	for name, c := range map[string]struct {
		reason string
		args   []string
		ignore string
		change func(*world)
		exit   int
		out    string
		err    string
	}{
		"list":      {reason: "a report is no failure", out: list + "Coverage: 60.0 % (3 of 5 resources managed), 2 unmanaged.\n"},
		"exit code": {reason: "a pipeline fails", args: []string{"--exit-code"}, exit: exitChanges, out: list + "Coverage: 60.0 % (3 of 5 resources managed), 2 unmanaged.\n"},
		"ignored": {
			reason: "nothing is left", args: []string{"--exit-code"}, ignore: "other\n# accounts\nMicrosoft.Storage/*\n",
			out: "Coverage: 100.0 % (3 of 3 resources managed), 2 ignored.\n",
		},
		"a stale pattern": {
			reason: "what it matched is managed now, so it would hide the next one", ignore: "telemetry\n",
			out: list + "Coverage: 60.0 % (3 of 5 resources managed), 2 unmanaged.\n", err: ".armatureignore:1: telemetry matches no unmanaged resource; remove the pattern unless other scopes need it\n",
		},
		"not read": {
			reason: "the report is not complete", args: []string{"--exit-code"}, exit: cli.ExitFailed,
			change: func(w *world) {
				w.temporal.imports["store"] = activities.ImportResourceResult{Verdict: resource.Fail("AuthorizationFailed", resource.RetryNone, "no right")}
			},
			out: strings.Replace(list, "store      Microsoft.Storage/storageAccounts   rg1\n", "", 1) + "Coverage: 75.0 % (3 of 4 resources managed), 1 unmanaged, 1 not read.\n",
			err: "not read: storage account store: AuthorizationFailed: no right\n",
		},
		"detached": {
			reason: "a workflow that gives the resource up manages it no longer, and then a built-in child needs a manifest",
			change: func(w *world) {
				for i := range w.temporal.records {
					w.temporal.records[i].Reason = resource.ReasonDetached
				}
			},
			out: "0 of 6 resources managed), 6 unmanaged",
		},
		"bad pattern": {reason: "a pattern that can match nothing", ignore: "a/b\n", exit: cli.ExitFailed, err: ".armatureignore:1: a pattern with a slash"},
		"no file":     {reason: "the file is named", args: []string{"--ignore", "none"}, exit: cli.ExitFailed, err: "read the ignore file none"},
		"no scope":    {reason: "a name is no scope", args: []string{"adx"}, exit: cli.ExitFailed, err: `"adx" is no scope`},
		"no manifest": {reason: "a flag of an import", args: []string{"--adopt", "as-is"}, exit: cli.ExitFailed, err: "add --import DIR"},
		"bad flag":    {reason: "2 is no error", args: []string{"--what"}, exit: cli.ExitFailed, err: "--what"},
		"no folder":   {reason: "the list is on standard output", args: []string{"--import", "-"}, exit: cli.ExitFailed, err: "--import needs a folder"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Chdir(t.TempDir())
			if c.ignore != "" {
				if err := os.WriteFile(coverage.IgnoreFile, []byte(c.ignore), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			w := unmanagedWorld(t)
			if c.change != nil {
				c.change(w)
			}
			exit := w.run(append([]string{"unmanaged", group}, c.args...)...)
			if exit != c.exit || !strings.Contains(w.out.String(), c.out) || !strings.Contains(w.err.String(), c.err) {
				t.Errorf("%s: exit %d, want %d\n%s%s", c.reason, exit, c.exit, w.out, w.err)
			}
			if len(w.temporal.sent)+len(w.temporal.started) > 0 {
				t.Errorf("%s: sent %v and started %v", c.reason, w.temporal.sent, w.temporal.started)
			}
		})
	}
}

// TestUnmanagedImport checks that manifests of the unmanaged resources are written, of no other
// one, and that the list stays a document.
func TestUnmanagedImport(t *testing.T) {
	t.Chdir(t.TempDir())
	w := unmanagedWorld(t)
	if exit := w.run("unmanaged", group, "--import", "stack", "--policy", "observe", "-o", "json"); exit != cli.ExitOK {
		t.Fatalf("exit %d: %s", exit, w.err)
	}
	var read struct {
		Summary   coverage.Summary
		Coverage  float64
		Unmanaged []coverage.Resource
		Skipped   []coverage.Resource
	}
	if err := json.Unmarshal(w.out.Bytes(), &read); err != nil {
		t.Fatalf("%v in\n%s", err, w.out)
	}
	if read.Summary != (coverage.Summary{Managed: 3, Unmanaged: 2, Skipped: 1}) || read.Coverage != 60 || len(read.Unmanaged) != 2 || len(read.Skipped) != 1 {
		t.Errorf("read %+v", read)
	}
	set, err := manifest.Load(manifest.Options{}, "stack")
	if err != nil {
		t.Fatal(err)
	}
	if len(set.Resources) != 2 {
		t.Errorf("%d manifests, want 2\n%s", len(set.Resources), w.err)
	}
	for i, want := range []string{cluster + "/databases/other", group + "/providers/Microsoft.Storage/storageAccounts/store"} {
		if got := set.Resources[i]; !got.ID.Equal(mustID(t, want)) || got.Policy != resource.PolicyObserve {
			t.Errorf("manifest %d is of %s with the policy %s, want %s", i, got.ID, got.Policy, want)
		}
	}
	if !strings.Contains(w.err.String(), filepath.Join("stack", "storage-account-store.yaml")) {
		t.Errorf("stderr names no file: %s", w.err)
	}
}

// TestUnmanagedIsData checks in every format that names, reasons and patterns from outside stay
// texts.
func TestUnmanagedIsData(t *testing.T) {
	for _, format := range coverage.Formats() {
		t.Run(format, func(t *testing.T) {
			t.Chdir(t.TempDir())
			if err := os.WriteFile("ignore\x1b[2J", []byte("\u202e::error::x\x1b[2J\n"), 0o600); err != nil {
				t.Fatal(err)
			}
			w := hostileWorld(t)
			if exit := w.run("unmanaged", cluster, "-o", format, "--ignore", "ignore\x1b[2J"); exit != cli.ExitFailed {
				t.Errorf("exit %d, want %d for the child that failed: %s", exit, cli.ExitFailed, w.err)
			}
			checkHarmless(t, "standard output", w.out.String(), false)
			checkHarmless(t, "standard error", w.err.String(), false)
		})
	}
}
