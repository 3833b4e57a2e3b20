package e2e

import (
	"encoding/base64"
	"fmt"
	"math/rand"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"go.temporal.io/sdk/client"

	"github.com/armature-io/armature/armsim"
	"github.com/armature-io/armature/dev/internal/harness"
	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/workflows"
)

// outageVariable names the environment variable with the length of the outage of
// TestTemporalAway. The default is longer than the timeouts of a heartbeat and of a
// workflow task.
const outageVariable = "OUTAGE"

// TestTemporalAway takes Temporal away from a worker in every step of a pass, and lets the
// step end meanwhile. When Temporal is back, the resource becomes Ready by itself, and ARM
// has accepted exactly one PUT.
func TestTemporalAway(t *testing.T) {
	t.Parallel()
	outage := 20 * time.Second
	if text := os.Getenv(outageVariable); text != "" {
		var err error
		if outage, err = time.ParseDuration(text); err != nil {
			t.Fatal(err)
		}
	}
	world := harness.New(t, binaries, harness.Options{})
	worker := buildTestWorker(t)
	cases := map[string]func(*testing.T){}
	for name, at := range crashPoints() {
		cases[name] = func(t *testing.T) { newCrashScene(t, world, worker, "away "+name).goAway(at(), outage) }
	}
	sideBySide(t, len(cases), cases) // nearly all of the time they wait
}

// goAway cuts the worker off from Temporal at a point for the time of an outage.
func (s *crashScene) goAway(at crashPoint, outage time.Duration) {
	line := newWire(s.T, s.Temporal.Address())
	line.mend()
	s.workerTemporal = line.address()
	s.catch(at)
	line.cut()
	at.release(s)
	s.T.Logf("Temporal is away for %s", outage)
	<-time.After(outage) // the subject of the test
	line.mend()
	s.applied()
	s.UntilPhase(crashRecovers, s.id(""), workflows.PhaseReady)
	if accepted := s.Sim.Counters().Writes[strings.ToLower(s.id(""))]; accepted != 1 {
		s.T.Errorf("ARM accepted %d PUTs, want exactly 1\n%s", accepted, s.HistoryLines(s.id("")))
	}
}

// TestHangs checks that get, why, doctor, pause and delete work while a step hangs, and
// that the step ends in words.
func TestHangs(t *testing.T) {
	t.Parallel()
	w := harness.New(t, binaries, harness.Options{})
	sideBySide(t, 4, map[string]func(*testing.T){
		"Azure does not answer": func(t *testing.T) { hangSilent(scenarios{w.Branch(t, "hang-silent", harness.Options{})}) },
		"body of 3 MB":          func(t *testing.T) { hangLarge(scenarios{w.Branch(t, "hang-large", harness.Options{})}) },
		"queue of turns":        func(t *testing.T) { hangTurns(newSubnets(t, w, "hang-turns", 1)) },
		"workers die":           func(t *testing.T) { hangStuck(scenarios{w.Branch(t, "hang-stuck", harness.Options{})}) },
	})
}

// gate makes the simulator hold GETs of a resource, and returns the function that waits
// until it holds that many.
func (s scenarios) gate(r thing) func(held int) {
	s.Sim.Call(http.MethodPost, "/faults", armsim.Fault{ID: r.name, Method: http.MethodGet, Path: r.id(), Gate: true}, nil)
	return func(held int) {
		s.Until(60*time.Second, fmt.Sprintf("Azure has %d GETs", held), func() (bool, string) {
			var faults []armsim.Fault
			s.Sim.Call(http.MethodGet, "/faults", nil, &faults)
			for _, fault := range faults {
				if fault.ID == r.name && fault.Matched >= held {
					return true, ""
				}
			}
			return false, fmt.Sprintf("%+v", faults)
		})
	}
}

// deletes deletes a resource and waits until it is gone.
func (s scenarios) deletes(id string) {
	s.T.Helper()
	s.MustCLI("delete", id, "--yes", "--wait", "--timeout", "60s")
	if sent := s.Sim.Count(http.MethodDelete, id); sent != 1 {
		s.T.Errorf("%d DELETEs, want one", sent)
	}
}

// hangSilent holds the GET of a Ready resource.
func hangSilent(s scenarios) {
	s.StartWorker(harness.WorkerOptions{})
	r := s.startIn("hang-silent")
	held := s.gate(r)
	s.MustCLI("reconcile", r.id())
	held(1)
	if page := s.MustCLI("why", r.id()).Out; !strings.Contains(page, "nothing blocks") {
		s.T.Errorf("a GET that is slow is no problem yet:\n%s", page)
	}
	begun := time.Now()
	s.MustCLI("pause", r.id(), "--reason", "incident")
	s.UntilPhase(10*time.Second, r.id(), workflows.PhasePaused)
	s.MustCLI("resume", r.id())
	held(2)
	s.Sim.Call(http.MethodDelete, "/faults/"+r.name, nil, nil)
	s.deletes(r.id())
	s.T.Logf("pause, resume and delete took %s", time.Since(begun).Round(time.Second))
}

