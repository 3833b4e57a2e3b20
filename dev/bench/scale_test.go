package bench

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/armature-io/armature/armsim"
	"github.com/armature-io/armature/dev/internal/harness"
	"github.com/armature-io/armature/workflows"
)

const (
	// countsVariable replaces the numbers of resources, for example 100,1000.
	countsVariable = "BENCH_COUNTS"
	// scaleFew and scaleMany are compared in turn, scalePairs times, because the speed
	// of a machine varies within minutes. fewRounds is the number of rounds of the few
	// before each part of the many.
	scaleFew, scaleMany, scalePairs, fewRounds = 100, 10_000, 10, 3
	// scaleBody is the size of a body, in bytes of JSON.
	scaleBody = 5000
	// perSubscription is the number of resources that share ARM's budgets.
	perSubscription = 250
	// minPasses is the minimum number of passes for the cost of one.
	minPasses = 1000
	// idleWatch is the time for which all are watched while idle: a worker returns the
	// memory of a busy time after half a minute of idleness.
	idleWatch = time.Minute
)

// requireOnlyPart skips parts that run only when BENCH names them.
func requireOnlyPart(t *testing.T, name string) harness.Binaries {
	t.Helper()
	if os.Getenv(partVariable) != name {
		t.Skipf("a benchmark without a time limit: make bench %s=%s runs it", partVariable, name)
	}
	return requirePart(t, name)
}

// TestScale measures the cost of many resources: created, idle, in a round of passes in
// sync, and after the worker was killed. One worker serves them.
func TestScale(t *testing.T) {
	binaries := requireOnlyPart(t, "scale")
	all := figures{}
	for _, count := range scaleCounts(t) {
		t.Run(fmt.Sprint(count), func(t *testing.T) { measureScale(t, binaries, count, all) })
	}
	all.print(t)
	if !t.Failed() {
		all.merge(t)
	}
}

func scaleCounts(t *testing.T) []int {
	t.Helper()
	text := os.Getenv(countsVariable)
	if text == "" {
		return []int{scaleFew, 1000, scaleMany}
	}
	var counts []int
	for word := range strings.SplitSeq(text, ",") {
		count, err := strconv.Atoi(word)
		if err != nil {
			t.Fatalf("%s: %v", countsVariable, err)
		}
		counts = append(counts, count)
	}
	return counts
}

// scaling is the measurement with one number of resources.
type scaling struct {
	*testbed
	crowd
	// limit bounds each wait.
	limit  time.Duration
	prefix string
	all    figures
}

func newScaling(t *testing.T, binaries harness.Binaries, count int, all figures) *scaling {
	t.Helper()
	s := &scaling{
		crowd: crowd{count: count, subscriptions: max(4, count/perSubscription), kind: thingType + "@2024-01-01", body: fiveKilobytes},
		limit: 5*time.Minute + time.Duration(count)*200*time.Millisecond, prefix: fmt.Sprintf("scale.%d.", count), all: all,
	}
	s.testbed = newTestbed(t, binaries, armsim.Options{MaxRequests: 100})
	s.apply()
	return s
}

func measureScale(t *testing.T, binaries harness.Binaries, count int, all figures) {
	s := newScaling(t, binaries, count, all)
	s.measureIdle()
	s.measureSpread()
	events, bytes := s.histories()
	all[s.prefix+"create.events"], all[s.prefix+"create.history_bytes"] = events, bytes
	times := max(1, minPasses/count)
	if count == scaleMany {
		s.alternate("round.", newScaling(t, binaries, scaleFew, figures{}))
	} else {
		s.rounds("round.", times, perBatch)
	}
	after, _ := s.histories()
	all[s.prefix+"round.events"] = (after - events) / float64(times)
	all[s.prefix+"round.worker_rss_mb"] = s.usage(s.worker.PID()).rss / mega
	s.watchSlots()
	all[s.prefix+"rested.worker_rss_mb"] = s.usage(s.worker.PID()).rss / mega
	begun := time.Now()
	s.killWorker()
	s.rounds("restart.", 1, count)
	all[s.prefix+"restart.seconds"] = time.Since(begun).Seconds()
	all[s.prefix+"restart.worker_rss_mb"] = s.usage(s.worker.PID()).rss / mega
	all.print(t) // the following parts take long
}

