package e2e

import (
	"fmt"
	"maps"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/armature-io/armature/dev/internal/harness"
	"github.com/armature-io/armature/workflows"
)

const (
	// crashSideBySide is the number of parallel scenarios. Most of the time they wait
	// for Temporal to detect a lost worker (30 s without heartbeat, 10 s for a
	// workflow task), which needs no CPU.
	crashSideBySide = 14
	// crashRecovers bounds the time from the loss of a worker to Ready.
	crashRecovers = 90 * time.Second
	// crashReaches bounds the time in which a worker reaches a point.
	crashReaches = 45 * time.Second
)

// TestCrash kills and stops workers at every point of a pass. In each case the resource
// becomes Ready, and ARM accepts exactly one PUT. With -short, a worker is killed at a quarter
// of the points and stopped at another; CRASH_SEED=1 to 3 runs the other quarters.
func TestCrash(t *testing.T) {
	t.Parallel()
	world := harness.New(t, binaries, harness.Options{})
	worker := buildTestWorker(t)
	cases := map[string]func(*testing.T){}
	add := func(name string, run func(*crashScene)) {
		cases[name] = func(t *testing.T) { run(newCrashScene(t, world, worker, name)) }
	}
	points, seed := crashPoints(), number(t, "CRASH_SEED", 0)
	t.Logf("CRASH_SEED=%d", seed)
	for i, name := range slices.Sorted(maps.Keys(points)) {
		at, quarter := points[name], (i+seed)%4
		if quarter == 0 || !testing.Short() {
			add("kill "+name, func(s *crashScene) { s.kill(at()) })
		}
		if quarter == 2 || !testing.Short() {
			add("stop "+name, func(s *crashScene) { s.stop(at()) })
		}
	}
	for name, run := range crashCases() {
		add(name, run)
	}
	cases["temporal restarts"] = testTemporalRestarts
	sideBySide(t, crashSideBySide, cases)
}

// places bounds the subtests that run side by side, for all tests together.
var places = make(chan struct{}, crashSideBySide)

// sideBySide runs subtests in parallel, at most limit at a time. t.Parallel would run
// one per processor, which is too few for tests that mostly wait.
func sideBySide(t *testing.T, limit int, cases map[string]func(*testing.T)) {
	slots := make(chan struct{}, limit)
	var running sync.WaitGroup
	for name, run := range cases {
		running.Go(func() {
			slots <- struct{}{}
			defer func() { <-slots }()
			places <- struct{}{}
			defer func() { <-places }()
			t.Run(name, run)
		})
	}
	running.Wait()
}

