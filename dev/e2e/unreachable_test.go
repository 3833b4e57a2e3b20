package e2e

import (
	"fmt"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/armature-io/armature/armsim"
	"github.com/armature-io/armature/dev/internal/harness"
	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/workflows"
)

// TestUnreachable checks the CLI and the worker while Temporal or ARM is unreachable,
// and that the worker continues afterwards without a restart.
func TestUnreachable(t *testing.T) {
	t.Parallel()
	w := harness.New(t, binaries, harness.Options{})
	sideBySide(t, 4, map[string]func(*testing.T){
		"CLI":                 func(t *testing.T) { testUnreachableCLI(w.On(t)) },
		"Temporal":            func(t *testing.T) { testUnreachableTemporal(w.Branch(t, "temporal-away", harness.Options{})) },
		"ARM":                 func(t *testing.T) { testUnreachableARM(w.Branch(t, "arm-away", harness.Options{})) },
		"CA that comes later": func(t *testing.T) { testUntrustedARM(w.Branch(t, "arm-untrusted", harness.Options{TLS: true})) },
	})
}

func testUnreachableCLI(w *harness.World) {
	manifest := w.Write("group.yaml", groupIn)
	silent, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		w.T.Fatal(err)
	}
	defer func() { _ = silent.Close() }()
	const mend = "start it or set TEMPORAL_ADDRESS (and TEMPORAL_NAMESPACE, TEMPORAL_API_KEY or TEMPORAL_TLS_* if required)"
	for address, tc := range map[string]struct {
		why      string
		commands [][]string
	}{
		"127.0.0.1:1": {
			why:      "connection refused",
			commands: [][]string{{"apply", "-f", manifest}, {"get"}, {"describe", "first"}, {"delete", "--yes", "first"}, {"wait", "first"}, {"setup"}},
		},
		silent.Addr().String(): {why: "no response within 8s", commands: [][]string{{"apply", "-f", manifest}}},
	} {
		for _, command := range tc.commands {
			begun := time.Now()
			result := w.CLIWith("", []string{"TEMPORAL_ADDRESS=" + address}, command...)
			if want := "reach Temporal at " + address + ": " + tc.why + "; " + mend; result.Code != 3 || !strings.Contains(result.Err, want) {
				w.T.Errorf("want exit code 3 and %q of %s", want, result)
			}
			if took := time.Since(begun); took > 12*time.Second {
				w.T.Errorf("it took %s, want about 10 s at most: %s", took, result)
			}
		}
	}
	result := w.CLIWith("", []string{"TEMPORAL_NAMESPACE=elsewhere"}, "apply", "-f", manifest)
	if result.Code != 2 || !strings.Contains(result.Err, "find namespace elsewhere: it does not exist on this server") {
		w.T.Errorf("want exit code 2 and the namespace of %s", result)
	}
}

// loudLines returns the warnings and errors of a JSON log.
func loudLines(log string) []string {
	var loud []string
	for line := range strings.Lines(log) {
		if strings.Contains(line, `"level":"WARN"`) || strings.Contains(line, `"level":"ERROR"`) {
			loud = append(loud, line)
		}
	}
	return loud
}

// untilAway waits until the worker returns 503 with the reason, and until the wire has
// closed tries more connections: enough for a repeated log line to show.
func untilAway(w *harness.World, worker *harness.Worker, line *wire, reason string, tries int) {
	w.T.Helper()
	before := line.dialed()
	w.Until(30*time.Second, "/readyz returns "+reason, func() (bool, string) {
		if !worker.Running() {
			w.T.Fatalf("the worker ended\n%s", worker.Log())
		}
		code, body := worker.Get("/readyz")
		return code == http.StatusServiceUnavailable && strings.Contains(body, reason), fmt.Sprint(code, body)
	})
	w.Until(40*time.Second, fmt.Sprintf("%d more tries", tries), func() (bool, string) {
		return line.dialed() >= before+tries, fmt.Sprint(line.dialed() - before)
	})
	if code, body := worker.Get("/healthz"); code != http.StatusOK {
		w.T.Errorf("/healthz returns %d %s, want 200", code, body)
	}
}

