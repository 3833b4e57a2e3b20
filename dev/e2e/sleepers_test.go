package e2e

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/armature-io/armature/armsim"
	"github.com/armature-io/armature/dev/internal/harness"
	"github.com/armature-io/armature/workflows"
)

const (
	// fewSleepers are there when the stacks are read that a worker has besides.
	fewSleepers, manySleepers = 100, 400
	// sleeperStack is the most that each of the others may keep, in bytes: Go has
	// stacks of 4 and of 8 KiB, and ten thousand of the latter are 40 MB more.
	sleeperStack = 6 << 10
	// settles is how long the few are watched.
	settles = 10 * time.Second
)

// TestSleepersKeepSmallStacks holds that the stack of a sleeping run fits into
// 4 KiB: a frame more on it, of ours or of the SDK's, and it does not. The worker
// collects often, because it is a collection that halves a stack.
func TestSleepersKeepSmallStacks(t *testing.T) {
	t.Parallel()
	w := harness.New(t, binaries, harness.Options{Simulator: armsim.Options{TimeScale: 60}})
	worker := w.StartWorker(harness.WorkerOptions{Env: []string{"GOGC=10"}})
	stacks := func() float64 {
		code, metrics := worker.Get("/metrics")
		if code != http.StatusOK {
			t.Fatalf("/metrics answers %d: %s", code, metrics)
		}
		return sum(w, metrics, `(?m)^go_memstats_stack_inuse_bytes(?:\{.*\})? ([0-9.e+]+)$`)
	}
	sleep(w, 0, fewSleepers)
	least, until := stacks(), time.Now().Add(settles)
	w.Until(2*settles, "the few were watched", func() (bool, string) {
		least = min(least, stacks())
		return time.Now().After(until), ""
	})
	if least == 0 {
		t.Fatal("the worker does not tell its stacks")
	}
	sleep(w, fewSleepers, manySleepers)
	w.Until(60*time.Second, "small stacks", func() (bool, string) {
		each := (stacks() - least) / (manySleepers - fewSleepers)
		return each < sleeperStack, fmt.Sprintf("%.0f bytes of stack a sleeper, want less than %d", each, sleeperStack)
	})
}

// sleep lets resources from first to last become Ready.
func sleep(w *harness.World, first, last int) {
	w.T.Helper()
	group := subscription + "/resourceGroups/sleepers"
	w.Sim.Call(http.MethodPut, "/resources", map[string]any{"id": group, "body": map[string]any{"location": "westus2"}}, nil)
	var manifests []string
	for i := first; i < last; i++ {
		manifests = append(manifests, fmt.Sprintf("type: Contoso.Things/sleepers@2024-01-01\nname: s%d\nowner: %s\nreconcile: {interval: 24h}\nbody: {location: westus2}\n", i, group))
	}
	sendAll(w, "apply", "-f", w.Write(fmt.Sprintf("sleepers%d.yaml", first), strings.Join(manifests, "---\n")))
	for i := first; i < last; i++ {
		w.UntilPhase(120*time.Second, fmt.Sprintf("%s/providers/Contoso.Things/sleepers/s%d", group, i), workflows.PhaseReady)
	}
}
