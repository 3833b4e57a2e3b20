package e2e

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/armature-io/armature/armsim"
	"github.com/armature-io/armature/dev/internal/harness"
	"github.com/armature-io/armature/workflows"
)

// crashCases returns the scenarios that are not a point in a pass.
func crashCases() map[string]func(*crashScene) {
	return map[string]func(*crashScene){
		"response lost, worker lives":       (*crashScene).responseLost,
		"update accepted, response lost":    func(s *crashScene) { s.killUpdate(acceptedPut(crashOperation(armsim.ShapeBoth))) },
		"update not accepted yet":           func(s *crashScene) { s.killUpdate(&atRequest{fault: armsim.Fault{Method: http.MethodPut}, sent: 2}) },
		"reads lag behind the PUT":          (*crashScene).killLagging,
		"killed twice in one step":          (*crashScene).killTwice,
		"hidden creation, response lost":    (*crashScene).killHidden,
		"delete accepted, response lost":    (*crashScene).killDelete,
		"stop with a request that hangs":    (*crashScene).stopHanging,
		"two workers, one killed":           (*crashScene).twoWorkers,
		"reset to before the PUT":           (*crashScene).resetReady,
		"reset, then the resource fails":    (*crashScene).resetThenFailed,
		"reset during the operation":        (*crashScene).resetOperating,
		"terminate during the operation":    (*crashScene).terminateOperating,
		"terminate while a PUT is answered": (*crashScene).terminatePutting,
	}
}

// responseLost cuts the connection after ARM accepted the PUT.
func (s *crashScene) responseLost() {
	s.Sim.Call(http.MethodPost, "/faults", armsim.Fault{Method: http.MethodPut, Path: s.id(""), Applied: true, Reset: true, Count: 1}, nil)
	s.StartWorker(harness.WorkerOptions{})
	s.apply()
	s.onePut(1, "")
}

// killUpdate kills the worker while it corrects a change that another tool made.
func (s *crashScene) killUpdate(at crashPoint) {
	worker := s.StartWorker(harness.WorkerOptions{})
	s.apply()
	s.onePut(1, "")
	s.Sim.Patch(s.id(""), map[string]any{"properties": map[string]any{"size": 2}})
	s.Sim.Reset()
	at.set(s)
	s.MustCLI("reconcile", s.id(""))
	s.Until(crashReaches, "worker is at the point", func() (bool, string) { return at.reached(s), worker.Log() })
	worker.Kill()
	s.StartWorker(harness.WorkerOptions{})
	s.UntilStatus(crashRecovers, s.id(""), "ended its second pass", func(status workflows.Status) bool { return status.Pass == 2 })
	s.onePut(at.requests(), "")
}

// killTwice kills the next worker too, during the read with which it decides whether
// to repeat the PUT.
func (s *crashScene) killTwice() {
	put := acceptedPut(armsim.OperationSpec{Shape: armsim.ShapeSync})
	s.catch(put).Kill()
	read := &atRequest{fault: armsim.Fault{Method: http.MethodGet}}
	read.set(s)
	second := s.StartWorker(harness.WorkerOptions{})
	s.Until(crashReaches, "second worker reads", func() (bool, string) { return read.reached(s), second.Log() })
	second.Kill()
	s.StartWorker(harness.WorkerOptions{})
	s.applied()
	s.onePut(1, "")
	s.onePass("")
}

// killLagging loses the response to a PUT that the next read does not show yet. One
// such read is no evidence.
func (s *crashScene) killLagging() {
	lag := armsim.Fault{Method: http.MethodGet, Path: s.id(""), After: 1, Count: 1, Status: http.StatusNotFound, Code: "ResourceNotFound"}
	s.Sim.Call(http.MethodPost, "/faults", lag, nil)
	s.kill(acceptedPut(armsim.OperationSpec{Shape: armsim.ShapeSync}))
}

// killHidden loses the response to a creation that reads do not show until it is
// complete. Only here may another PUT be sent; ARM refuses it with 409.
func (s *crashScene) killHidden() {
	spec := crashOperation(armsim.ShapeBoth)
	spec.HiddenUntilDone = true
	s.Sim.Call(http.MethodPost, "/holds", armsim.Hold{}, nil)
	s.catch(acceptedPut(spec)).Kill()
	s.StartWorker(harness.WorkerOptions{})
	s.applied()
	s.Until(crashRecovers, "PUT is sent again", func() (bool, string) {
		return s.Sim.Count(http.MethodPut, s.id("")) > 1, s.HistoryLines(s.id(""))
	})
	s.Sim.Call(http.MethodDelete, "/holds", nil, nil)
	s.onePut(s.Sim.Count(http.MethodPut, s.id("")), "")
}

