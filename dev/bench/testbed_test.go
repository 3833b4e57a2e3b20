package bench

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"go.temporal.io/api/workflowservice/v1"

	"github.com/armature-io/armature/armsim"
	"github.com/armature-io/armature/dev/internal/harness"
	"github.com/armature-io/armature/dev/temporaldev"
	"github.com/armature-io/armature/workflows"
)

// temporalVariable names the folder of the Temporal server that this program runs
// instead of a benchmark.
const temporalVariable = "BENCH_TEMPORAL_FOLDER"

// TestTemporalServer is not a test: benchmarks start this program again as the Temporal
// server, so that its processor time and memory are measured separately. It ends at the
// end of its standard input.
func TestTemporalServer(t *testing.T) {
	folder := os.Getenv(temporalVariable)
	if folder == "" {
		t.Skip("the Temporal server of a benchmark; the benchmark starts it")
	}
	server, err := temporaldev.Start(t.Context(), folder, temporaldev.Options{SearchAttributes: workflows.SearchAttributes()})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(folder, "part"), []byte(server.Address()), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(filepath.Join(folder, "part"), filepath.Join(folder, "address")); err != nil {
		t.Fatal(err)
	}
	_, _ = io.Copy(io.Discard, os.Stdin) // the end of the input stops the server
	if err := server.Stop(); err != nil {
		t.Fatal(err)
	}
}

// testbed is a world with the Temporal server in its own process, and one worker.
type testbed struct {
	*harness.World
	temporal int // process ID
	worker   *harness.Worker
	cli      memoryWatch
}

func newTestbed(t *testing.T, binaries harness.Binaries, simulator armsim.Options) *testbed {
	t.Helper()
	return newDistantTestbed(t, binaries, simulator, 0)
}

// newDistantTestbed returns a testbed with a network between Temporal and its clients.
func newDistantTestbed(t *testing.T, binaries harness.Binaries, simulator armsim.Options, roundTrip time.Duration) *testbed {
	t.Helper()
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	folder := t.TempDir()
	command := exec.Command(program, "-test.run=^TestTemporalServer$", "-test.timeout=0")
	command.Env = append(os.Environ(), temporalVariable+"="+folder)
	command.Stderr = os.Stderr
	stdin, err := command.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = stdin.Close() // stops the server
		_ = command.Wait()
	})
	address, deadline := "", time.Now().Add(2*time.Minute)
	for ticker := time.NewTicker(100 * time.Millisecond); address == ""; <-ticker.C {
		content, err := os.ReadFile(filepath.Join(folder, "address"))
		if address = string(content); err != nil && time.Now().After(deadline) {
			t.Fatalf("the Temporal server did not start; see %s", folder)
		}
	}
	s := &testbed{World: harness.New(t, binaries, harness.Options{Temporal: address, Simulator: simulator, RoundTrip: roundTrip}), temporal: command.Process.Pid}
	s.Started = s.cli.start
	s.worker = s.StartWorker(harness.WorkerOptions{})
	return s
}

// usage returns the use of a process.
func (s *testbed) usage(pid int) usage { return processUsage(s.T, pid) }

func processUsage(t testing.TB, pid int) usage {
	t.Helper()
	u, err := usageOf(pid)
	if err != nil {
		t.Fatal(err)
	}
	return u
}

// spent is the processor time of the worker and of the Temporal server.
type spent struct{ worker, temporal time.Duration }

func (s *testbed) spent() spent {
	s.T.Helper()
	return spent{s.usage(s.worker.PID()).cpu, s.usage(s.temporal).cpu}
}

// spentSince returns the processor time since an earlier reading.
func (s *testbed) spentSince(before spent) spent {
	s.T.Helper()
	now := s.spent()
	return spent{now.worker - before.worker, now.temporal - before.temporal}
}

