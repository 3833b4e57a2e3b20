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
	// peersSubscriptions is over how many subscriptions the resources are spread.
	peersSubscriptions = 4
	// peersLatency is that of each answer of ARM where there is one.
	peersLatency = 300 * time.Millisecond
)

// TestPeers measures what was measured of others on a machine of two cores, in
// the same words: operations of two polls at one second, no throttling, Azure's
// time is real. Processor time and memory are those of the worker and of the
// Temporal server together, processor time the CLI's too. One run each: times
// vary by a third from run to run, requests do not.
func TestPeers(t *testing.T) {
	binaries := apart(t, "scale")
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

// peersOperation is two polls at one second: at the first the operation still
// goes on.
func peersOperation() armsim.OperationSpec {
	return armsim.OperationSpec{Shape: armsim.ShapeAsync, Seconds: 1.5, Polls: 1, RetryAfter: []float64{1}}
}

func newPeersStand(t *testing.T, binaries harness.Binaries) *stand {
	t.Helper()
	return newStand(t, binaries, armsim.Options{
		TimeScale: 1, Operations: []armsim.OperationRule{{On: "put", Spec: peersOperation()}},
	})
}

// peers is a number of resources that are compared with those of others.
type peers struct {
	*stand
	crowd
	prefix string
	all    figures
}

// newPeers makes a stand for resources in so many subscriptions.
func newPeers(t *testing.T, binaries harness.Binaries, count, subscriptions int, prefix string, all figures) *peers {
	t.Helper()
	return &peers{
		stand: newPeersStand(t, binaries), all: all, prefix: prefix,
		crowd: crowd{count: count, subscriptions: subscriptions, kind: thingType + "@2024-01-01", body: func(int) string {
			return `{"location":"westus2","properties":{"size":"small"}}`
		}},
	}
}

// measureCreation creates resources; at no latency it lets them make a round with
// nothing changed, and one more after a change behind the back of one.
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
	p.memory("memory_idle_")
	p.create(file)
	p.memory("memory_")
	if latency == 0 {
		p.round()
		p.memory("round_memory_")
		p.changed()
	}
}

// memory keeps what worker and Temporal server hold together, in MiB, and of it
// the worker's part and the pages of the two programs' files, which are the
// system's to drop and do not grow with what is done.
func (p *peers) memory(name string) {
	p.T.Helper()
	worker, temporal := p.use(p.worker.PID()), p.use(p.temporal)
	p.all[p.prefix+name+"mb"] = (worker.rss + temporal.rss) / mega
	p.all[p.prefix+name+"worker_mb"] = worker.rss / mega
	p.all[p.prefix+name+"worker_files_mb"], p.all[p.prefix+name+"temporal_files_mb"] = worker.files/mega, temporal.files/mega
}

func (p *peers) create(file string) {
	p.T.Helper()
	p.Sim.Reset()
	before, begun := p.spent(), time.Now()
	said := p.MustCLI("apply", "-f", file, "--timeout", peersLimit.String())
	p.untilReady()
	p.all[p.prefix+"ready_seconds"] = time.Since(begun).Seconds()
	p.took("ready_", before, said, 1)
	counters := p.Sim.Counters()
	p.all[p.prefix+"create_requests"] = float64(requestsOf(counters)) / float64(p.count)
	if n := writtenTwice(counters); n != 0 {
		p.T.Errorf("%d PUTs of what was written already, want none: %v", n, counters.Writes)
	}
}

func (p *peers) untilReady() {
	p.T.Helper()
	p.Until(peersLimit, "all are Ready", func() (bool, string) {
		n := p.inPhase(workflows.PhaseReady)
		return n == p.count, fmt.Sprintf("%d Ready", n)
	})
}

// writtenTwice counts the accepted writes beyond the first of each resource.
func writtenTwice(counters armsim.Counters) int {
	more := 0
	for _, n := range counters.Writes {
		more += n - 1
	}
	return more
}

// took keeps the processor time since before, in seconds for each of parts: that
// of all together and that of each.
func (p *peers) took(name string, before spent, said harness.Result, parts int) {
	p.T.Helper()
	since := p.since(before)
	for of, spent := range map[string]time.Duration{
		"": since.worker + since.temporal + said.CPU, "worker_": since.worker, "temporal_": since.temporal, "cli_": said.CPU,
	} {
		p.all[p.prefix+name+of+"cpu_seconds"] = spent.Seconds() / float64(parts)
	}
}

// requestsOf counts all but the HEADs, by which a worker looks whether ARM is
// there, whatever it has to do.
func requestsOf(counters armsim.Counters) int {
	return counters.Total - counters.ByMethod[http.MethodHead]
}