// killDelete loses the response to a DELETE.
func (s *crashScene) killDelete() {
	worker := s.StartWorker(harness.WorkerOptions{})
	s.apply()
	s.onePut(1, "")
	at := &atRequest{fault: armsim.Fault{Method: http.MethodDelete, Applied: true}}
	at.set(s)
	s.MustCLI("delete", s.id(""))
	s.Until(crashReaches, "DELETE is held", func() (bool, string) { return at.reached(s), worker.Log() })
	worker.Kill()
	s.StartWorker(harness.WorkerOptions{})
	var status workflows.Status
	ctx, cancel := context.WithTimeout(s.T.Context(), crashRecovers)
	defer cancel()
	if err := s.Client.GetWorkflow(ctx, s.WorkflowID(s.id("")), "").Get(ctx, &status); err != nil || !status.Deleted {
		s.T.Errorf("the run ended with %+v, %v; want Deleted\n%s", status.Condition, err, s.HistoryLines(s.id("")))
	}
}

// stopHanging stops a worker whose request does not end. The worker abandons it after
// the stop timeout.
func (s *crashScene) stopHanging() {
	at := &atRequest{fault: armsim.Fault{Method: http.MethodPut, Applied: true}, sent: 1}
	s.Env = append(s.Env, "ARMATURE_STOP_TIMEOUT=3s")
	worker := s.catch(at)
	worker.Terminate()
	s.exits(worker)
	s.StartWorker(harness.WorkerOptions{})
	s.applied()
	s.onePut(1, "")
}

// twoWorkers kills one of two workers while ARM has accepted PUTs of both and
// returned no response. The first half of the PUTs belongs to the first worker.
func (s *crashScene) twoWorkers() {
	firstHalf, secondHalf := []string{"1", "2", "3"}, []string{"4", "5", "6"}
	hold := armsim.Fault{Method: http.MethodPut, Applied: true, Gate: true}
	s.Sim.Call(http.MethodPost, "/faults", hold, &hold)
	untilHeld := func(count int) {
		s.Until(crashReaches, "PUTs are held", func() (bool, string) { return s.held() == count, "" })
	}
	first := s.StartWorker(harness.WorkerOptions{})
	s.apply(firstHalf...)
	untilHeld(len(firstHalf))
	s.StartWorker(harness.WorkerOptions{})
	s.apply(secondHalf...)
	untilHeld(len(firstHalf) + len(secondHalf))
	first.Kill()
	s.Sim.Call(http.MethodPost, "/faults/"+hold.ID+"/release", nil, nil)
	for _, further := range append(firstHalf, secondHalf...) {
		s.onePut(1, further)
		s.onePass(further)
	}
}

// testTemporalRestarts restarts the Temporal server while one PUT and one operation
// are in progress. The worker keeps running.
func testTemporalRestarts(t *testing.T) {
	s := &crashScene{World: harness.New(t, binaries, harness.Options{}), name: "restart"}
	s.putCrashGroup()
	slow := s.id("slow")
	s.Sim.Call(http.MethodPost, "/operations", armsim.OperationRule{ID: slow, Spec: crashOperation(armsim.ShapeAsync)}, nil)
	s.Sim.Call(http.MethodPost, "/holds", armsim.Hold{ID: slow}, nil)
	put := armsim.Fault{Method: http.MethodPut, Path: s.id(""), Applied: true, Gate: true, Count: 1}
	s.Sim.Call(http.MethodPost, "/faults", put, &put)
	worker := s.StartWorker(harness.WorkerOptions{})
	s.apply("slow", "")
	s.Until(crashReaches, "PUT held, operation polled", func() (bool, string) { return s.held() == 1 && s.polled(), "" })
	s.RestartTemporal(func() {
		s.Sim.Call(http.MethodPost, "/faults/"+put.ID+"/release", nil, nil)
		s.Until(time.Minute, "worker notices", func() (bool, string) {
			code, answer := worker.Get("/readyz")
			return code == http.StatusServiceUnavailable && strings.Contains(answer, "TemporalUnreachable"), answer
		})
	})
	s.Sim.Call(http.MethodDelete, "/holds", nil, nil)
	for _, further := range []string{"slow", ""} {
		s.onePut(1, further)
		s.onePass(further)
	}
	worker.WaitReady()
}
