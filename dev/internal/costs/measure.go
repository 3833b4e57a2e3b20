package costs

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/armature-io/armature/armsim"
	"github.com/armature-io/armature/dev/internal/harness"
	"github.com/armature-io/armature/dev/internal/histories"
	"github.com/armature-io/armature/workflows"
)

const (
	subscription = "/subscriptions/11111111-2222-3333-4444-555555555555"
	group        = subscription + "/resourceGroups/costs"
	missingGroup = subscription + "/resourceGroups/absent"
	things       = "/providers/Microsoft.Example/things/"
	created      = group + things + "created"
	blocked      = missingGroup + things + "blocked"

	// timeout bounds each wait; the machine may be busy.
	timeout = 60 * time.Second
	// polls of an operation; the last one finds it complete.
	polls = 2
	// steadyPasses is the number of passes measured for each resource in sync.
	steadyPasses = 3
	// blockedPasses is the minimum number of passes of the blocked resource.
	blockedPasses = 4
	// idleInterval is the interval of resources that should stay idle.
	idleInterval = 24 * time.Hour
)

// sizes returns the sizes of the bodies in bytes, by name.
func sizes() map[string]int { return map[string]int{"2k": 2_000, "20k": 20_000, "200k": 200_000} }

func steady(size string) string { return group + things + "steady-" + size }

// Measure measures all figures of [Limits] with its own worker, in a world without
// workers and resources. It takes about 20 s.
func Measure(w *harness.World) Figures {
	w.T.Helper()
	figures := Figures{}
	w.Sim.Call(http.MethodPut, "/resources", map[string]any{"id": group, "body": map[string]any{"location": "westus2"}}, nil)
	w.Sim.Call(http.MethodPost, "/operations", armsim.OperationRule{
		ID: created, Spec: armsim.OperationSpec{Shape: armsim.ShapeAsync, Polls: polls - 1, RetryAfter: []float64{60}},
	}, nil)
	documents := []string{manifest("created", group, Body(0)), manifest("blocked", missingGroup, Body(0))}
	var inSync []string
	for _, size := range slices.Sorted(maps.Keys(sizes())) {
		inSync = append(inSync, manifest("steady-"+size, group, Body(sizes()[size])))
	}
	steadyFile := w.Write("steady.yaml", strings.Join(inSync, "---\n"))
	file := w.Write("costs.yaml", strings.Join(append(documents, inSync...), "---\n"))
	worker := w.StartWorker(harness.WorkerOptions{})
	started := time.Now()
	w.MustCLI("apply", "-f", file)
	measureCreate(w, figures, time.Since(started))
	measureBlocked(w, figures)
	for _, id := range steadyIDs() {
		w.UntilWoken(id)
	}
	if code := worker.Stop(); code != 0 {
		w.T.Fatalf("the worker stopped with exit code %d", code)
	}
	w.StartWorker(harness.WorkerOptions{}) // a fresh one, which has read no owner yet
	measureSteady(w, steadyFile, figures)
	measurePlan(w, steadyFile, figures)
	return figures
}

func manifest(name, owner string, body []byte) string {
	return fmt.Sprintf("type: Microsoft.Example/things@2024-01-01\nname: %s\nowner: %s\nbody: %s\nreconcile: {interval: %s}\n", name, owner, body, idleInterval)
}

// sharedReading is how old a reading of the owner may be when a user requests a pass.
const sharedReading = 2 * time.Second

// measureCreate measures the requests from apply to Ready, and the history until all
// dependents are notified. The specs of one apply share a reading of their owner while it
// takes less than sharedReading; one that took longer may cause one more each time.
func measureCreate(w *harness.World, figures Figures, applying time.Duration) {
	w.T.Helper()
	w.UntilPhase(timeout, created, workflows.PhaseReady)
	counters := w.Sim.Counters()
	figures.requests("first", counters, 1, created)
	figures["requests.first.poll"] = float64(counters.ByKind["operation"][http.MethodGet]) // no other resource has an operation
	for size := range sizes() {
		w.UntilPhase(timeout, steady(size), workflows.PhaseReady)
	}
	reads := w.Sim.Count(http.MethodGet, group)
	figures["requests.first.owner_get"] = float64(reads - min(max(reads-1, 0), int(applying/sharedReading)))
	w.UntilWoken(created)
	history := w.History(created)
	figures["history.create.events"] = float64(len(history.GetEvents()))
	figures["history.create.bytes"] = float64(histories.Bytes(history.GetEvents()))
}

// measureBlocked measures the passes of a resource whose group does not exist.
func measureBlocked(w *harness.World, figures Figures) {
	w.T.Helper()
	w.UntilStatus(timeout, blocked, "is blocked", func(s workflows.Status) bool { return s.Phase == workflows.PhaseBlocked && s.Pass >= blockedPasses })
	pass := histories.Pass(w.History(blocked))
	figures["history.blocked.events"] = float64(len(pass))
	figures["history.blocked.bytes"] = float64(histories.Bytes(pass))
	counters := w.Sim.Counters()
	figures.requests("blocked", counters, 1, blocked)
	figures["requests.blocked.owner_get"] = float64(counters.ByID[strings.ToLower(missingGroup)][http.MethodGet])
}
