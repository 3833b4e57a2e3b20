package bench

import (
	"fmt"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/armature-io/armature/armsim"
	"github.com/armature-io/armature/dev/internal/harness"
)

// creationsBaseVariable names the commit with whose programs creations are compared.
const creationsBaseVariable = "BASE"

// creationsTurns is how often both builds are measured, in turn.
const creationsTurns = 3

// creationFigures are the figures whose ratios TestCreations prints, by their names in the testbed.
var creationFigures = map[string]string{
	"time": "ready_seconds", "put_to_read": "put_to_read_seconds", "cpu": "ready_cpu_seconds", "memory": "memory_mb", "worker_memory": "memory_worker_mb",
	"round_time": "round_seconds", "round_cpu": "round_cpu_seconds",
	"round_worker_cpu": "round_worker_cpu_seconds", "round_temporal_cpu": "round_temporal_cpu_seconds",
}

// TestCreations measures the creation of resources, and a round without changes, by the programs of
// BASE and by those of this tree, in turn: 500 beside Temporal, and 200 at a distance of 30 ms.
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
		ratios := map[string][]float64{}
		for turn := range creationsTurns {
			measured := map[string]figures{}
			for name, binaries := range map[string]harness.Binaries{"before": before, "now": next} {
				t.Run(fmt.Sprintf("%s-%d-%s", part.name, turn, name), func(t *testing.T) {
					measured[name] = createTimed(t, binaries, part.count, part.roundTrip)
					t.Logf("%v", measured[name])
				})
			}
			if t.Failed() {
				return
			}
			for figure, name := range creationFigures {
				ratios[figure] = append(ratios[figure], measured["now"][name]/measured["before"][name])
			}
			all["creations."+part.name+".requests"] = measured["now"]["create_requests"]
			all["creations."+part.name+".put_to_read_seconds"] = measured["now"]["put_to_read_seconds"]
		}
		for figure, values := range ratios {
			slices.Sort(values)
			name := "creations." + part.name + "." + figure + "_ratio"
			all[name], all[name+"_min"], all[name+"_max"] = median(values), values[0], values[len(values)-1]
		}
	}
	all.print(t)
	all.merge(t)
}

// createTimed returns what the creation of resources and a round without changes take.
func createTimed(t *testing.T, binaries harness.Binaries, count int, roundTrip time.Duration) figures {
	t.Helper()
	simulator := armsim.Options{TimeScale: 1, Operations: []armsim.OperationRule{{On: "put", Spec: peersOperation()}}}
	p := &peers{
		testbed: newDistantTestbed(t, binaries, simulator, roundTrip), all: figures{},
		crowd: crowd{count: count, subscriptions: peersSubscriptions, kind: thingType + "@2024-01-01", body: func(int) string {
			return `{"location":"westus2","properties":{"size":"small"}}`
		}},
	}
	p.create(p.manifests(p.World))
	p.all["put_to_read_seconds"] = median(slices.Sorted(maps.Values(p.putToRead())))
	p.measureMemory("memory_")
	p.measureRound()
	return p.all
}

// putToRead returns, for each created resource by ID, the seconds from its PUT to its last GET. Its operation
// takes two of them: the rest is what a resource waits for whose creation has begun.
func (p *peers) putToRead() map[string]float64 {
	put, took := map[string]time.Time{}, map[string]float64{}
	for _, request := range p.Sim.Requests("") {
		id := strings.ToLower(request.ID)
		switch {
		case !strings.EqualFold(request.Type, thingType):
		case request.Method == http.MethodPut:
			put[id] = request.Time
		case request.Method == http.MethodGet && !put[id].IsZero():
			took[id] = request.Time.Sub(put[id]).Seconds()
		}
	}
	return took
}
