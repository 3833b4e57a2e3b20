package bench

import (
	"cmp"
	"fmt"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"go.temporal.io/sdk/client"

	"github.com/armature-io/armature/armsim"
	"github.com/armature-io/armature/dev/internal/costs"
	"github.com/armature-io/armature/dev/internal/harness"
	"github.com/armature-io/armature/dev/internal/histories"
	"github.com/armature-io/armature/workflows"
)

const (
	// passCount is the number of resources, and of bare workflows, that pass
	// concurrently, in ten subscriptions: few enough that no workflow task reaches the
	// sticky timeout (5 s).
	passCount, passSubscriptions = 50, 10
	// passBody is the size of a resource's body, in bytes.
	passBody = 5000
	// passRounds is the number of rounds in which both sides are measured.
	passRounds = 5
	// passWindow is the time for which a side is measured in a round.
	passWindow = 3 * time.Second
	// passInterval is the timer between passes while a side is measured: always due, so
	// that each workflow passes as fast as it can.
	passInterval = 10 * time.Millisecond
	// idleInterval is the timer while the other side is measured.
	idleInterval = 24 * time.Hour
	// bareQueue is the bare workflow's task queue.
	bareQueue = "bare"
	// reconcileCalls is the number of calls for p50 and p99.
	reconcileCalls = 200
)

// TestPass compares passes in sync with a bare Temporal workflow that has the same
// commands: a local activity, an activity with one GET to the same simulator, two local
// activities and a timer, in package bareworker. The bare side has nothing beyond the
// SDK: no codec, metrics, summaries, logs or results.
//
// Both sides run by their timers alone. An update of the interval (an apply with
// Armature) makes the 50 workflows of one side pass continuously while the workflows of
// the other side are idle for a day. Once each has passed twice, the test counts the
// GETs that reach the simulator within a window (one per pass) and takes the processor
// time of the worker. Each side has its own worker process; the Temporal server and the
// simulator run in the process of the test, on the same machine. A round measures one
// side right after the other, and the next round in the opposite order; a ratio is the
// median over the rounds.
func TestPass(t *testing.T) {
	binaries := requirePart(t, "pass")
	w := harness.New(t, binaries, harness.Options{Simulator: armsim.Options{MaxRequests: 1000}})
	armature, bare := startPasses(w), startBare(w)
	all := figures{}
	measureReconcile(w, all)
	var ratios, cpuRatios []float64
	for round := range passRounds {
		sides := []*side{bare, armature}
		if round%2 == 1 {
			slices.Reverse(sides)
		}
		for _, s := range sides {
			s.rates = append(s.rates, s.measure(w))
		}
		a, b := armature.rates[round], bare.rates[round]
		t.Logf("round %d: bare %+v, armature %+v", round, b, a)
		ratios, cpuRatios = append(ratios, a.perSecond/b.perSecond), append(cpuRatios, a.cpu/b.cpu)
	}
	checkEqualEvents(w, armature.workflows, bare.workflows)
	slices.Sort(ratios)
	slices.Sort(cpuRatios)
	all["pass.ratio"], all["pass.ratio_low"], all["pass.ratio_high"] = median(ratios), ratios[0], ratios[len(ratios)-1]
	all["pass.cpu_ratio"], all["pass.cpu_ratio_low"], all["pass.cpu_ratio_high"] = median(cpuRatios), cpuRatios[0], cpuRatios[len(cpuRatios)-1]
	all["pass.per_second"], all["pass.cpu_seconds"] = armature.medians()
	all["pass.bare_per_second"], all["pass.bare_cpu_seconds"] = bare.medians()
	all.print(t)
	if !t.Failed() {
		all.merge(t)
	}
}

// rate is the result of a window: passes per second, and the worker's processor time in
// seconds per pass.
type rate struct{ perSecond, cpu float64 }

// side is one of the two sides of the comparison.
type side struct {
	worker    *harness.Worker
	workflows []string
	// set sets the interval of all its workflows.
	set   func(time.Duration)
	rates []rate
}

func (s *side) medians() (perSecond, cpu float64) {
	var rates, cpus []float64
	for _, r := range s.rates {
		rates, cpus = append(rates, r.perSecond), append(cpus, r.cpu)
	}
	slices.Sort(rates)
	slices.Sort(cpus)
	return median(rates), median(cpus)
}

