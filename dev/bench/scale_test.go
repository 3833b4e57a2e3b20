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
	// countsVariable replaces the numbers of resources, as 100,1000.
	countsVariable = "BENCH_COUNTS"
	// scaleFew and scaleMany are compared in turn, scalePairs times: a machine does
	// not stay as quick as it is for minutes. fewRounds are those of the few before
	// each part of the many.
	scaleFew, scaleMany, scalePairs, fewRounds = 100, 10_000, 10, 3
	// scaleBody is the size of a body, in bytes of JSON.
	scaleBody = 5000
	// perSubscription is how many resources share ARM's budgets.
	perSubscription = 250
	// passesLeast is how many passes a cost of one is taken from.
	passesLeast = 1000
	// restWatched is how long all are watched asleep: a worker gives back what a
	// busy time took when half a minute was calm.
	restWatched = time.Minute
)

// apart skips what runs only when BENCH names it.
func apart(t *testing.T, name string) harness.Binaries {
	t.Helper()
	if os.Getenv(partVariable) != name {
		t.Skipf("a benchmark without a bound of time: make bench %s=%s runs it", partVariable, name)
	}
	return part(t, name)
}

// TestScale measures what many resources cost: created, asleep, through one round
// of passes in sync, and after the worker was killed. One worker serves them.
func TestScale(t *testing.T) {
	binaries := apart(t, "scale")
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

// scaling is one number of resources under measurement.
type scaling struct {
	*stand
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
	s.stand = newStand(t, binaries, armsim.Options{MaxRequests: 100})
	s.apply()
	return s
}

func measureScale(t *testing.T, binaries harness.Binaries, count int, all figures) {
	s := newScaling(t, binaries, count, all)
	s.asleep()
	s.spread()
	events, bytes := s.histories()
	all[s.prefix+"create.events"], all[s.prefix+"create.history_bytes"] = events, bytes
	times := max(1, passesLeast/count)
	if count == scaleMany {
		s.inTurn("round.", newScaling(t, binaries, scaleFew, figures{}))
	} else {
		s.rounds("round.", times, perBatch)
	}
	after, _ := s.histories()
	all[s.prefix+"round.events"] = (after - events) / float64(times)
	all[s.prefix+"round.worker_rss_mb"] = s.use(s.worker.PID()).rss / mega
	s.rest()
	all[s.prefix+"rested.worker_rss_mb"] = s.use(s.worker.PID()).rss / mega
	begun := time.Now()
	s.killWorker()
	s.rounds("restart.", 1, count)
	all[s.prefix+"restart.seconds"] = time.Since(begun).Seconds()
	all[s.prefix+"restart.worker_rss_mb"] = s.use(s.worker.PID()).rss / mega
	all.print(t) // what follows takes long
}

// apply creates all and waits until all are Ready.
func (s *scaling) apply() {
	s.T.Helper()
	file := s.manifests(s.World)
	s.Sim.Reset()
	before, begun := s.spent(), time.Now()
	said := s.MustCLI("apply", "-f", file, "--timeout", s.limit.String())
	s.all[s.prefix+"apply.seconds"] = time.Since(begun).Seconds()
	s.all[s.prefix+"apply.cli_cpu_seconds"], s.all[s.prefix+"apply.cli_rss_mb"] = said.CPU.Seconds(), s.cli.megabytes()
	s.Until(s.limit, "all are Ready", func() (bool, string) {
		n := s.inPhase(workflows.PhaseReady)
		return n == s.count && s.slots() == 0, fmt.Sprintf("%d Ready", n)
	})
	s.all[s.prefix+"ready_seconds"] = time.Since(begun).Seconds()
	since := s.since(before)
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

// asleep reads memory and slots while nothing is due but the first of an hour's
// passes.
func (s *scaling) asleep() {
	s.T.Helper()
	before := s.spent()
	slots := s.rest()
	since := s.since(before)
	slices.Sort(slots)
	worker, temporal := s.use(s.worker.PID()), s.use(s.temporal)
	s.all[s.prefix+"worker_rss_mb"], s.all[s.prefix+"worker_rss_most_mb"] = worker.rss/mega, worker.mostRSS/mega
	s.all[s.prefix+"worker_stacks_mb"] = s.metric("go_memstats_stack_inuse_bytes") / mega
	// In spans of the heap, what lives and garbage with it; the rest of them are
	// holes.
	s.all[s.prefix+"worker_heap_mb"] = s.metric("go_memstats_heap_inuse_bytes") / mega
	s.all[s.prefix+"worker_heap_filled_mb"] = s.metric("go_memstats_heap_alloc_bytes") / mega
	s.all[s.prefix+"temporal_rss_mb"] = temporal.rss / mega
	s.all[s.prefix+"asleep.slots"] = middle(slots)
	s.all[s.prefix+"asleep.worker_cpu_part"] = since.worker.Seconds() / restWatched.Seconds()
	if middle(slots) != 0 {
		s.T.Errorf("%v slots are held while all sleep", slots)
	}
}

// rest watches the slots that are held for a while.
func (s *scaling) rest() []float64 {
	s.T.Helper()
	var slots []float64
	until := time.Now().Add(restWatched)
	s.untilSeen(2*restWatched, "a while of sleep", func() (bool, string) {
		slots = append(slots, s.slots())
		return time.Now().After(until), ""
	})
	return slots
}

// spread tells from the statuses how many of the next passes fall into one
// minute.
func (s *scaling) spread() {
	s.T.Helper()
	begun := time.Now()
	said := s.MustCLI("get", "--all", "-o", "json")
	s.all[s.prefix+"get.seconds"], s.all[s.prefix+"get.cli_rss_mb"] = time.Since(begun).Seconds(), s.cli.megabytes()
	var statuses []struct {
		ID      string    `json:"id"`
		NextTry time.Time `json:"nextTry"`
	}
	if err := json.Unmarshal([]byte(said.Out), &statuses); err != nil {
		s.T.Fatalf("read the list: %v", err)
	}
	minutes, fullest, passing := map[time.Time]int{}, 0, 0
	for _, status := range statuses {
		if status.NextTry.IsZero() {
			passing++ // its first resync has begun
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

// histories are the mean length and size of some resources' histories.
func (s *scaling) histories() (events, bytes float64) {
	s.T.Helper()
	const looked = 50
	for n := range looked {
		i := n * s.count / looked
		answer, err := s.Client.DescribeWorkflowExecution(s.T.Context(), s.WorkflowID(s.id(i)), "")
		if err != nil {
			s.T.Fatal(err)
		}
		events += float64(answer.GetWorkflowExecutionInfo().GetHistoryLength()) / looked
		bytes += float64(answer.GetWorkflowExecutionInfo().GetHistorySizeBytes()) / looked
	}
	return events, bytes
}

// round is what passes in sync took: processor time, requests, and memory ever
// allocated by the worker, which is a count and repeats, unlike times.
type round struct {
	spent
	cli, lasted              time.Duration
	passes, requests, allKiB float64
}

func (r *round) add(more round) {
	r.worker, r.temporal, r.cli, r.lasted = r.worker+more.worker, r.temporal+more.temporal, r.cli+more.cli, r.lasted+more.lasted
	r.passes, r.requests, r.allKiB = r.passes+more.passes, r.requests+more.requests, r.allKiB+more.allKiB
}

// each is d a pass, in milliseconds.
func (r *round) each(d time.Duration) float64 { return float64(d.Milliseconds()) / r.passes }

// over is what the processor time of a pass is over that of another round.
func (r *round) over(base round) (all, worker float64) {
	return r.each(r.worker+r.temporal) / base.each(base.worker+base.temporal), r.each(r.worker) / base.each(base.worker)
}

// pass lets the resources from first to last make a pass in sync, so many at a
// time: perBatch or all.
func (s *scaling) pass(first, last, together int) round {
	s.T.Helper()
	s.Sim.Reset()
	gets := func() float64 {
		return s.metric("armature_arm_requests_total", `method="GET"`, `type="`+strings.ToLower(thingType)+`"`)
	}
	allocated := func() float64 { return s.metric("go_memstats_alloc_bytes_total") / 1024 }
	var r round
	begun, before, had, took, asked := time.Now(), s.spent(), gets(), allocated(), 0
	for at := first; at < last; at += together {
		label := "stack=crowd"
		if together < s.count {
			label = fmt.Sprintf("batch=b%d", at/perBatch)
		}
		r.cli += s.reconcile(label).CPU
		asked += min(together, last-at)
		s.untilSeen(s.limit, "all passed", func() (bool, string) {
			n := gets() - had
			return n >= float64(asked) && s.slots() == 0, fmt.Sprintf("%v GETs", n)
		})
	}
	r.spent, r.lasted, r.passes, r.allKiB = s.since(before), time.Since(begun), gets()-had, allocated()-took
	counters := s.Sim.Counters()
	for i := first; i < last; i++ {
		if counters.ByID[strings.ToLower(s.id(i))][http.MethodGet] == 0 {
			s.T.Fatalf("%s made no pass", s.id(i))
		}
	}
	r.requests = float64(requestsOf(counters))
	if requestsOf(counters) != counters.ByMethod[http.MethodGet] {
		s.T.Errorf("a round in sync made %v", counters.ByMethod)
	}
	return r
}

// rounds lets each resource make a pass, so often and so many at a time, and keeps
// what one took.
func (s *scaling) rounds(name string, times, together int) {
	s.T.Helper()
	var sum round
	for range times {
		sum.add(s.pass(0, s.count, together))
	}
	s.keep(name, sum, times)
}

func (s *scaling) keep(name string, sum round, times int) {
	s.all[s.prefix+name+"seconds"] = sum.lasted.Seconds() / float64(times)
	s.all[s.prefix+name+"passes"] = sum.passes
	s.all[s.prefix+name+"worker_cpu_ms"], s.all[s.prefix+name+"temporal_cpu_ms"] = sum.each(sum.worker), sum.each(sum.temporal)
	s.all[s.prefix+name+"cli_cpu_ms"] = sum.each(sum.cli)
	s.all[s.prefix+name+"worker_taken_kb"] = sum.allKiB / sum.passes
	s.all[s.prefix+name+"requests"] = sum.requests / sum.passes
}

// inTurn is a round over all, part by part, with rounds of a few resources of
// another worker and another Temporal before each part. What the cost of a pass is
// over theirs is the median over the parts.
func (s *scaling) inTurn(name string, few *scaling) {
	s.T.Helper()
	var sum, base round
	var ratios, workerRatios []float64
	part := s.count / scalePairs
	for i := range scalePairs {
		var reference round
		for range fewRounds {
			reference.add(few.pass(0, few.count, perBatch))
		}
		mine := s.pass(i*part, (i+1)*part, perBatch)
		ratio, workerRatio := mine.over(reference)
		ratios, workerRatios = append(ratios, ratio), append(workerRatios, workerRatio)
		sum.add(mine)
		base.add(reference)
	}
	s.keep(name, sum, 1)
	s.all["scale.round.few_worker_cpu_ms"], s.all["scale.round.few_temporal_cpu_ms"] = base.each(base.worker), base.each(base.temporal)
	for kind, of := range map[string][]float64{"cpu_ratio": ratios, "worker_cpu_ratio": workerRatios} {
		slices.Sort(of)
		s.all["scale.round."+kind] = middle(of)
		s.all["scale.round."+kind+"_low"], s.all["scale.round."+kind+"_high"] = of[0], of[len(of)-1]
	}
}

// reconcile asks all with a label for a pass; on a busy machine some go unanswered
// in time.
func (s *scaling) reconcile(label string) harness.Result {
	s.T.Helper()
	return s.MustCLI("reconcile", "-l", label, "--timeout", s.limit.String())
}

// fiveKilobytes is a body of 5 KB of JSON: names that repeat and values that do
// not, others for each resource.
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