// metric returns the sum of the series of a worker metric with labels that contain all
// the texts.
func (s *testbed) metric(name string, labels ...string) float64 {
	s.T.Helper()
	code, text := s.worker.Get("/metrics")
	if code != http.StatusOK {
		s.T.Fatalf("/metrics returned %d: %s", code, text)
	}
	sum := 0.0
lines:
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		space := max(0, strings.LastIndex(line, " "))
		series, value := line[:space], strings.TrimSpace(line[space:])
		if series != name && !strings.HasPrefix(series, name+"{") {
			continue
		}
		for _, label := range labels {
			if !strings.Contains(series, label) {
				continue lines
			}
		}
		n, err := strconv.ParseFloat(value, 64)
		if err != nil {
			s.T.Fatalf("read metric %s: %v", line, err)
		}
		sum += n
	}
	return sum
}

// metricsInterval is the minimum time between two requests for the worker's metrics,
// which cost processor time.
const metricsInterval = time.Second

// untilMetrics is Until for a condition that requests the worker's metrics.
func (s *testbed) untilMetrics(timeout time.Duration, name string, condition func() (done bool, answer string)) {
	s.T.Helper()
	next := time.Now()
	s.Until(timeout, name, func() (bool, string) {
		if time.Now().Before(next) {
			return false, "not read yet"
		}
		next = time.Now().Add(metricsInterval)
		return condition()
	})
}

// slots returns the number of slots in use by tasks of the worker.
func (s *testbed) slots() float64 {
	s.T.Helper()
	return s.metric("temporal_worker_task_slots_used")
}

// inPhase returns the number of resources in a phase, from visibility.
func (s *testbed) inPhase(phase workflows.Phase) int { return inPhase(s.World, phase) }

// inPhase returns the number of resources of a world in a phase, -1 if it is unknown.
func inPhase(w *harness.World, phase workflows.Phase) int {
	w.T.Helper()
	answer, err := w.Client.CountWorkflow(w.T.Context(), &workflowservice.CountWorkflowExecutionsRequest{
		Namespace: temporaldev.Namespace,
		Query:     fmt.Sprintf("ExecutionStatus = 'Running' AND ReconcilePhase = '%s'", phase),
	})
	if err != nil {
		return -1 // a busy server; the next poll repeats it
	}
	return int(answer.GetCount())
}

// thingType is a type without specific rules in the simulator.
const thingType = "Microsoft.Example/things"

// crowd is a number of resources in several subscriptions, because ARM's budgets are
// per subscription.
type crowd struct {
	count, subscriptions int
	// kind is the type with the api-version.
	kind string
	body func(i int) string
	// extraLines are further lines of each manifest.
	extraLines string
}

func (c crowd) group(i int) string {
	return fmt.Sprintf("/subscriptions/11111111-2222-3333-4444-%012d/resourceGroups/crowd", i%c.subscriptions)
}

func (c crowd) id(i int) string {
	kind, _, _ := strings.Cut(c.kind, "@")
	return fmt.Sprintf("%s/providers/%s/t%d", c.group(i), kind, i)
}

// perFile is the number of manifests in one file.
const perFile = 250

// perBatch is the number of resources with the same label "batch", so that this many
// can pass at a time, whatever the total.
const perBatch = 100

// groups creates the resource groups.
func (c crowd) groups(w *harness.World) {
	w.T.Helper()
	for i := range min(c.count, c.subscriptions) {
		w.Sim.Call(http.MethodPut, "/resources", map[string]any{"id": c.group(i), "body": map[string]any{"location": "westus2"}}, nil)
	}
}

// manifest returns the manifest of one resource.
func (c crowd) manifest(i int) string {
	return fmt.Sprintf("type: %s\nname: t%d\nowner: %s\nlabels: {stack: crowd, batch: b%d}\n%sbody: %s\n",
		c.kind, i, c.group(i), i/perBatch, c.extraLines, c.body(i))
}

// manifests creates the groups, and a folder of files with the manifests.
func (c crowd) manifests(w *harness.World) string {
	w.T.Helper()
	c.groups(w)
	var documents []string
	for i := range c.count {
		documents = append(documents, c.manifest(i))
		if len(documents) == perFile || i == c.count-1 {
			w.Write(fmt.Sprintf("crowd/%06d.yaml", i), join(documents))
			documents = nil
		}
	}
	return "crowd"
}