func buildTestWorker(t *testing.T) string {
	t.Helper()
	root, err := harness.Root(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	output := filepath.Join(t.TempDir(), "testworker")
	if err := harness.BuildProgram(t.Context(), filepath.Join(root, "dev"), "./internal/testworker", output); err != nil {
		t.Fatal(err)
	}
	return output
}

// crashScene is one resource, in a group that exists, with a simulator and a
// task queue of its own.
type crashScene struct {
	*harness.World
	testWorker string
	name       string
	// workerTemporal is the address at which workers reach Temporal, "" for its own.
	workerTemporal string
	// applying is the apply that catch sent.
	applying *harness.Sending
}

func newCrashScene(t *testing.T, world *harness.World, testWorker, name string) *crashScene {
	name = strings.NewReplacer(" ", "-", ",", "").Replace(name)
	s := &crashScene{World: world.Branch(t, name, harness.Options{}), testWorker: testWorker, name: name}
	s.putCrashGroup()
	return s
}

func (s *crashScene) group() string {
	return "/subscriptions/11111111-2222-3333-4444-555555555555/resourceGroups/" + s.name
}

// id returns the ID of the resource, or of a further one of the scene.
func (s *crashScene) id(further string) string {
	return s.group() + "/providers/Microsoft.Example/things/thing" + further
}

func (s *crashScene) putCrashGroup() {
	s.T.Helper()
	s.Sim.Call(http.MethodPut, "/resources", map[string]any{"id": s.group(), "body": map[string]any{"location": "westus2"}}, nil)
}

// manifests writes the manifest of the resource, or of further ones.
func (s *crashScene) manifests(further ...string) string {
	s.T.Helper()
	if len(further) == 0 {
		further = []string{""}
	}
	var documents []string
	for _, more := range further {
		documents = append(documents, fmt.Sprintf(`type: Microsoft.Example/things@2021-01-01
name: thing%s
owner: %s
body: {location: westus2, properties: {size: 1}}
reconcile: {interval: 24h}
`, more, s.group()))
	}
	return s.Write("manifests.yaml", strings.Join(documents, "---\n"))
}

// apply sends the manifest of the resource, or of further ones.
func (s *crashScene) apply(further ...string) {
	s.T.Helper()
	s.MustCLI("apply", "-f", s.manifests(further...))
}

// kill kills the worker at a point as kill -9 does, and lets the product's worker
// continue.
func (s *crashScene) kill(at crashPoint) {
	s.catch(at).Kill()
	s.tooLate(at)
	s.StartWorker(harness.WorkerOptions{})
	at.release(s)
	s.applied()
	s.onePut(at.requests(), "")
	s.onePass("")
}

// stop stops the worker at a point as an orchestrator does. The request it waits for
// ends while it stops; an operation continues beyond that.
func (s *crashScene) stop(at crashPoint) {
	worker := s.catch(at)
	worker.Terminate()
	s.Until(crashReaches, "worker stops", func() (bool, string) {
		return strings.Contains(worker.Log(), `"worker stops"`) || !worker.Running(), worker.Log()
	})
	if !at.outlivesWorker() {
		at.release(s)
	}
	s.exits(worker)
	s.tooLate(at)
	s.StartWorker(harness.WorkerOptions{})
	if at.outlivesWorker() {
		at.release(s)
	}
	s.applied()
	s.onePut(1, "")
	s.onePass("")
}

// catch starts a worker, applies, and returns when the worker is at the point.
func (s *crashScene) catch(at crashPoint) *harness.Worker {
	s.T.Helper()
	options := harness.WorkerOptions{}
	if options.Env = at.set(s); options.Env != nil {
		options.Binary = s.testWorker
	}
	if s.workerTemporal != "" {
		options.Env = append(options.Env, "TEMPORAL_ADDRESS="+s.workerTemporal)
	}
	worker := s.StartWorker(options)
	s.applying = s.Send("apply", "-f", s.manifests())
	s.Until(crashReaches, "worker is at the point", func() (bool, string) { return at.reached(s), worker.Log() })
	s.applying.Last()
	return worker
}

// applied waits for the result of the apply of catch, once. A worker that was lost in
// step 1 never sent it: then the apply is repeated, as its message asks.
func (s *crashScene) applied() {
	s.T.Helper()
	if result := s.applying.Result(); result.Code != 0 {
		s.T.Logf("apply is repeated after %s", result)
		// Pollers back off: after a long outage the first repetition may come too early.
		s.Until(crashRecovers, "a worker accepts the apply", func() (bool, string) {
			result := s.CLI("apply", "-f", s.manifests())
			return result.Code == 0, result.String()
		})
	}
}

// tooLate fails a test whose worker had passed the point before it was ended: such a
// test proves nothing.
func (s *crashScene) tooLate(at crashPoint) {
	s.T.Helper()
	if at.left(s) {
		s.T.Fatal("the worker had passed the step before it was ended: the machine is too slow for this test")
	}
}

// exits checks for exit code 0 within the 30 s that running activities may take.
func (s *crashScene) exits(worker *harness.Worker) {
	s.T.Helper()
	if code := worker.WaitExit(30 * time.Second); code != 0 {
		s.T.Errorf("the worker ended with exit code %d, want 0", code)
	}
}

// onePut waits for Ready, and checks that ARM accepted one PUT and got sent PUTs.
func (s *crashScene) onePut(sent int, further string) {
	s.T.Helper()
	id := s.id(further)
	status := s.UntilPhase(crashRecovers, id, workflows.PhaseReady)
	if !status.Condition.Ready || status.Operation != "" {
		s.T.Errorf("phase Ready with condition %+v, operation %q", status.Condition, status.Operation)
	}
	counters := s.Sim.Counters()
	if accepted := counters.Writes[strings.ToLower(id)]; accepted != 1 {
		s.T.Errorf("ARM accepted %d PUTs, want exactly 1\n%s", accepted, s.HistoryLines(id))
	}
	if got := counters.ByID[strings.ToLower(id)][http.MethodPut]; got != sent {
		s.T.Errorf("%d PUTs were sent, want %d\n%s", got, sent, s.HistoryLines(id))
	}
}

// onePass checks that the interrupted pass continued: a lost worker is no verdict.
func (s *crashScene) onePass(further string) {
	s.T.Helper()
	status, err := s.Status(s.id(further))
	if err != nil {
		s.T.Fatal(err)
	}
	if status.Pass != 1 {
		s.T.Errorf("Ready after %d passes, want one pass that continued\n%s", status.Pass, s.HistoryLines(s.id(further)))
	}
}
