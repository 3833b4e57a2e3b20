package bench

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"go.temporal.io/sdk/client"

	"github.com/armature-io/armature/armsim"
	"github.com/armature-io/armature/dev/internal/collector"
	"github.com/armature-io/armature/dev/internal/harness"
	"github.com/armature-io/armature/internal/payload"
)

const (
	// overheadRounds is the number of rounds in which all sides are measured.
	overheadRounds = 7
	// maxOverhead is the share of processor time that encryption and traces together may
	// add to a pass in sync.
	maxOverhead = 0.15
)

// TestOverhead compares the processor time of a worker for a pass in sync: plain, with traces
// to a collector on the same machine, with encryption, and with both. All sides run the same
// resources, each with its own worker, task queue and simulator on one Temporal server. A
// round measures every side right after the other, in an order that changes with the round;
// a ratio is the median over the rounds. The collector runs in the process of the test, so
// only the worker's own work for an export counts.
func TestOverhead(t *testing.T) {
	binaries := requireOnlyPart(t, "overhead")
	base := harness.New(t, binaries, harness.Options{Simulator: armsim.Options{MaxRequests: 1000}})
	spans := collector.Start(t)
	key, encrypted := benchKey()
	sides := []*overhead{
		{name: "plain"},
		{name: "traces", traces: spans.HTTP()},
		{name: "encryption", env: encrypted, key: key},
		{name: "both", env: encrypted, key: key, traces: spans.HTTP()},
	}
	for i, s := range sides {
		s.start(base, i)
	}
	for round := range overheadRounds {
		for i := range sides {
			s := sides[(i+round)%len(sides)]
			s.rates = append(s.rates, s.measure(s.world))
			t.Logf("round %d: %s %+v", round, s.name, s.rates[round])
		}
	}
	if !slices.ContainsFunc(spans.Spans(), func(s collector.Span) bool { return s.Name == "pass" }) {
		t.Fatal("no pass was exported: the sides with traces had none")
	}
	all := figures{}
	for _, s := range sides {
		var ratios []float64
		for round := range overheadRounds {
			ratios = append(ratios, s.rates[round].cpu/sides[0].rates[round].cpu)
		}
		slices.Sort(ratios)
		_, cpu := s.medians()
		all["overhead."+s.name+"_cpu_ms"] = cpu * 1000
		if s != sides[0] {
			all["overhead."+s.name+"_ratio"], all["overhead."+s.name+"_ratio_low"], all["overhead."+s.name+"_ratio_high"] = median(ratios), ratios[0], ratios[len(ratios)-1]
		}
	}
	all.print(t)
	if ratio := all["overhead.both_ratio"]; ratio > 1+maxOverhead {
		t.Errorf("encryption and traces cost %.0f %% of a pass in sync, at most %.0f %% are allowed", (ratio-1)*100, maxOverhead*100)
	}
	if !t.Failed() {
		all.merge(t)
	}
}

// overhead is a side of TestOverhead.
type overhead struct {
	side
	name string
	// env configures worker and CLI, traces the worker alone: a command would begin the
	// trace of its resources.
	env, traces []string
	key         payload.Key
	world       *harness.World
}

// start starts the worker and the resources of a side.
func (s *overhead) start(base *harness.World, number int) {
	w := base.Branch(base.T, "overhead-"+s.name, harness.Options{Simulator: armsim.Options{MaxRequests: 1000}})
	w.Env = append(w.Env, s.env...)
	if s.key.ID != "" {
		converters, err := payload.New(payload.Options{Keys: []payload.Key{s.key}, WriteKey: s.key.ID})
		if err != nil {
			w.T.Fatal(err)
		}
		options := client.Options{}
		converters.Apply(&options)
		if w.Client, err = client.NewClientFromExisting(base.Client, options); err != nil {
			w.T.Fatal(err)
		}
	}
	s.world = w
	s.side = *startPassesOf(w, func(i int) string { return strings.Replace(passGroup(i), "/pass", fmt.Sprintf("/pass%d", number), 1) }, s.traces)
}