// measure measures one window and makes the side idle again.
func (s *side) measure(w *harness.World) rate {
	w.T.Helper()
	w.Sim.Reset()
	s.set(passInterval)
	w.Until(time.Minute, "every workflow passes", func() (bool, string) {
		n := countPasses(w)
		return n >= 2*passCount, fmt.Sprintf("%d passes", n)
	})
	begun, before, cpu := time.Now(), countPasses(w), processUsage(w.T, s.worker.PID()).cpu
	until := begun.Add(passWindow)
	w.Until(2*passWindow, "the window is over", func() (bool, string) { return time.Now().After(until), "" })
	passes, took := float64(countPasses(w)-before), time.Since(begun)
	spent := processUsage(w.T, s.worker.PID()).cpu - cpu
	s.set(idleInterval)
	last := -1
	w.Until(time.Minute, "all workflows are idle", func() (bool, string) {
		n := countPasses(w)
		idle := n == last
		last = n
		return idle, fmt.Sprintf("%d passes", n)
	})
	for _, r := range w.Sim.Requests("?type=Microsoft.Example/things") {
		if r.Method != http.MethodGet || r.Status != http.StatusOK {
			w.T.Fatalf("%s %s returned %d, want a GET with 200 in every pass", r.Method, r.ID, r.Status)
		}
	}
	return rate{perSecond: passes / took.Seconds(), cpu: spent.Seconds() / passes}
}

// countPasses returns the number of GETs of resources.
func countPasses(w *harness.World) int {
	w.T.Helper()
	return w.Sim.Counters().ByType["microsoft.example/things"][http.MethodGet]
}

func passGroup(i int) string {
	return fmt.Sprintf("/subscriptions/11111111-2222-3333-4444-5555555555%02d/resourceGroups/pass", i%passSubscriptions)
}

func passID(i int) string {
	return fmt.Sprintf("%s/providers/Microsoft.Example/things/t%d", passGroup(i), i)
}

func startPasses(w *harness.World) *side {
	w.T.Helper()
	return startPassesOf(w, passGroup, nil)
}

// startPassesOf creates the resources in groups and waits until they are Ready and all
// dependents are notified. env is added to the environment of the worker.
func startPassesOf(w *harness.World, group func(i int) string, env []string) *side {
	w.T.Helper()
	s := &side{worker: w.StartWorker(harness.WorkerOptions{Env: env})}
	id := func(i int) string { return fmt.Sprintf("%s/providers/Microsoft.Example/things/t%d", group(i), i) }
	var documents []string
	for i := range passCount {
		if i < passSubscriptions {
			w.Sim.Call(http.MethodPut, "/resources", map[string]any{"id": group(i), "body": map[string]any{"location": "westus2"}}, nil)
		}
		documents = append(documents, manifest("Microsoft.Example/things@2024-01-01", fmt.Sprintf("t%d", i), group(i), string(costs.Body(passBody))))
		s.workflows = append(s.workflows, w.WorkflowID(id(i)))
	}
	file := w.Write("pass.yaml", join(documents))
	send(w, "apply", "-f", file)
	for i := range passCount {
		w.UntilPhase(time.Minute, id(i), workflows.PhaseReady)
	}
	for i := range passCount {
		w.UntilWoken(id(i))
	}
	s.set = func(interval time.Duration) { w.SetInterval(file, interval) }
	return s
}

// startBare starts the bare workflows, which read the same resources.
func startBare(w *harness.World) *side {
	w.T.Helper()
	root, err := harness.Root(w.T.Context())
	if err != nil {
		w.T.Fatal(err)
	}
	binary := filepath.Join(w.Folder, "bareworker")
	if err := harness.BuildProgram(w.T.Context(), filepath.Join(root, "dev"), "./internal/bareworker", binary); err != nil {
		w.T.Fatal(err)
	}
	s := &side{worker: w.StartWorker(harness.WorkerOptions{Binary: binary, Env: []string{"ARMATURE_TASK_QUEUE=" + bareQueue}})}
	for i := range passCount {
		id := fmt.Sprintf("bare-%d", i)
		if _, err := w.Client.ExecuteWorkflow(w.T.Context(), client.StartWorkflowOptions{ID: id, TaskQueue: bareQueue}, "Bare", passID(i)+"?api-version=2024-01-01"); err != nil {
			w.T.Fatal(err)
		}
		s.workflows = append(s.workflows, id)
	}
	s.set = func(interval time.Duration) {
		w.Update(s.workflows, "interval", func(int) any { return interval })
	}
	s.set(idleInterval)
	return s
}

// checkEqualEvents checks that a pass has the same events on both sides.
func checkEqualEvents(w *harness.World, sides ...[]string) {
	w.T.Helper()
	var first string
	for _, ids := range sides {
		events := passEvents(w, ids)
		if first = cmp.Or(first, events); events != first || events == "" {
			w.T.Errorf("a pass of %s has the events\n%s\nwant the same as the other side:\n%s", ids[0], events, first)
		}
	}
}

// passEvents returns the events of one pass of one of the workflows; a run that just
// continued as new has none yet.
func passEvents(w *harness.World, ids []string) string {
	w.T.Helper()
	for _, id := range ids {
		history, err := histories.Fetch(w.T.Context(), w.Client, id, "")
		if err != nil {
			w.T.Fatal(err)
		}
		var types []string
		for _, event := range histories.Pass(history) {
			types = append(types, event.GetEventType().String())
		}
		if len(types) > 0 {
			return strings.Join(types, " ")
		}
	}
	return ""
}
