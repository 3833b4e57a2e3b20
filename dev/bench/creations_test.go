package bench

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/armature-io/armature/armsim"
	"github.com/armature-io/armature/dev/internal/harness"
)

// creationsBaseVariable names the commit with whose programs creations are compared.
const creationsBaseVariable = "BASE"

// creationsTurns is how often both builds are measured, in turn.
const creationsTurns = 3

// creations is one measurement of creations.
type creations struct {
	seconds, cpu, worker, temporal, cli float64
}

// TestCreations measures the creation of resources by the programs of BASE and by those of
// this tree, in turn: 500 beside Temporal, and 200 at a distance of 30 ms.
func TestCreations(t *testing.T) {
	next := requireOnlyPart(t, "creations")
	base := os.Getenv(creationsBaseVariable)
	if base == "" {
		t.Skipf("set %s to the commit to compare with", creationsBaseVariable)
	}
	folder := filepath.Join(t.TempDir(), "base")
	before, err := harness.BuildCommit(t.Context(), base, folder)
	if err != nil {
		t.Fatal(err)
	}
	all := figures{}
	for _, part := range []struct {
		name      string
		count     int
		roundTrip time.Duration
	}{{"near", 500, 0}, {"far", 200, stormRoundTrip}} {
		var time, cpu []float64
		for turn := range creationsTurns {
			measured := map[string]creations{}
			for name, binaries := range map[string]harness.Binaries{"before": before, "now": next} {
				t.Run(fmt.Sprintf("%s-%d-%s", part.name, turn, name), func(t *testing.T) {
					measured[name] = createTimed(t, binaries, part.count, part.roundTrip)
					t.Logf("%+v", measured[name])
				})
			}
			if t.Failed() {
				return
			}
			time = append(time, measured["now"].seconds/measured["before"].seconds)
			cpu = append(cpu, measured["now"].cpu/measured["before"].cpu)
		}
		slices.Sort(time)
		slices.Sort(cpu)
		prefix := "creations." + part.name + "."
		all[prefix+"time_ratio"], all[prefix+"cpu_ratio"] = median(time), median(cpu)
		all[prefix+"time_ratio_min"], all[prefix+"time_ratio_max"] = time[0], time[len(time)-1]
	}
	all.print(t)
	all.merge(t)
}

// createTimed returns what the creation of resources takes.
func createTimed(t *testing.T, binaries harness.Binaries, count int, roundTrip time.Duration) creations {
	t.Helper()
	simulator := armsim.Options{TimeScale: 1, Operations: []armsim.OperationRule{{On: "put", Spec: peersOperation()}}}
	p := &peers{
		testbed: newDistantTestbed(t, binaries, simulator, roundTrip), all: figures{}, prefix: "x.",
		crowd: crowd{count: count, subscriptions: peersSubscriptions, kind: thingType + "@2024-01-01", body: func(int) string {
			return `{"location":"westus2","properties":{"size":"small"}}`
		}},
	}
	p.create(p.manifests(p.World))
	return creations{
		seconds: p.all["x.ready_seconds"], cpu: p.all["x.ready_cpu_seconds"],
		worker: p.all["x.ready_worker_cpu_seconds"], temporal: p.all["x.ready_temporal_cpu_seconds"], cli: p.all["x.ready_cli_cpu_seconds"],
	}
}
