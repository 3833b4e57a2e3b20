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
	// scaleFew and scaleMany are compared. The few are measured before and after,
	// because a machine does not stay as quick as it is for half an hour.
	scaleFew, scaleMany = 100, 10_000
	// scaleBody is the size of a body, in bytes of JSON.
	scaleBody = 5000
	// perSubscription is how many resources share ARM's budgets.
	perSubscription = 250
	// passesLeast is how many passes a cost of one is taken from.
	passesLeast = 1000
	// restWatched is how long all are watched asleep.
	restWatched = 20 * time.Second
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
	var few []cost
	for _, count := range scaleCounts(t) {
		t.Run(fmt.Sprint(count), func(t *testing.T) { measureScale(t, binaries, count, all) })
		if count == scaleFew {
			few = append(few, all.ofPass(count))
		}
	}
	if many := all.ofPass(scaleMany); many.worker > 0 && len(few) > 0 {
		base := mean(few)
		all["scale.round.worker_cpu_ratio"] = many.worker / base.worker
		all["scale.round.cpu_ratio"] = (many.worker + many.temporal) / (base.worker + base.temporal)
	}
	all.print(t)
	if !t.Failed() {
		all.merge(t)
	}
}

// cost is the processor time of one pass, in milliseconds.
type cost struct{ worker, temporal float64 }

func (f figures) ofPass(count int) cost {
	prefix := fmt.Sprintf("scale.%d.round.", count)
	return cost{worker: f[prefix+"worker_cpu_ms"], temporal: f[prefix+"temporal_cpu_ms"]}
}

func mean(costs []cost) cost {
	var all cost
	for _, c := range costs {
		all.worker += c.worker / float64(len(costs))
		all.temporal += c.temporal / float64(len(costs))
	}
	return all
}

func scaleCounts(t *testing.T) []int {
	t.Helper()
	text := os.Getenv(countsVariable)
	if text == "" {
		return []int{scaleFew, 1000, scaleMany, scaleFew}
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

func measureScale(t *testing.T, binaries harness.Binaries, count int, all figures) {
	s := &scaling{
		crowd: crowd{count: count, subscriptions: max(4, count/perSubscription), kind: thingType + "@2024-01-01", body: fiveKilobytes},
		limit: 5*time.Minute + time.Duration(count)*200*time.Millisecond, prefix: fmt.Sprintf("scale.%d.", count), all: all,
	}
	s.stand = newStand(t, binaries, armsim.Options{MaxRequests: 100})
	s.apply()
	s.asleep()
	s.spread()
	events, bytes := s.histories()
	all[s.prefix+"create.events"], all[s.prefix+"create.history_bytes"] = events, bytes
	times := max(1, passesLeast/count)
	s.rounds("round.", times, perBatch)
	after, _ := s.histories()
	all[s.prefix+"round.events"] = (after - events) / float64(times)
	all[s.prefix+"round.worker_rss_mb"] = s.use(s.worker.PID()).rss / mega
	s.worker.Kill()
	begun := time.Now()
	s.worker = s.StartWorker(harness.WorkerOptions{})
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
	var slots []float64
	until, before := time.Now().Add(restWatched), s.spent()
	s.untilSeen(2*restWatched, "a while of sleep", func() (bool, string) {
		slots = append(slots, s.slots())
		return time.Now().After(until), ""
	})
	since := s.since(before)
	slices.Sort(slots)
	worker, temporal := s.use(s.worker.PID()), s.use(s.temporal)
	s.all[s.prefix+"worker_rss_mb"], s.all[s.prefix+"worker_rss_most_mb"] = worker.rss/mega, worker.mostRSS/mega
	s.all[s.prefix+"worker_stacks_mb"] = s.metric("go_memstats_stack_inuse_bytes") / mega
	s.all[s.prefix+"temporal_rss_mb"] = temporal.rss / mega
	s.all[s.prefix+"asleep.slots"] = middle(slots)
	s.all[s.prefix+"asleep.worker_cpu_part"] = since.worker.Seconds() / restWatched.Seconds()
	if middle(slots) != 0 {
		s.T.Errorf("%v slots are held while all sleep", slots)
	}
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

// rounds lets each resource make a pass in sync, so often and so many at a time, and
// takes the cost of one. At a time go perBatch or all.
func (s *scaling) rounds(name string, times, together int) {
	s.T.Helper()
	s.Sim.Reset()
	gets := func() float64 {
		return s.metric("armature_arm_requests_total", `method="GET"`, `type="`+strings.ToLower(thingType)+`"`)
	}
	begun, before, had, cli, asked := time.Now(), s.spent(), gets(), time.Duration(0), 0
	for range times {
		for first := 0; first < s.count; first += together {
			label := "stack=crowd"
			if together < s.count {
				label = fmt.Sprintf("batch=b%d", first/perBatch)
			}
			cli += s.reconcile(label).CPU
			asked += min(together, s.count-first)
			s.untilSeen(s.limit, "all passed", func() (bool, string) {
				n := gets() - had
				return n >= float64(asked) && s.slots() == 0, fmt.Sprintf("%v GETs", n)
			})
		}
	}
	since, passes := s.since(before), gets()-had
	perPass := func(d time.Duration) float64 { return float64(d.Milliseconds()) / passes }
	counters := s.Sim.Counters()
	for i := range s.count {
		if counters.ByID[strings.ToLower(s.id(i))][http.MethodGet] == 0 {
			s.T.Fatalf("%s made no pass", s.id(i))
		}
	}
	s.all[s.prefix+name+"seconds"] = time.Since(begun).Seconds() / float64(times)
	s.all[s.prefix+name+"passes"] = passes
	s.all[s.prefix+name+"worker_cpu_ms"], s.all[s.prefix+name+"temporal_cpu_ms"] = perPass(since.worker), perPass(since.temporal)
	s.all[s.prefix+name+"cli_cpu_ms"] = perPass(cli)
	// The worker looks by HEAD whether ARM is there, with and without passes.
	s.all[s.prefix+name+"requests"] = float64(counters.Total-counters.ByMethod[http.MethodHead]) / passes
	if counters.Total != counters.ByMethod[http.MethodGet]+counters.ByMethod[http.MethodHead] {
		s.T.Errorf("a round in sync made %v", counters.ByMethod)
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