// apply creates all resources and waits until all are Ready.
func (s *scaling) apply() {
	s.T.Helper()
	file := s.manifests(s.World)
	s.Sim.Reset()
	before, begun := s.spent(), time.Now()
	result := s.MustCLI("apply", "-f", file, "--timeout", s.limit.String())
	s.all[s.prefix+"apply.seconds"] = time.Since(begun).Seconds()
	s.all[s.prefix+"apply.cli_cpu_seconds"], s.all[s.prefix+"apply.cli_rss_mb"] = result.CPU.Seconds(), s.cli.megabytes()
	s.Until(s.limit, "all are Ready", func() (bool, string) {
		n := s.inPhase(workflows.PhaseReady)
		return n == s.count && s.slots() == 0, fmt.Sprintf("%d Ready", n)
	})
	s.all[s.prefix+"ready_seconds"] = time.Since(begun).Seconds()
	since := s.spentSince(before)
	s.all[s.prefix+"ready.worker_cpu_seconds"], s.all[s.prefix+"ready.temporal_cpu_seconds"] = since.worker.Seconds(), since.temporal.Seconds()
	counters := s.Sim.Counters()
	sums := map[string]int{}
	for _, methods := range counters.ByType {
		for method, n := range methods {
			sums[s.prefix+"ready."+strings.ToLower(method)] += n
		}
	}
	for figure, n := range sums {
		s.all[figure] = float64(n)
	}
}

// measureIdle reads memory and slots while nothing is due but the first of an hour's
// passes.
func (s *scaling) measureIdle() {
	s.T.Helper()
	before := s.spent()
	slots := s.watchSlots()
	since := s.spentSince(before)
	slices.Sort(slots)
	worker, temporal := s.usage(s.worker.PID()), s.usage(s.temporal)
	s.all[s.prefix+"worker_rss_mb"], s.all[s.prefix+"worker_rss_most_mb"] = worker.rss/mega, worker.maxRSS/mega
	s.all[s.prefix+"worker_stacks_mb"] = s.metric("go_memstats_stack_inuse_bytes") / mega
	// The filled part of the heap spans contains live objects and garbage; the rest of
	// the spans is free.
	s.all[s.prefix+"worker_heap_mb"] = s.metric("go_memstats_heap_inuse_bytes") / mega
	s.all[s.prefix+"worker_heap_filled_mb"] = s.metric("go_memstats_heap_alloc_bytes") / mega
	s.all[s.prefix+"temporal_rss_mb"] = temporal.rss / mega
	s.all[s.prefix+"asleep.slots"] = median(slots)
	s.all[s.prefix+"asleep.worker_cpu_part"] = since.worker.Seconds() / idleWatch.Seconds()
	if median(slots) != 0 {
		s.T.Errorf("%v slots are used while all are idle", slots)
	}
}

// watchSlots samples the used slots for a while.
func (s *scaling) watchSlots() []float64 {
	s.T.Helper()
	var slots []float64
	until := time.Now().Add(idleWatch)
	s.untilMetrics(2*idleWatch, "a while of idleness", func() (bool, string) {
		slots = append(slots, s.slots())
		return time.Now().After(until), ""
	})
	return slots
}

