package bench

import (
	"fmt"
	"testing"
	"time"

	"github.com/armature-io/armature/armsim"
	"github.com/armature-io/armature/dev/internal/harness"
	"github.com/armature-io/armature/workflows"
)

const (
	stormCount = 400
	// stormInterval is the interval of the resources: all are due once the worker was away
	// for longer.
	stormInterval = time.Minute
	// stormRoundTrip is the distance between Temporal and its clients.
	stormRoundTrip = 30 * time.Millisecond
)

// TestStorm measures how soon a freeze is acknowledged and confirmed, and how much is written
// after its confirmation, while hundreds of passes are due that would all write, far from
// Temporal. Half of the workers are gone when it comes.
func TestStorm(t *testing.T) {
	binaries := requirePart(t, "storm")
	w := harness.New(t, binaries, harness.Options{
		Simulator: armsim.Options{TimeScale: 60, MaxRequests: 100_000}, RoundTrip: stormRoundTrip,
	})
	worker := w.StartWorker(harness.WorkerOptions{Env: []string{"ARMATURE_PUT_BUDGET=0"}})
	c := crowd{
		count: stormCount, subscriptions: 4, kind: thingType + "@2024-01-01",
		body:       func(int) string { return `{"location":"westus2","properties":{"size":"small"}}` },
		extraLines: fmt.Sprintf("reconcile: {interval: %s}\n", stormInterval),
	}
	send(w, "apply", "-f", c.manifests(w))
	w.Until(5*time.Minute, "all are Ready", func() (bool, string) {
		n := inPhase(w, workflows.PhaseReady)
		return n == stormCount, fmt.Sprintf("%d of %d", n, stormCount)
	})
	worker.Kill()
	for i := range stormCount {
		w.Sim.Patch(c.id(i), map[string]any{"properties": map[string]any{"size": "large"}})
	}
	<-time.After(3 * stormInterval / 2) // jitter lengthens an interval by a quarter at most
	w.Sim.Reset()
	env := []string{"ARMATURE_PUT_BUDGET=0"}
	gone := w.StartWorker(harness.WorkerOptions{Env: env})
	w.StartWorker(harness.WorkerOptions{Env: env})
	w.Until(time.Minute, "the storm has begun", func() (bool, string) {
		n := len(w.Sim.Requests("?method=PUT"))
		return n > 0, fmt.Sprintf("%d PUTs", n)
	})
	gone.Kill()
	begun := time.Now()
	freeze := w.MustCLI("freeze", "--reason", "storm")
	confirmed := time.Since(begun)
	t.Log(freeze)
	reads, puts := len(w.Sim.Requests("?method=GET")), len(w.Sim.Requests("?method=PUT"))
	w.Until(5*time.Minute, "all passes have run", func() (bool, string) {
		n := inPhase(w, workflows.PhaseReady)
		return n == 0 || n <= puts, fmt.Sprintf("%d have not met the freeze yet", n)
	})
	late := len(w.Sim.Requests("?method=PUT")) - puts
	if late > 0 {
		t.Errorf("%d PUTs were sent after the freeze was confirmed", late)
	}
	all := figures{
		"storm.freeze_acknowledged_seconds": freeze.Answered.Seconds(),
		"storm.freeze_confirmed_seconds":    confirmed.Seconds(),
		"storm.reads_before_confirmed":      float64(reads),
		"storm.puts_before_confirmed":       float64(puts),
		"storm.puts_after_confirmed":        float64(late),
	}
	all.print(t)
	if !t.Failed() {
		all.merge(t)
	}
}
