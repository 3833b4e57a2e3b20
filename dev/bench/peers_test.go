package bench

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
	// peersLimit bounds each wait.
	peersLimit = 5 * time.Minute
	// peersSubscriptions is the number of subscriptions of the resources.
	peersSubscriptions = 4
	// peersLatency is ARM's latency in the parts with latency.
	peersLatency = 300 * time.Millisecond
)

// TestPeers measures the figures that were measured of other tools on a machine with
// two cores, with the same definitions: operations of two polls at one second, no
// throttling, Azure's time is real. Memory is the sum of the worker and the Temporal
// server, processor time also includes the CLI. One run each: times vary by a third
// from run to run, requests do not.
func TestPeers(t *testing.T) {
	binaries := requireOnlyPart(t, "scale")
	all := figures{}
	t.Run("100", func(t *testing.T) { measureCreation(t, binaries, 100, 0, all) })
	t.Run("500", func(t *testing.T) { measureCreation(t, binaries, 500, 0, all) })
	t.Run("1000", func(t *testing.T) { measureCreation(t, binaries, 1000, 0, all) })
	t.Run("100 at 300 ms", func(t *testing.T) { measureCreation(t, binaries, 100, peersLatency, all) })
	t.Run("killed", func(t *testing.T) { measureKilled(t, binaries, 0, all) })
	t.Run("killed at 300 ms", func(t *testing.T) { measureKilled(t, binaries, peersLatency, all) })
	t.Run("throttled", func(t *testing.T) { measureThrottled(t, binaries, all) })
	t.Run("held", func(t *testing.T) { measureHeld(t, binaries, all) })
	printPeers(all)
	all.print(t)
	if !t.Failed() {
		all.merge(t)
	}
}

// peersOperation has two polls at one second; the first finds the operation in
// progress.
func peersOperation() armsim.OperationSpec {
	return armsim.OperationSpec{Shape: armsim.ShapeAsync, Seconds: 1.5, Polls: 1, RetryAfter: []float64{1}}
}

func newPeersTestbed(t *testing.T, binaries harness.Binaries) *testbed {
	t.Helper()
	return newTestbed(t, binaries, armsim.Options{
		TimeScale: 1, Operations: []armsim.OperationRule{{On: "put", Spec: peersOperation()}},
	})
}

// peers is a number of resources in the comparison with other tools.
type peers struct {
	*testbed
	crowd
	prefix string
	all    figures
}

// newPeers starts a testbed for resources in the given number of subscriptions.
func newPeers(t *testing.T, binaries harness.Binaries, count, subscriptions int, prefix string, all figures) *peers {
	t.Helper()
	return &peers{
		testbed: newPeersTestbed(t, binaries), all: all, prefix: prefix,
		crowd: crowd{count: count, subscriptions: subscriptions, kind: thingType + "@2024-01-01", body: func(int) string {
			return `{"location":"westus2","properties":{"size":"small"}}`
		}},
	}
}

// measureCreation creates resources. Without latency it also measures a round without
// changes, and a pass after an out-of-band change of one resource.
func measureCreation(t *testing.T, binaries harness.Binaries, count int, latency time.Duration, all figures) {
	prefix := fmt.Sprintf("peers.%d.", count)
	if latency > 0 {
		prefix += fmt.Sprintf("latency_%dms.", latency.Milliseconds())
	}
	p := newPeers(t, binaries, count, peersSubscriptions, prefix, all)
	if latency > 0 {
		p.Sim.Call(http.MethodPost, "/faults", armsim.Fault{On: "any", DelayMs: int(latency.Milliseconds())}, nil)
	}
	file := p.manifests(p.World)
	p.measureMemory("memory_idle_")
	p.create(file)
	p.measureMemory("memory_")
	if latency == 0 {
		p.measureRound()
		p.measureMemory("round_memory_")
		p.measureChange()
	}
}

