package bench

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/armature-io/armature/armsim"
	"github.com/armature-io/armature/dev/internal/harness"
	"github.com/armature-io/armature/workflows"
)

const (
	pollersCount = 200
	// pollersTurns is how often both sides are measured, in turn.
	pollersTurns = 3
)

// TestPollers measures the creation of 200 resources by one worker that is 30 ms away from
// Temporal, with two pollers for each kind of task, as the SDK has without autoscaling, and
// with the default, in turn.
func TestPollers(t *testing.T) {
	binaries := requirePart(t, "pollers")
	var ratios []float64
	all := figures{}
	for turn := range pollersTurns {
		took := map[string]time.Duration{}
		for _, pollers := range []string{"2", "auto"} {
			t.Run(fmt.Sprintf("%d-%s", turn, pollers), func(t *testing.T) { took[pollers] = createFarAway(t, binaries, pollers) })
		}
		if t.Failed() {
			return
		}
		fixed, auto := took["2"], took["auto"]
		ratios = append(ratios, auto.Seconds()/fixed.Seconds())
		t.Logf("two pollers %s, autoscaling %s", fixed.Round(time.Millisecond), auto.Round(time.Millisecond))
	}
	slices.Sort(ratios)
	all["pollers.ratio"], all["pollers.ratio_min"], all["pollers.ratio_max"] = median(ratios), ratios[0], ratios[len(ratios)-1]
	all.print(t)
	if !t.Failed() {
		all.merge(t)
	}
}

// createFarAway returns the time until resources are Ready.
func createFarAway(t *testing.T, binaries harness.Binaries, pollers string) time.Duration {
	t.Helper()
	w := harness.New(t, binaries, harness.Options{
		Simulator: armsim.Options{TimeScale: 60, MaxRequests: 100_000}, RoundTrip: stormRoundTrip,
	})
	worker := w.StartWorker(harness.WorkerOptions{Env: []string{"ARMATURE_WORKER_POLLERS=" + pollers}})
	c := crowd{
		count: pollersCount, subscriptions: 4, kind: thingType + "@2024-01-01",
		body:       func(int) string { return `{"location":"westus2","properties":{"size":"small"}}` },
		extraLines: "reconcile: {interval: 24h}\n",
	}
	folder := c.manifests(w)
	begun := time.Now()
	send(w, "apply", "-f", folder)
	w.Until(5*time.Minute, "all are Ready", func() (bool, string) {
		n := inPhase(w, workflows.PhaseReady)
		return n == pollersCount, fmt.Sprintf("%d of %d", n, pollersCount)
	})
	took := time.Since(begun)
	worker.Kill()
	return took
}