// hangLarge lets a Ready resource grow beyond what Temporal stores.
func hangLarge(s scenarios) {
	s.StartWorker(harness.WorkerOptions{})
	r := s.startIn("hang-large")
	noise := make([]byte, 2_300_000)
	rand.New(rand.NewSource(1)).Read(noise)
	s.Sim.Patch(r.id(), map[string]any{"properties": map[string]any{"blob": base64.StdEncoding.EncodeToString(noise)}})
	s.MustCLI("reconcile", r.id())
	status := s.UntilStatus(30*time.Second, r.id(), "has a verdict", func(status workflows.Status) bool { return status.Pass == 2 })
	if status.Condition.Ready || status.Condition.Reason != resource.ReasonObservedTooLarge || !strings.Contains(status.Condition.Message, "MB after compression") {
		s.T.Errorf("condition %+v, want ObservedTooLarge", status.Condition)
	}
	if page := s.MustCLI("why", r.id()).Out; !strings.Contains(page, "ObservedTooLarge") || !strings.Contains(page, "ObservationTrimmer") {
		s.T.Errorf("why does not say what to do:\n%s", page)
	}
	if attempts := s.Sim.Count(http.MethodGet, r.id()); attempts > 4 {
		s.T.Errorf("%d GETs: the read is repeated", attempts)
	}
	s.MustCLI("pause", r.id())
	s.UntilPhase(10*time.Second, r.id(), workflows.PhasePaused)
	s.deletes(r.id())
}

// hangTurns lets the workflow of the turns fail all its tasks. The network takes turns with
// its subnets.
func hangTurns(s subnets) {
	s.StartWorker(harness.WorkerOptions{})
	parent, err := resource.ParseID(s.network)
	if err != nil {
		s.T.Fatal(err)
	}
	stuck, err := s.Client.ExecuteWorkflow(s.T.Context(), client.StartWorkflowOptions{
		ID: workflows.SiblingsWorkflowID(parent), TaskQueue: "subnets-hang-turns",
	}, "NoSuchWorkflow")
	if err != nil {
		s.T.Fatal(err)
	}
	begun := time.Now()
	s.MustCLI("apply", "-f", s.folder)
	status := s.UntilStatus(60*time.Second, s.network, "has a verdict about the queue", func(status workflows.Status) bool {
		return status.Condition.Reason == resource.ReasonCheckFailed
	})
	if !strings.Contains(status.Condition.Message, "the queue for changes in net does not answer") || status.NextTry.IsZero() {
		s.T.Errorf("condition %+v, next try %s", status.Condition, status.NextTry)
	}
	s.T.Logf("the verdict came after %s", time.Since(begun).Round(time.Second))
	s.MustCLI("pause", s.network)
	s.UntilPhase(10*time.Second, s.network, workflows.PhasePaused)
	if err := s.Client.TerminateWorkflow(s.T.Context(), stuck.GetID(), "", "the end of the test"); err != nil {
		s.T.Fatal(err)
	}
	s.MustCLI("resume", s.network)
	s.UntilPhase(60*time.Second, s.ids[0], workflows.PhaseReady)
}

// hangStuck kills each worker that reads a Ready resource.
func hangStuck(s scenarios) {
	worker := s.StartWorker(harness.WorkerOptions{})
	r := s.startIn("hang-stuck")
	s.MustCLI("pause", r.id())
	s.UntilPhase(10*time.Second, r.id(), workflows.PhasePaused)
	held := s.gate(r)
	s.MustCLI("resume", r.id()) // the read of a resource that was not Ready is an activity
	for attempt := 1; attempt <= 2; attempt++ {
		held(attempt)
		worker.Kill()
		worker = s.StartWorker(harness.WorkerOptions{})
	}
	held(3)
	const step = "its step GetResource keeps failing (attempt 3): the worker that ran it stopped responding"
	s.Until(30*time.Second, "get shows a stuck step", func() (bool, string) {
		out := s.MustCLI("get").Out
		return strings.Contains(out, "Stuck"), out
	})
	for _, command := range [][]string{{"get", r.id(), "-o", "wide"}, {"why", r.id()}, {"describe", r.id()}, {"doctor"}} {
		if result := s.CLI(command...); !strings.Contains(result.Out, step) {
			s.T.Errorf("it does not name the step: %s", result)
		}
	}
	s.MustCLI("pause", r.id())
	s.UntilPhase(10*time.Second, r.id(), workflows.PhasePaused)
	s.Sim.Call(http.MethodDelete, "/faults/"+r.name, nil, nil)
	s.deletes(r.id())
}

// startIn starts a thing in a group of its own, which has its name.
func (s scenarios) startIn(name string) thing {
	s.T.Helper()
	r := thing{group: name, name: name, interval: "1h"}
	s.putGroup(name)
	s.apply(r, "small")
	s.UntilPhase(20*time.Second, r.id(), workflows.PhaseReady)
	return r
}
