package e2e

import (
	"fmt"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/armature-io/armature/armsim"
	"github.com/armature-io/armature/dev/internal/harness"
	"github.com/armature-io/armature/manifest"
)

// The examples as resource IDs.
const (
	demoGroup    = subscription + "/resourceGroups/armature-demo"
	demoStorage  = demoGroup + "/providers/Microsoft.Storage/storageAccounts/armaturedemo"
	demoCluster  = demoGroup + "/providers/Microsoft.Kusto/clusters/adx"
	demoDatabase = demoCluster + "/databases/telemetry"
	// demoCount is the number of resources in the examples.
	demoCount = 40
)

// demoPassword is the one secret that the examples name.
const demoPassword = "ARMATURE_SECRET_POSTGRES_PASSWORD=e2e-postgres-4711"

// examplesFolder is examples/ of the product.
func examplesFolder(t *testing.T) string {
	t.Helper()
	root, err := harness.Root(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return filepath.Join(root, "examples")
}

// stored returns the resources of the simulator whose ID matches the glob.
func stored(w *harness.World, glob string) []armsim.StoredResource {
	w.T.Helper()
	var all []armsim.StoredResource
	w.Sim.Call(http.MethodGet, "/resources?id="+glob, nil, &all)
	return all
}

// quickPolls makes the simulator return a Retry-After of one simulated minute. For
// most types it returns none, and Armature then polls every 15 real seconds.
func quickPolls(w *harness.World) {
	w.T.Helper()
	w.Sim.Call(http.MethodPost, "/operations", armsim.OperationRule{Spec: armsim.OperationSpec{RetryAfter: []float64{60}}}, nil)
}

// TestExamples takes the repository's examples from nothing to Ready, through a
// pass in sync and a drift, to nothing again.
func TestExamples(t *testing.T) {
	t.Parallel()
	w := harness.New(t, binaries, harness.Options{Simulator: armsim.Options{TimeScale: 300}})
	quickPolls(w)
	w.StartWorker(harness.WorkerOptions{Env: []string{demoPassword}})
	folder := examplesFolder(t)
	// The owners of the others come first: it saves the waits of blocked children.
	w.MustCLI("apply", "-f", filepath.Join(folder, "01-group.yaml"), "--wait", "--timeout", "60s")
	w.MustCLI("apply", "-f", filepath.Join(folder, "01-group.yaml"), "-f", filepath.Join(folder, "04-kusto-cluster.yaml"), "--wait", "--timeout", "60s")
	// On a busy machine the wait may end because somebody has to approve a private endpoint, just
	// before the simulator does: then a user repeats it.
	w.Until(2*time.Minute, "all examples are Ready", func() (bool, string) {
		result := w.CLI(harness.Patient([]string{"apply", "-f", folder, "--wait", "--timeout", "120s"})...)
		return result.Code == 0, result.String()
	})
	for _, play := range []struct {
		name string
		play func(*harness.World)
	}{
		{"in sync", examplesInSync},
		{"drift", examplesDrift},
		{"delete what holds others", func(w *harness.World) { examplesHeld(w, folder) }},
		{"delete", func(w *harness.World) { examplesDeleted(w, folder) }},
	} {
		if !t.Run(play.name, func(t *testing.T) { play.play(w.On(t)) }) {
			return
		}
	}
}

// examplesInSync reconciles everything that is Ready: one GET of each resource
// and at most one more of each that is owner or reference of another, no PUT.
func examplesInSync(w *harness.World) {
	untilQuiet(w)
	w.Sim.Reset()
	started := time.Now()
	w.MustCLI("reconcile", "-l", "stack=demo", "--wait", "--timeout", "60s")
	shared := int(time.Since(started) / (2 * time.Second)) // for which the requested passes share a reading
	counters := w.Sim.Counters()
	for _, method := range []string{http.MethodPut, http.MethodPatch, http.MethodPost, http.MethodDelete} {
		if n := counters.ByMethod[method]; n != 0 {
			w.T.Errorf("a pass in sync made %d %ss, want none: %v", n, method, counters.ByID)
		}
	}
	if len(counters.ByID) != demoCount {
		w.T.Errorf("%d resources got requests, want %d: %v", len(counters.ByID), demoCount, counters.ByID)
	}
	read := readByOthers(w.T)
	for id, requests := range counters.ByID {
		most := 1
		if read[id] {
			most = 2 + shared
		}
		if gets := requests[http.MethodGet]; gets < 1 || gets > most {
			w.T.Errorf("%s got %d GETs, want 1 to %d", id, gets, most)
		}
	}
}

// untilQuiet waits until the wakes of the last changes are over, whose passes read too: no
// request for longer than the second sweep of wakes takes to begin.
func untilQuiet(w *harness.World) {
	w.T.Helper()
	const quiet = 6 * time.Second
	requests, since := -1, time.Now()
	w.Until(2*time.Minute, "no request for "+quiet.String(), func() (bool, string) {
		now := w.Sim.Counters().Total
		if now != requests {
			requests, since = now, time.Now()
		}
		return time.Since(since) >= quiet, fmt.Sprintf("%d requests", now)
	})
}

// readByOthers are the keys of the resources that checks of others read: owners
// and what bodies name.
func readByOthers(t testing.TB) map[string]bool {
	t.Helper()
	root, err := harness.Root(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	set, err := manifest.Load(manifest.Options{}, filepath.Join(root, "examples"))
	if err != nil {
		t.Fatal(err)
	}
	read := map[string]bool{}
	for _, desired := range set.Resources {
		read[desired.Owner.Key()] = true
		for _, reference := range desired.References {
			read[reference.ID.Key()] = true
		}
	}
	return read
}

// examplesDrift changes a property outside Armature. The next pass corrects it alone,
// and the history names path, old and new value.
func examplesDrift(w *harness.World) {
	w.Sim.Reset()
	w.Sim.Patch(demoStorage, map[string]any{"properties": map[string]any{"accessTier": "Cool"}})
	w.MustCLI("reconcile", "-l", "stack=demo", "--wait", "--timeout", "60s")
	if puts := w.Sim.Counters().ByMethod[http.MethodPut]; puts != 1 || w.Sim.Count(http.MethodPut, demoStorage) != 1 {
		w.T.Errorf("%d PUTs, %d of them of the storage account; want only that one", puts, w.Sim.Count(http.MethodPut, demoStorage))
	}
	if now := stored(w, demoStorage); len(now) != 1 || !strings.Contains(fmt.Sprint(now[0].Body), "accessTier:Hot") {
		w.T.Errorf("the property was not put back: %+v", now)
	}
	want := `properties.accessTier "Cool" -> "Hot"`
	if lines := w.HistoryLines(demoStorage); !strings.Contains(lines, want) {
		w.T.Errorf("the history lacks %q:\n%s", want, lines)
	}
	page := w.MustCLI("describe", "armaturedemo")
	if !strings.Contains(page.Out, `properties.accessTier: "Cool" -> "Hot"`) {
		w.T.Errorf("describe does not name path, old and new value:\n%s", page)
	}
}

// examplesHeld deletes everything while the group contains an unmanaged resource: the table
// names it, and nothing is deleted.
func examplesHeld(w *harness.World, folder string) {
	foreign := demoGroup + "/providers/Microsoft.Example/things/foreign"
	w.Sim.Call(http.MethodPut, "/resources", map[string]any{"id": foreign, "body": map[string]any{"location": "westus2"}}, nil)
	refused := w.CLI("delete", "--with-data", "-f", folder, "--yes")
	if refused.Code != 1 || !strings.Contains(refused.Out, "foreign (Microsoft.Example/things)") {
		w.T.Errorf("want a refusal that names the foreign resource: %s", refused)
	}
	for _, r := range w.Sim.Requests("?method=DELETE") {
		w.T.Errorf("DELETE of %s, although one resource is refused", r.ID)
	}
	w.Sim.Call(http.MethodDelete, "/resources?id="+foreign, nil, nil)
}

// examplesDeleted waits for the end of the deletion, after which nothing remains.
func examplesDeleted(w *harness.World, folder string) {
	w.MustCLI("delete", "--with-data", "-f", folder, "--yes", "--wait", "--timeout", "180s")
	if left := stored(w, demoGroup+"*"); len(left) != 0 {
		w.T.Errorf("the deletion left %d resources behind: %+v", len(left), left)
	}
	if list := w.MustCLI("get", "-o", "json"); strings.TrimSpace(list.Out) != "[]" {
		w.T.Errorf("something is still managed:\n%s", list)
	}
}