func testUnreachableTemporal(w *harness.World) {
	line := newWire(w.T, w.Temporal.Address())
	worker := w.StartWorker(harness.WorkerOptions{Env: []string{"TEMPORAL_ADDRESS=" + line.address()}, NotReady: true})
	for outage := 1; outage <= 2; outage++ {
		// gRPC backs off: six dials take 16 s, in which the worker checks at least
		// twice.
		untilAway(w, worker, line, `"temporal":"TemporalUnreachable"`, 9-3*outage)
		if loud := loudLines(worker.Log()); len(loud) != outage || !strings.Contains(loud[outage-1], `"cannot reach server, retrying","server":"temporal"`) {
			w.T.Errorf("%d warnings, want one for each outage:\n%s", len(loud), strings.Join(loud, ""))
		}
		line.mend()
		worker.WaitReady()
		if lines := strings.Count(worker.Log(), `"reached server","server":"temporal"`); lines != outage {
			w.T.Errorf("%d log lines that Temporal is reachable, want %d", lines, outage)
		}
		if outage == 1 {
			line.cut()
		}
	}
	scenarios{w}.putGroup("temporal-away")
	r := thing{group: "temporal-away", name: "temporal-away", interval: "0"}
	scenarios{w}.apply(r, "small")
	w.UntilPhase(20*time.Second, r.id(), workflows.PhaseReady)
}

func testUnreachableARM(w *harness.World) {
	s := scenarios{w}
	line := newWireToURL(w.T, w.Sim.URL())
	worker := w.StartWorker(harness.WorkerOptions{Env: []string{"ARMATURE_AZURE_ENDPOINT=http://" + line.address()}, NotReady: true})
	untilAway(w, worker, line, `"arm":"ArmUnreachable"`, 4)
	r := thing{group: "arm-away", name: "arm-away", interval: "0"}
	s.putGroup(r.group)
	s.apply(r, "small")
	status := w.UntilStatus(30*time.Second, r.id(), "was tried twice", func(status workflows.Status) bool { return status.Pass >= 2 })
	if status.Condition.Ready || status.Condition.Reason != resource.ReasonArmUnreachable || status.NextTry.IsZero() {
		w.T.Errorf("condition %+v, next try %v; want ArmUnreachable, tried again", status.Condition, status.NextTry)
	}
	if page := w.MustCLI("describe", r.id()).Out; !strings.Contains(page, "False  Warning  ArmUnreachable") {
		w.T.Errorf("describe does not show that ARM is unreachable:\n%s", page)
	}
	if lines := strings.Count(worker.Log(), `"cannot reach server, retrying","server":"arm"`); lines != 1 {
		w.T.Errorf("%d log lines that ARM is unreachable, want one:\n%s", lines, worker.Log())
	}
	line.mend()
	worker.WaitReady()
	w.UntilPhase(30*time.Second, r.id(), workflows.PhaseReady)
	if puts := w.Sim.Count(http.MethodPut, r.id()); puts != 1 {
		w.T.Errorf("%d PUTs, want one", puts)
	}
}

// testUntrustedARM starts the worker while ARM is unreachable, so that the wrong CA
// shows only later, in the reason.
func testUntrustedARM(w *harness.World) {
	otherCA := filepath.Join(w.T.TempDir(), "other.pem")
	other, err := armsim.New(armsim.Options{}).Listen(armsim.ListenOptions{TLS: true, CAFile: otherCA})
	if err != nil {
		w.T.Fatal(err)
	}
	defer func() { _ = other.Close() }()
	s := scenarios{w}
	line := newWireToURL(w.T, w.Sim.URL())
	arm := "https://" + line.address()
	worker := w.StartWorker(harness.WorkerOptions{NotReady: true, Env: []string{
		"ARMATURE_AZURE_ENDPOINT=" + arm, "ARMATURE_AZURE_AUTHORITY_HOST=" + arm, "ARMATURE_AZURE_CA_FILE=" + otherCA,
	}})
	untilAway(w, worker, line, `"arm":"ArmUnreachable"`, 1)
	line.mend()
	r := thing{group: "arm-untrusted", name: "arm-untrusted", interval: "0"}
	s.putGroup(r.group)
	s.apply(r, "small")
	w.UntilStatus(30*time.Second, r.id(), "names the certificate", func(status workflows.Status) bool {
		return status.Condition.Reason == resource.ReasonArmUnreachable && strings.Contains(status.Condition.Message, "certificate signed by unknown authority")
	})
	if code, body := worker.Get("/readyz"); code != http.StatusServiceUnavailable {
		w.T.Errorf("/readyz returns %d %s, want 503", code, body)
	}
	worker.Kill()
	w.StartWorker(harness.WorkerOptions{})
	w.UntilPhase(30*time.Second, r.id(), workflows.PhaseReady)
	if puts := w.Sim.Count(http.MethodPut, r.id()); puts != 1 {
		w.T.Errorf("%d PUTs, want one", puts)
	}
}