// measureSpread computes from the statuses how many of the next passes are in the same
// minute.
func (s *scaling) measureSpread() {
	s.T.Helper()
	begun := time.Now()
	result := s.MustCLI("get", "--all", "-o", "json")
	s.all[s.prefix+"get.seconds"], s.all[s.prefix+"get.cli_rss_mb"] = time.Since(begun).Seconds(), s.cli.megabytes()
	var statuses []struct {
		ID      string    `json:"id"`
		NextTry time.Time `json:"nextTry"`
	}
	if err := json.Unmarshal([]byte(result.Out), &statuses); err != nil {
		s.T.Fatalf("parse the list: %v", err)
	}
	minutes, fullest, passing := map[time.Time]int{}, 0, 0
	for _, status := range statuses {
		if status.NextTry.IsZero() {
			passing++ // its first resync is in progress
			continue
		}
		minute := status.NextTry.Truncate(time.Minute)
		minutes[minute]++
		fullest = max(fullest, minutes[minute])
	}
	if passing > 1+s.count/100 {
		s.T.Errorf("%d of %d have no next try", passing, s.count)
	}
	if len(statuses) != s.count {
		s.T.Errorf("%d statuses, want %d", len(statuses), s.count)
	}
	s.all[s.prefix+"next_fullest_minute"] = float64(fullest)
	s.all[s.prefix+"next_fullest_minute_share"] = float64(fullest) / float64(s.count)
}

// histories returns the mean length and size of a sample of histories.
func (s *scaling) histories() (events, bytes float64) {
	s.T.Helper()
	const samples = 50
	for n := range samples {
		i := n * s.count / samples
		answer, err := s.Client.DescribeWorkflowExecution(s.T.Context(), s.WorkflowID(s.id(i)), "")
		if err != nil {
			s.T.Fatal(err)
		}
		events += float64(answer.GetWorkflowExecutionInfo().GetHistoryLength()) / samples
		bytes += float64(answer.GetWorkflowExecutionInfo().GetHistorySizeBytes()) / samples
	}
	return events, bytes
}

// round is the cost of passes in sync: processor time, requests, and the memory that
// the worker allocated, which unlike times repeats exactly.
type round struct {
	spent
	cli, duration            time.Duration
	passes, requests, allKiB float64
}

func (r *round) add(more round) {
	r.worker, r.temporal, r.cli, r.duration = r.worker+more.worker, r.temporal+more.temporal, r.cli+more.cli, r.duration+more.duration
	r.passes, r.requests, r.allKiB = r.passes+more.passes, r.requests+more.requests, r.allKiB+more.allKiB
}

// perPass returns d per pass, in milliseconds.
func (r *round) perPass(d time.Duration) float64 { return float64(d.Milliseconds()) / r.passes }

// ratioTo returns the processor time of a pass as a multiple of another round's.
func (r *round) ratioTo(base round) (all, worker float64) {
	return r.perPass(r.worker+r.temporal) / base.perPass(base.worker+base.temporal), r.perPass(r.worker) / base.perPass(base.worker)
}

// pass lets the resources from first to last make a pass in sync, perBatch or all of
// them at a time.
func (s *scaling) pass(first, last, together int) round {
	s.T.Helper()
	s.Sim.Reset()
	gets := func() float64 {
		return s.metric("armature_arm_requests_total", `method="GET"`, `type="`+strings.ToLower(thingType)+`"`)
	}
	allocated := func() float64 { return s.metric("go_memstats_alloc_bytes_total") / 1024 }
	var r round
	begun, before, getsBefore, allocatedBefore, requested := time.Now(), s.spent(), gets(), allocated(), 0
	for at := first; at < last; at += together {
		label := "stack=crowd"
		if together < s.count {
			label = fmt.Sprintf("batch=b%d", at/perBatch)
		}
		r.cli += s.reconcile(label).CPU
		requested += min(together, last-at)
		s.untilMetrics(s.limit, "all have passed", func() (bool, string) {
			n := gets() - getsBefore
			return n >= float64(requested) && s.slots() == 0, fmt.Sprintf("%v GETs", n)
		})
	}
	r.spent, r.duration, r.passes, r.allKiB = s.spentSince(before), time.Since(begun), gets()-getsBefore, allocated()-allocatedBefore
	counters := s.Sim.Counters()
	for i := first; i < last; i++ {
		if counters.ByID[strings.ToLower(s.id(i))][http.MethodGet] == 0 {
			s.T.Fatalf("%s had no pass", s.id(i))
		}
	}
	r.requests = float64(requestCount(counters))
	if requestCount(counters) != counters.ByMethod[http.MethodGet] {
		s.T.Errorf("a round in sync made %v requests", counters.ByMethod)
	}
	return r
}

