package e2e

import (
	"encoding/json"
	"fmt"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/armature-io/armature/armsim"
	"github.com/armature-io/armature/dev/internal/harness"
)

// plannedChange has the fields of `plan -o json` that the tests read.
type plannedChange struct {
	ID, Name, Action, Reason, Message string
	After, WaitingFor                 []string
	Differences                       []struct{ Path, Desired, Observed, Rule string }
	Drops                             []string
}

// plan runs `armature plan -o json` and checks that it sent GETs only.
func plan(w *harness.World, code int, args ...string) []plannedChange {
	w.T.Helper()
	before := w.Sim.Counters().ByMethod
	result := w.CLI(append([]string{"plan", "-o", "json"}, args...)...)
	if result.Code != code {
		w.T.Fatalf("want exit code %d of %s", code, result)
	}
	after := w.Sim.Counters().ByMethod
	for _, method := range []string{http.MethodPut, http.MethodPatch, http.MethodPost, http.MethodDelete} {
		if after[method] != before[method] {
			w.T.Errorf("a plan sent %d %ss", after[method]-before[method], method)
		}
	}
	var read struct{ Resources []plannedChange }
	if err := json.Unmarshal([]byte(result.Out), &read); err != nil {
		w.T.Fatalf("%v of %s", err, result)
	}
	return read.Resources
}

// TestPlan plans the examples before they exist, when they are applied, and
// after a change by another tool. A plan never writes.
func TestPlan(t *testing.T) {
	t.Parallel()
	w := harness.New(t, binaries, harness.Options{Simulator: armsim.Options{TimeScale: 600}})
	quickPolls(w)
	w.StartWorker(harness.WorkerOptions{Env: []string{demoPassword}})
	folder := examplesFolder(t)
	planLocation(w)
	for _, c := range plan(w, 2, "-f", folder) {
		if c.Action != "create" || c.Name != "armature-demo" && len(c.After) == 0 && !strings.Contains(c.ID, "roleAssignments") {
			t.Errorf("before anything exists %s is %s after %v: %s", c.ID, c.Action, c.After, c.Message)
		}
	}
	w.MustCLI("apply", "-f", filepath.Join(folder, "01-group.yaml"), "-f", filepath.Join(folder, "04-kusto-cluster.yaml"), "--wait", "--timeout", "90s")
	w.MustCLI("apply", "-f", folder, "--wait", "--timeout", "120s")
	t.Run("in sync", func(t *testing.T) { planInSync(w.On(t), folder) })
	t.Run("foreign change", func(t *testing.T) { planForeignChange(w.On(t), folder) })
	t.Run("blocked", func(t *testing.T) { planBlocked(w.On(t), folder) })
}

// planLocation plans a location that the subscription does not offer.
func planLocation(w *harness.World) {
	manifest := func(location, version string) string {
		return w.Write("location.yaml", fmt.Sprintf(`type: Microsoft.Resources/resourceGroups@%s
name: elsewhere
owner: %s
body: {location: %s}
`, version, subscription, location))
	}
	w.T.Helper()
	for _, c := range plan(w, 1, "-f", manifest("wetseurope", "2024-03-01")) {
		if c.Action != "error" || c.Reason != "LocationNotAvailableForResourceType" || !strings.Contains(c.Message, "did you mean westeurope?") {
			w.T.Errorf("a misspelt location: %+v", c)
		}
	}
	if result := w.CLI("plan", "-f", manifest("West Europe", "2024-03-02")); result.Code != 2 || !strings.Contains(result.Out, "warning: api-version 2024-03-02") {
		w.T.Errorf("want a warning about the api-version: %s", result)
	}
}

// planInSync costs one GET of each resource and at most one more of what others
// need.
func planInSync(w *harness.World, folder string) {
	w.Sim.Reset()
	for _, c := range plan(w, 0, "-f", folder) {
		if c.Action != "none" {
			w.T.Errorf("after an apply %s is to be %s: %+v", c.ID, c.Action, c)
		}
	}
	counters := w.Sim.Counters()
	read := readByOthers(w.T)
	for id, requests := range counters.ByID {
		most := 1
		if read[id] {
			most = 2
		}
		if requests[http.MethodGet] > most {
			w.T.Errorf("%s got %d GETs, want at most %d", id, requests[http.MethodGet], most)
		}
	}
	if text := w.MustCLI("plan", "-f", folder).Out; text != fmt.Sprintf("No changes: %d in sync.\n", demoCount) {
		w.T.Errorf("the plan prints %q", text)
	}
}

// planForeignChange checks that the plan shows exactly the changed path.
func planForeignChange(w *harness.World, folder string) {
	w.Sim.Patch(demoStorage, map[string]any{"properties": map[string]any{"accessTier": "Cool"}})
	for _, c := range plan(w, 2, "-f", folder) {
		switch {
		case !strings.EqualFold(c.ID, demoStorage):
			if c.Action != "none" {
				w.T.Errorf("%s is to be %s", c.ID, c.Action)
			}
		case c.Action != "update" || len(c.Differences) != 1 || c.Differences[0].Path != "properties.accessTier" ||
			c.Differences[0].Observed != `"Cool"` || c.Differences[0].Desired != `"Hot"`:
			w.T.Errorf("want one path from Cool to Hot, got %+v", c)
		}
	}
	w.MustCLI("reconcile", "-l", "stack=demo", "--wait", "--timeout", "60s")
	plan(w, 0, "-f", folder)
}

// planBlocked checks that the plan sends no request to a resource that its owner
// blocks.
func planBlocked(w *harness.World, folder string) {
	w.Sim.Patch(demoCluster, map[string]any{"properties": map[string]any{"state": "Stopped", "provisioningState": "Updating"}})
	w.MustCLI("reconcile", "-l", "stack=demo") // the worker's owner cache gets the change
	w.Until(40*time.Second, "the plan knows the cluster's state", func() (bool, string) {
		w.Sim.Reset()
		changes := plan(w, 2, "-f", folder)
		for _, c := range changes {
			if strings.EqualFold(c.ID, demoDatabase) && c.Action == "blocked" {
				if n := w.Sim.Count(http.MethodGet, demoDatabase); n != 0 || len(c.WaitingFor) != 1 || !strings.EqualFold(c.WaitingFor[0], demoCluster) {
					w.T.Errorf("%d GETs of a blocked database, blocked by %v", n, c.WaitingFor)
				}
				return true, ""
			}
		}
		return false, "it is not blocked"
	})
}
