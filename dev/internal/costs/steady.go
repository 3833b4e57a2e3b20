package costs

import (
	"net/http"
	"strings"
	"time"

	"github.com/armature-io/armature/armsim"
	"github.com/armature-io/armature/dev/internal/harness"
	"github.com/armature-io/armature/dev/internal/histories"
	"github.com/armature-io/armature/workflows"
)

// requests records the requests to the resources by verb, divided by the number of
// passes.
func (f Figures) requests(kind string, counters armsim.Counters, passes int64, ids ...string) {
	for _, method := range []string{http.MethodGet, http.MethodPut, http.MethodDelete} {
		count := 0
		for _, id := range ids {
			count += counters.ByID[strings.ToLower(id)][method]
		}
		f["requests."+kind+"."+strings.ToLower(method)] = float64(count) / float64(passes)
	}
}

// measureSteady measures passes in sync by a timer of one second, which is less than
// a manifest allows, and makes the resources idle again.
func measureSteady(w *harness.World, file string, figures Figures) {
	w.T.Helper()
	ids := steadyIDs()
	before := passes(w)
	w.Sim.Reset()
	w.SetInterval(file, time.Second)
	for _, id := range ids {
		w.UntilStatus(timeout, id, "passes by its timer", func(s workflows.Status) bool { return s.Pass > before[id]+steadyPasses })
	}
	w.SetInterval(file, idleInterval)
	for _, id := range ids {
		w.UntilStatus(timeout, id, "is idle", func(s workflows.Status) bool {
			return s.Condition.ObservedGeneration == s.Generation && time.Until(s.NextTry) > idleInterval/2
		})
	}
	after, total := passes(w), int64(0)
	for _, id := range ids {
		total += after[id] - before[id]
	}
	counters := w.Sim.Counters()
	figures.requests("steady", counters, total, ids...)
	figures["requests.steady.owner_get"] = float64(counters.ByID[strings.ToLower(group)][http.MethodGet])
	for size := range sizes() {
		pass := histories.Pass(w.History(steady(size)))
		if known, found := figures["history.steady.events"]; found && known != float64(len(pass)) {
			w.T.Errorf("a pass in sync has %d events, and %g with another size of the body", len(pass), known)
		}
		figures["history.steady.events"] = float64(len(pass))
		figures["history.steady.bytes_"+size] = float64(histories.Bytes(pass))
	}
}

// passes returns the number of completed passes of the resources in sync, by ID.
func passes(w *harness.World) map[string]int64 {
	w.T.Helper()
	numbers := map[string]int64{}
	for _, id := range steadyIDs() {
		status, err := w.Status(id)
		if err != nil {
			w.T.Fatal(err)
		}
		numbers[id] = status.Pass
	}
	return numbers
}

// measurePlan measures a dry run of the resources in sync.
func measurePlan(w *harness.World, file string, figures Figures) {
	w.T.Helper()
	w.Sim.Reset()
	w.MustCLI("plan", "-f", file)
	counters, ids := w.Sim.Counters(), steadyIDs()
	figures.requests("plan", counters, int64(len(ids)), ids...)
	figures["requests.plan.owner_get"] = float64(counters.ByID[strings.ToLower(group)][http.MethodGet])
}

// steadyIDs returns the IDs of the resources in sync.
func steadyIDs() []string {
	var ids []string
	for size := range sizes() {
		ids = append(ids, steady(size))
	}
	return ids
}
