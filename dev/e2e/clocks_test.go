package e2e

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/armature-io/armature/armsim"
	"github.com/armature-io/armature/dev/internal/harness"
	"github.com/armature-io/armature/dev/internal/testworker/gate"
)

// TestClocksOfWorkers creates six resources with two workers whose clocks are four hours
// apart. The response to each PUT is lost and ARM's reads lag a minute behind, so that the
// workers take turns with the attempts and compare the times of one another.
//
//guard:clocks
func TestClocksOfWorkers(t *testing.T) {
	t.Parallel()
	const lag, resources = time.Minute, 6
	w := harness.New(t, binaries, harness.Options{Simulator: armsim.Options{TimeScale: 1, ReadAfterWrite: lag}})
	s := scenarios{w}
	s.putGroup("clocks")
	binary := buildTestWorker(t)
	var workers []*harness.Worker
	for _, ahead := range []string{"2h", "-2h"} {
		workers = append(workers, w.StartWorker(harness.WorkerOptions{
			Binary: binary, Env: []string{gate.ClockVariable + "=" + ahead, "ARMATURE_REREAD_WINDOW=" + lag.String()},
		}))
	}
	s.Sim.Call(http.MethodPost, "/faults", armsim.Fault{Method: http.MethodPut, Type: "Microsoft.Example/things", Reset: true, Applied: true, Count: resources}, nil)
	var manifests strings.Builder
	for i := range resources {
		fmt.Fprintf(&manifests, "%slabels: {stack: clocks}\n---\n", thing{group: "clocks", name: fmt.Sprintf("clock%d", i), interval: "1h"}.manifest("small"))
	}
	w.MustCLI("apply", "-f", w.Write("clocks.yaml", strings.TrimSuffix(manifests.String(), "---\n")))
	w.MustCLI("wait", "-l", "stack=clocks", "--for", "ready", "--timeout", "3m")
	for i := range resources {
		r := thing{group: "clocks", name: fmt.Sprintf("clock%d", i)}
		if puts := s.Sim.Count(http.MethodPut, r.id()); puts != 1 {
			t.Errorf("%d PUTs of %s, want one:\n%s", puts, r.name, s.HistoryLines(r.id()))
		}
	}
	for i, part := range []string{"2h ahead of the Temporal server", "2h behind the Temporal server"} {
		if code, body := workers[i].Get("/readyz"); code != http.StatusServiceUnavailable || !strings.Contains(body, "ClockSkew: ") || !strings.Contains(body, part[3:]) {
			t.Errorf("/readyz returns %d %s, want %q", code, body, part)
		}
		if _, body := workers[i].Get("/metrics"); !strings.Contains(body, "\narmature_clock_ahead_seconds ") {
			t.Error("the metric of the clock is missing")
		}
	}
	if doctor := w.CLI("doctor"); doctor.Code != 1 || !strings.Contains(doctor.Out, "that of the Temporal server; the worker is not ready") {
		t.Errorf("doctor does not report the clock: %s", doctor)
	}
}
