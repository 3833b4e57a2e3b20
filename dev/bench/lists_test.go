package bench

import (
	"os"
	"testing"
	"time"

	"github.com/armature-io/armature/dev/internal/harness"
)

const (
	// listedCount is the number of resources in the lists.
	listedCount = 10_000
	// listTurns is how often each command is measured.
	listTurns = 3
)

// TestLists measures lists of ten thousand resources, and counts what they send: `get`, a
// watch, and commands with a name; then `get` of as many whose memos are encrypted. No worker
// runs. The store is SQLite, which has pages of 250; POSTGRES_LISTS=10000 make test-postgres
// measures a store with pages of 1,000.
func TestLists(t *testing.T) {
	if os.Getenv(partVariable) == "all" {
		t.Skip("takes minutes; make bench BENCH=lists runs it")
	}
	binaries := requirePart(t, "lists")
	w := harness.New(t, binaries, harness.Options{})
	w.SeedReady(listedCount, crowd{subscriptions: 10, kind: thingType}.id)
	meter := w.Meter()
	all := figures{}
	measure := func(name string, args ...string) {
		best := time.Hour
		for range listTurns {
			meter.Reset()
			begun := time.Now()
			w.MustCLI(args...)
			best = min(best, time.Since(begun))
		}
		sent := meter.Requests()
		all["lists."+name+"_seconds"] = best.Seconds()
		all["lists."+name+"_server_seconds"] = meter.Spent("ListWorkflowExecutions").Seconds()
		all["lists."+name+"_lists"] = float64(sent["ListWorkflowExecutions"])
		all["lists."+name+"_queries"] = float64(sent["QueryWorkflow"])
		all["lists."+name+"_refused"] = float64(meter.Refused()["ListWorkflowExecutions"])
	}
	measure("get", "get")
	measure("get_name", "get", "t77")
	measure("get_phase", "get", "--phase", "Blocked")
	compareEncrypted(w, all)
	all.print(t)
	if !t.Failed() {
		all.merge(t)
	}
}