// measureMemory stores the memory of worker and Temporal server together, in MiB, and
// separately the worker's part and the pages of the two programs' files, which the
// system may drop and which do not grow with the work.
func (p *peers) measureMemory(name string) {
	p.T.Helper()
	worker, temporal := p.usage(p.worker.PID()), p.usage(p.temporal)
	p.all[p.prefix+name+"mb"] = (worker.rss + temporal.rss) / mega
	p.all[p.prefix+name+"worker_mb"] = worker.rss / mega
	p.all[p.prefix+name+"worker_files_mb"], p.all[p.prefix+name+"temporal_files_mb"] = worker.files/mega, temporal.files/mega
}

func (p *peers) create(file string) {
	p.T.Helper()
	p.Sim.Reset()
	before, begun := p.spent(), time.Now()
	result := p.MustCLI("apply", "-f", file, "--timeout", peersLimit.String())
	p.untilReady()
	p.all[p.prefix+"ready_seconds"] = time.Since(begun).Seconds()
	p.storeCPU("ready_", before, result, 1)
	counters := p.Sim.Counters()
	p.all[p.prefix+"create_requests"] = float64(requestCount(counters)) / float64(p.count)
	if n := repeatedWrites(counters); n != 0 {
		p.T.Errorf("%d repeated PUTs, want none: %v", n, counters.Writes)
	}
}

func (p *peers) untilReady() {
	p.T.Helper()
	p.Until(peersLimit, "all are Ready", func() (bool, string) {
		n := p.inPhase(workflows.PhaseReady)
		return n == p.count, fmt.Sprintf("%d Ready", n)
	})
}

// repeatedWrites counts the accepted writes beyond the first of each resource.
func repeatedWrites(counters armsim.Counters) int {
	more := 0
	for _, n := range counters.Writes {
		more += n - 1
	}
	return more
}

// storeCPU stores the processor time since before, in seconds per part: in total, and
// of each process.
func (p *peers) storeCPU(name string, before spent, result harness.Result, parts int) {
	p.T.Helper()
	since := p.spentSince(before)
	for process, spent := range map[string]time.Duration{
		"": since.worker + since.temporal + result.CPU, "worker_": since.worker, "temporal_": since.temporal, "cli_": result.CPU,
	} {
		p.all[p.prefix+name+process+"cpu_seconds"] = spent.Seconds() / float64(parts)
	}
}

// requestCount counts all requests except the HEADs, by which a worker checks that ARM
// is reachable, whatever its work.
func requestCount(counters armsim.Counters) int {
	return counters.Total - counters.ByMethod[http.MethodHead]
}

// measureRound lets each resource make a pass in sync.
func (p *peers) measureRound() {
	p.T.Helper()
	p.Sim.Reset()
	before, begun := p.spent(), time.Now()
	result := p.MustCLI("reconcile", "-l", "stack=crowd", "--timeout", peersLimit.String())
	p.Until(peersLimit, "all have passed", func() (bool, string) {
		passed, counters := 0, p.Sim.Counters()
		for i := range p.count {
			passed += min(1, counters.ByID[strings.ToLower(p.id(i))][http.MethodGet])
		}
		return passed == p.count && p.slots() == 0, fmt.Sprintf("%d passed, %v slots used", passed, p.slots())
	})
	p.all[p.prefix+"round_seconds"] = time.Since(begun).Seconds()
	p.storeCPU("round_", before, result, p.count)
	counters := p.Sim.Counters()
	p.all[p.prefix+"round_requests"] = float64(requestCount(counters)) / float64(p.count)
	if n := counters.ByMethod[http.MethodPut]; n != 0 {
		p.T.Errorf("a round without changes made %d PUTs", n)
	}
}

// measureChange counts the requests that the repair of one change needs beyond the GET
// of an ordinary pass.
func (p *peers) measureChange() {
	p.T.Helper()
	id := p.id(0)
	p.Sim.Patch(id, map[string]any{"properties": map[string]any{"size": "large"}})
	p.Sim.Reset()
	p.MustCLI("reconcile", id, "--wait")
	counters := p.Sim.Counters()
	if n := counters.Writes[strings.ToLower(id)]; n != 1 {
		p.T.Fatalf("the changed resource was written %d times, want 1: %v", n, counters.ByID)
	}
	p.all[p.prefix+"changed_requests_more"] = float64(requestCount(counters) - 1)
}

