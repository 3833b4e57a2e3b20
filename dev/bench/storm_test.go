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
	// freezeDelay is the time after which a freeze is promised to hold.
	freezeDelay = 5 * time.Second
)

// TestStorm measures how soon a freeze is acknowledged, and how much is written after it,
// while hundreds of passes are due that would all write, far from Temporal.
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
	w.StartWorker(harness.WorkerOptions{Env: []string{"ARMATURE_PUT_BUDGET=0"}})
	begun := time.Now()
	freeze := w.MustCLI("freeze", "--reason", "storm")
	confirmed := time.Since(begun)
	t.Log(freeze)
	reads := len(w.Sim.Requests("?method=GET"))
	<-time.After(freezeDelay)
	puts := len(w.Sim.Requests("?method=PUT"))
	w.Until(5*time.Minute, "all passes have run", func() (bool, string) {
		n := inPhase(w, workflows.PhaseReady)
		return n == 0, fmt.Sprintf("%d have not met the freeze yet", n)
	})
	late := len(w.Sim.Requests("?method=PUT")) - puts
	if late > 0 {
		t.Errorf("%d PUTs were sent more than %s after the freeze was acknowledged", late, freezeDelay)
	}
	all := figures{
		"storm.freeze_acknowledged_seconds": freeze.Answered.Seconds(),
		"storm.freeze_command_seconds":      confirmed.Seconds(),
		"storm.reads_before_acknowledged":   float64(reads),
		"storm.puts_until_freeze_held":      float64(puts),
		"storm.puts_after_freeze_held":      float64(late),
	}
	all.print(t)
	if !t.Failed() {
		all.merge(t)
	}
}