// rounds lets each resource make the given number of passes and stores the cost of one.
func (s *scaling) rounds(name string, times, together int) {
	s.T.Helper()
	var sum round
	for range times {
		sum.add(s.pass(0, s.count, together))
	}
	s.storeRound(name, sum, times)
}

func (s *scaling) storeRound(name string, sum round, times int) {
	s.all[s.prefix+name+"seconds"] = sum.duration.Seconds() / float64(times)
	s.all[s.prefix+name+"passes"] = sum.passes
	s.all[s.prefix+name+"worker_cpu_ms"], s.all[s.prefix+name+"temporal_cpu_ms"] = sum.perPass(sum.worker), sum.perPass(sum.temporal)
	s.all[s.prefix+name+"cli_cpu_ms"] = sum.perPass(sum.cli)
	s.all[s.prefix+name+"worker_taken_kb"] = sum.allKiB / sum.passes
	s.all[s.prefix+name+"requests"] = sum.requests / sum.passes
}

// alternate measures a round over all resources, part by part, with rounds of a few
// resources of another worker and another Temporal before each part. The ratio of the
// costs is the median over the parts.
func (s *scaling) alternate(name string, few *scaling) {
	s.T.Helper()
	var sum, base round
	var ratios, workerRatios []float64
	part := s.count / scalePairs
	for i := range scalePairs {
		var reference round
		for range fewRounds {
			reference.add(few.pass(0, few.count, perBatch))
		}
		many := s.pass(i*part, (i+1)*part, perBatch)
		ratio, workerRatio := many.ratioTo(reference)
		ratios, workerRatios = append(ratios, ratio), append(workerRatios, workerRatio)
		sum.add(many)
		base.add(reference)
	}
	s.storeRound(name, sum, 1)
	s.all["scale.round.few_worker_cpu_ms"], s.all["scale.round.few_temporal_cpu_ms"] = base.perPass(base.worker), base.perPass(base.temporal)
	for kind, values := range map[string][]float64{"cpu_ratio": ratios, "worker_cpu_ratio": workerRatios} {
		slices.Sort(values)
		s.all["scale.round."+kind] = median(values)
		s.all["scale.round."+kind+"_low"], s.all["scale.round."+kind+"_high"] = values[0], values[len(values)-1]
	}
}

// reconcile requests a pass of all resources with a label.
func (s *scaling) reconcile(label string) harness.Result {
	s.T.Helper()
	return s.MustCLI("reconcile", "-l", label, "--timeout", s.limit.String())
}

// fiveKilobytes returns a body of 5 KB of JSON, with repeated names and random values
// that differ by resource.
func fiveKilobytes(i int) string {
	values := rand.New(rand.NewPCG(1, uint64(i))) // #nosec G404 -- no secret
	var entries []string
	for n, size := 0, 0; size < scaleBody-200; n++ {
		entry := fmt.Sprintf(`{"name":"setting-%d","value":"%016x%08x","enabled":%t,"scope":"/environments/production/regions/west-%d"}`,
			n, values.Uint64(), values.Uint32(), values.IntN(2) == 0, values.IntN(9))
		entries = append(entries, entry)
		size += len(entry) + 1
	}
	return fmt.Sprintf(`{"location":"westus2","tags":{"purpose":"bench"},"properties":{"size":"small","settings":[%s]}}`, strings.Join(entries, ","))
}