// printPeers prints our figures beside those of other tools, which were measured on
// such a machine in November 2026 (reference/peers.md, "Measured peers") and are
// orientation, not limits.
func printPeers(all figures) {
	rows := []struct{ what, ours, aso, tofu string }{
		{"what", "Armature", "ASO v2 (its servers included)", "OpenTofu 1.12.6 + azapi 2.12.0"},
		{"create, requests per resource", all.text("%.2f", "peers.500.create_requests"), "5", "6"},
		{"100 resources to Ready", all.text("%.1f s; %.1f CPU s in total", "peers.100.ready_seconds", "peers.100.ready_cpu_seconds"), "5.4 to 7.1 s", "26 to 36 s"},
		{"500 resources to Ready", all.text("%.1f s; %.1f CPU s in total", "peers.500.ready_seconds", "peers.500.ready_cpu_seconds"), "18.4 to 26 s; 29 to 47 CPU s", "119 s; 35 to 69 CPU s"},
		{"100 resources, 300 ms latency of ARM", all.text("%.1f s", "peers.100.latency_300ms.ready_seconds"), "42 s", "36 s at 100 ms"},
		{"round without changes, per resource", all.text("%.2f requests; %.3f CPU s", "peers.500.round_requests", "peers.500.round_cpu_seconds"), "5 requests, 1 of them a PUT; 0.10 CPU s", "1 request"},
		{"round without changes, 500", all.text("%.1f s", "peers.500.round_seconds"), "-", "28 s"},
		{"the same, 1,000", all.text("%.1f s", "peers.1000.round_seconds"), "-", "47 s"},
		{"out-of-band change of one, extra requests", all.text("%.0f", "peers.500.changed_requests_more"), "-", "5"},
		{"memory idle, at 500", all.text("%.0f, %.0f MiB", "peers.500.memory_idle_mb", "peers.500.memory_mb"), "600 MiB idle; without servers 245, 275", "-"},
		{"memory after the round", all.text("%.0f MiB", "peers.500.round_memory_mb"), "-", "298 MB"},
		{"the same, 1,000", all.text("%.0f MiB", "peers.1000.round_memory_mb"), "-", "421 MB"},
		{"memory idle, at 500, of the worker alone", all.text("%.0f, %.0f MiB", "peers.500.memory_idle_worker_mb", "peers.500.memory_worker_mb"), "245, 275 MiB", "-"},
		{"20 databases, cluster held 70 s: first PUT after", all.text("%.1f s (last %.1f s)", "peers.held_70s.first_put_seconds", "peers.held_70s.last_put_seconds"), "58 s", "fails"},
		{"the same, held 300 s", all.text("%.1f s (last %.1f s)", "peers.held_300s.first_put_seconds", "peers.held_300s.last_put_seconds"), "137 s", "fails"},
		{"kill -9 during 100 creations: written twice", all.text("%.0f", "peers.killed.written_twice"), "0", "state may lose what was in flight"},
		{"the same at 300 ms", all.text("%.0f", "peers.killed_300ms.written_twice"), "6 to 24", ""},
		{"kill -9 when all are Ready: PUTs after the restart", all.text("%.0f", "peers.killed.restart_puts"), "100", ""},
		{"100 resources at a fifth of ARM's budget", all.text("%.0f s; %.0f times 429", "peers.throttled.ready_seconds", "peers.throttled.answers_429"), "-", "95 s; 658 times 429"},
	}
	for _, row := range rows {
		fmt.Printf("%-50s %-28s %-38s %s\n", row.what, row.ours, row.aso, row.tofu)
	}
}

// text formats figures; "-" replaces a text with a figure that was not measured.
func (f figures) text(format string, names ...string) string {
	values := make([]any, len(names))
	for i, name := range names {
		value, measured := f[name]
		if !measured {
			return "-"
		}
		values[i] = value
	}
	return fmt.Sprintf(format, values...)
}