// round lets each resource make a pass in sync.
func (p *peers) round() {
	p.T.Helper()
	p.Sim.Reset()
	before, begun := p.spent(), time.Now()
	said := p.MustCLI("reconcile", "-l", "stack=crowd", "--timeout", peersLimit.String())
	p.Until(peersLimit, "all passed", func() (bool, string) {
		passed, counters := 0, p.Sim.Counters()
		for i := range p.count {
			passed += min(1, counters.ByID[strings.ToLower(p.id(i))][http.MethodGet])
		}
		return passed == p.count && p.slots() == 0, fmt.Sprintf("%d passed, %v slots used", passed, p.slots())
	})
	p.all[p.prefix+"round_seconds"] = time.Since(begun).Seconds()
	p.took("round_", before, said, p.count)
	counters := p.Sim.Counters()
	p.all[p.prefix+"round_requests"] = float64(requestsOf(counters)) / float64(p.count)
	if n := counters.ByMethod[http.MethodPut]; n != 0 {
		p.T.Errorf("a round with nothing changed made %d PUTs", n)
	}
}

// changed counts what putting one change right costs beyond the GET of a pass
// without one.
func (p *peers) changed() {
	p.T.Helper()
	id := p.id(0)
	p.Sim.Patch(id, map[string]any{"properties": map[string]any{"size": "large"}})
	p.Sim.Reset()
	p.MustCLI("reconcile", id, "--wait")
	counters := p.Sim.Counters()
	if n := counters.Writes[strings.ToLower(id)]; n != 1 {
		p.T.Fatalf("the changed resource was written %d times, want once: %v", n, counters.ByID)
	}
	p.all[p.prefix+"changed_requests_more"] = float64(requestsOf(counters) - 1)
}

// printPeers prints our figures beside those of others, which were measured on
// such a machine in November 2026 (reference/peers.md, "Measured peers") and are
// orientation, not limits.
func printPeers(all figures) {
	rows := []struct{ what, ours, aso, tofu string }{
		{"what", "Armature", "ASO v2 (its servers included)", "OpenTofu 1.12.6 + azapi 2.12.0"},
		{"create, requests a resource", all.text("%.2f", "peers.500.create_requests"), "5", "6"},
		{"100 resources to Ready", all.text("%.1f s; %.1f CPU s in all", "peers.100.ready_seconds", "peers.100.ready_cpu_seconds"), "5.4 to 7.1 s", "26 to 36 s"},
		{"500 resources to Ready", all.text("%.1f s; %.1f CPU s in all", "peers.500.ready_seconds", "peers.500.ready_cpu_seconds"), "18.4 to 26 s; 29 to 47 CPU s", "119 s; 35 to 69 CPU s"},
		{"100 resources, 300 ms latency of ARM", all.text("%.1f s", "peers.100.latency_300ms.ready_seconds"), "42 s", "36 s at 100 ms"},
		{"one round with nothing changed, a resource", all.text("%.2f requests; %.3f CPU s", "peers.500.round_requests", "peers.500.round_cpu_seconds"), "5 requests, 1 a PUT; 0.10 CPU s", "1 request"},
		{"one round with nothing changed, 500", all.text("%.1f s", "peers.500.round_seconds"), "-", "28 s"},
		{"the same, 1,000", all.text("%.1f s", "peers.1000.round_seconds"), "-", "47 s"},
		{"one changed behind its back, requests more", all.text("%.0f", "peers.500.changed_requests_more"), "-", "5"},
		{"memory idle, at 500", all.text("%.0f, %.0f MiB", "peers.500.memory_idle_mb", "peers.500.memory_mb"), "600 MiB idle; without servers 245, 275", "-"},
		{"memory after the round", all.text("%.0f MiB", "peers.500.round_memory_mb"), "-", "298 MB"},
		{"the same, 1,000", all.text("%.0f MiB", "peers.1000.round_memory_mb"), "-", "421 MB"},
		{"memory idle, at 500, of the worker alone", all.text("%.0f, %.0f MiB", "peers.500.memory_idle_worker_mb", "peers.500.memory_worker_mb"), "245, 275 MiB", "-"},
		{"20 databases, cluster held 70 s: first PUT after", all.text("%.1f s (last %.1f s)", "peers.held_70s.first_put_seconds", "peers.held_70s.last_put_seconds"), "58 s", "fails"},
		{"the same, held 300 s", all.text("%.1f s (last %.1f s)", "peers.held_300s.first_put_seconds", "peers.held_300s.last_put_seconds"), "137 s", "fails"},
		{"kill -9 during 100 creations: written twice", all.text("%.0f", "peers.killed.written_twice"), "0", "state may lose what was in flight"},
		{"the same at 300 ms", all.text("%.0f", "peers.killed_300ms.written_twice"), "6 to 24", ""},
		{"kill -9 when all are Ready: PUTs after the restart", all.text("%.0f", "peers.killed.restart_puts"), "100", ""},
		{"100 resources at a fifth of ARM's budget", all.text("%.0f s; %.0f answers 429", "peers.throttled.ready_seconds", "peers.throttled.answers_429"), "-", "95 s; 658 answers 429"},
	}
	for _, row := range rows {
		fmt.Printf("%-50s %-28s %-38s %s\n", row.what, row.ours, row.aso, row.tofu)
	}
}

// text writes figures into a sentence; - is one that was not measured.
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
