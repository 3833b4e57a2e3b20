package e2e

import (
	"net/http"
	"path/filepath"
	"testing"

	"github.com/armature-io/armature/armsim"
	"github.com/armature-io/armature/dev/internal/harness"
)

// TestImport writes manifests of the resources of the examples: they plan as in sync,
// are adopted without a PUT, and contain no secret.
func TestImport(t *testing.T) {
	t.Parallel()
	w := harness.New(t, binaries, harness.Options{Simulator: armsim.Options{TimeScale: 1200}})
	quickPolls(w)
	w.StartWorker(harness.WorkerOptions{Env: []string{demoPassword}})
	folder := examplesFolder(t)
	w.MustCLI("apply", "-f", filepath.Join(folder, "01-group.yaml"), "-f", filepath.Join(folder, "04-kusto-cluster.yaml"), "--wait", "--timeout", "90s")
	w.MustCLI("apply", "-f", folder, "--wait", "--timeout", "120s")
	forgetAll(w) // an import has what is in Azure, not the labels of manifests
	w.Sim.Reset()
	w.MustCLI("import", demoGroup, "--children", "--api-version", "2023-08-15", "-o", "imported")
	for _, c := range plan(w, 0, "-f", "imported") {
		if c.Action != "none" {
			t.Errorf("the plan of an import: %+v", c)
		}
	}
	w.MustCLI("apply", "-f", "imported", "--wait", "--timeout", "60s")
	w.MustCLI("reconcile", "armaturedemo", "--wait", "--timeout", "60s")
	counters := w.Sim.Counters()
	if counters.ByMethod[http.MethodPut]+counters.ByMethod[http.MethodDelete] != 0 {
		t.Errorf("an import and its apply wrote: %v", counters.ByID)
	}
	files, err := filepath.Glob(filepath.Join(w.Folder, "imported", "*.yaml"))
	if err != nil || len(files) < 8 {
		t.Errorf("%d manifests written: %v", len(files), files)
	}
}
