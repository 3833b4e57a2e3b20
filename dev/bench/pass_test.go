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
	// passCount is how many resources, and bare workflows, pass at one time, in
	// ten subscriptions: few enough that no
	// workflow task waits as long as a sticky one may (5 s).
	passCount, passSubscriptions = 50, 10
	// passBody is the size of a resource's body, in bytes.
	passBody = 5000
	// passRounds is how often both sides are measured.
	passRounds = 5
	// passWindow is how long a side is measured in a round.
	passWindow = 3 * time.Second
	// passInterval is the timer between passes while a side is measured: always
	// due, so that each workflow passes as fast as it can.
	passInterval = 10 * time.Millisecond
	// passSleeps is the interval while the other side is measured.
	passSleeps = 24 * time.Hour
	// bareQueue is the bare workflow's task queue.
	bareQueue = "bare"
	// reconcileCalls are those of which p50 and p99 are.
	reconcileCalls = 200
)

// TestPass measures passes in sync against a bare Temporal workflow with the same
// commands: a local activity, an activity that makes one GET to the same
// simulator, two local activities and a timer, in package bareworker. Nothing of
// the bare side costs more than the SDK: no codec, no metrics, no summaries, no
// logs, no results.
//
// Both sides run by their timers alone. An update of the interval (an apply with
// Armature) lets 50 workflows of one side pass without end while those of the
// other sleep for a day; once each passed twice, the GETs that reach the
// simulator within a window are counted, which are the passes, and the processor
// time of the worker is taken. Each side has a worker process of its own; the
// Temporal server and the simulator, in the process of the test, share the
// machine with it. A round measures one side right after the other, and the next
// round in the other order; a ratio is the median of those of the rounds.
func TestPass(t *testing.T) {
	binaries := part(t, "pass")
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
	sameEvents(w, armature.workflows, bare.workflows)
	slices.Sort(ratios)
	slices.Sort(cpuRatios)
	all["pass.ratio"], all["pass.ratio_low"], all["pass.ratio_high"] = middle(ratios), ratios[0], ratios[len(ratios)-1]
	all["pass.cpu_ratio"], all["pass.cpu_ratio_low"], all["pass.cpu_ratio_high"] = middle(cpuRatios), cpuRatios[0], cpuRatios[len(cpuRatios)-1]
	all["pass.per_second"], all["pass.cpu_seconds"] = armature.middle()
	all["pass.bare_per_second"], all["pass.bare_cpu_seconds"] = bare.middle()
	all.print(t)
	if !t.Failed() {
		all.merge(t)
	}
}

// rate is what a window measured: passes a second, and seconds of processor time
// of the worker a pass.
type rate struct{ perSecond, cpu float64 }

// side is one of the two that are measured.
type side struct {
	worker    *harness.Worker
	workflows []string
	// set sets the interval of all of its workflows.
	set   func(time.Duration)
	rates []rate
}

func (s *side) middle() (perSecond, cpu float64) {
	var rates, cpus []float64
	for _, r := range s.rates {
		rates, cpus = append(rates, r.perSecond), append(cpus, r.cpu)
	}
	slices.Sort(rates)
	slices.Sort(cpus)
	return middle(rates), middle(cpus)
}

// measure measures one window, and lets the side sleep again.
func (s *side) measure(w *harness.World) rate {
	w.T.Helper()
	w.Sim.Reset()
	s.set(passInterval)
	w.Until(time.Minute, "every workflow passes", func() (bool, string) {
		n := passesSeen(w)
		return n >= 2*passCount, fmt.Sprintf("%d passes", n)
	})
	begun, before, cpu := time.Now(), passesSeen(w), s.worker.CPU()
	until := begun.Add(passWindow)
	w.Until(2*passWindow, "the window is over", func() (bool, string) { return time.Now().After(until), "" })
	passes, took := float64(passesSeen(w)-before), time.Since(begun)
	spent := s.worker.CPU() - cpu
	s.set(passSleeps)
	last := -1
	w.Until(time.Minute, "everybody sleeps", func() (bool, string) {
		n := passesSeen(w)
		quiet := n == last
		last = n
		return quiet, fmt.Sprintf("%d passes", n)
	})
	for _, r := range w.Sim.Requests("?type=Microsoft.Example/things") {
		if r.Method != http.MethodGet || r.Status != http.StatusOK {
			w.T.Fatalf("%s %s was answered %d, want a GET and 200 in every pass", r.Method, r.ID, r.Status)
		}
	}
	return rate{perSecond: passes / took.Seconds(), cpu: spent.Seconds() / passes}
}

// passesSeen counts the GETs of resources.
func passesSeen(w *harness.World) int {
	w.T.Helper()
	return w.Sim.Counters().ByType["microsoft.example/things"][http.MethodGet]
}

func passGroup(i int) string {
	return fmt.Sprintf("/subscriptions/11111111-2222-3333-4444-5555555555%02d/resourceGroups/pass", i%passSubscriptions)
}

func passID(i int) string {
	return fmt.Sprintf("%s/providers/Microsoft.Example/things/t%d", passGroup(i), i)
}

// startPasses makes the resources and waits until they are Ready and nobody is
// being told of them any more.
func startPasses(w *harness.World) *side {
	w.T.Helper()
	s := &side{worker: w.StartWorker(harness.WorkerOptions{})}
	var documents []string
	for i := range passCount {
		if i < passSubscriptions {
			w.Sim.Call(http.MethodPut, "/resources", map[string]any{"id": passGroup(i), "body": map[string]any{"location": "westus2"}}, nil)
		}
		documents = append(documents, manifest("Microsoft.Example/things@2024-01-01", fmt.Sprintf("t%d", i), passGroup(i), string(costs.Body(passBody))))
		s.workflows = append(s.workflows, w.WorkflowID(passID(i)))
	}
	file := w.Write("pass.yaml", join(documents))
	send(w, "apply", "-f", file)
	for i := range passCount {
		w.UntilPhase(time.Minute, passID(i), workflows.PhaseReady)
	}
	for i := range passCount {
		w.UntilWoken(passID(i))
	}
	s.set = func(interval time.Duration) { w.SetInterval(file, interval) }
	return s
}

// startBare starts as many bare workflows, which read the same resources.
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
	s.set(passSleeps)
	return s
}

// sameEvents holds that a pass of both sides is the same events.
func sameEvents(w *harness.World, sides ...[]string) {
	w.T.Helper()
	var first string
	for _, ids := range sides {
		events := passEvents(w, ids)
		if first = cmp.Or(first, events); events != first || events == "" {
			w.T.Errorf("a pass of %s is the events\n%s\nwant those of the other side:\n%s", ids[0], events, first)
		}
	}
}

// passEvents are the events of a pass of one of some workflows: a run that just
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
