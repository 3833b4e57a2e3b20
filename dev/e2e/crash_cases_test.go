package e2e

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"go.temporal.io/api/common/v1"
	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/workflowservice/v1"

	"github.com/armature-io/armature/armsim"
	"github.com/armature-io/armature/dev/internal/harness"
	"github.com/armature-io/armature/dev/temporaldev"
	"github.com/armature-io/armature/workflows"
)

// crashCases are the scenarios that are no place in a pass.
func crashCases() map[string]func(*crashScene) {
	return map[string]func(*crashScene){
		"answer lost, worker lives":         (*crashScene).answerLost,
		"stop with a request that hangs":    (*crashScene).stopHanging,
		"two workers, one killed":           (*crashScene).twoWorkers,
		"reset to before the PUT":           (*crashScene).resetReady,
		"reset during the operation":        (*crashScene).resetOperating,
		"terminate during the operation":    (*crashScene).terminateOperating,
		"terminate while a PUT is answered": (*crashScene).terminatePutting,
	}
}

// answerLost cuts the connection after ARM accepted the PUT.
func (s *crashScene) answerLost() {
	s.Sim.Call(http.MethodPost, "/faults", armsim.Fault{Method: http.MethodPut, Path: s.id(""), Applied: true, Reset: true, Count: 1}, nil)
	s.StartWorker(harness.WorkerOptions{})
	s.apply()
	s.onePut(1, "")
}

// stopHanging stops a worker whose request does not end: it is given up when
// the stop-timeout is over.
func (s *crashScene) stopHanging() {
	at := &atRequest{fault: armsim.Fault{Method: http.MethodPut, Applied: true}, sent: 1}
	s.Env = append(s.Env, "ARMATURE_STOP_TIMEOUT=3s")
	worker := s.catch(at)
	worker.Terminate()
	s.exits(worker)
	s.StartWorker(harness.WorkerOptions{})
	s.onePut(1, "")
}

// twoWorkers kills one of two workers while ARM has accepted PUTs of both and
// answered none. The first half of the PUTs is surely the first worker's.
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
	}
}

// resetReady resets the run of a Ready resource to before its PUT.
func (s *crashScene) resetReady() {
	s.StartWorker(harness.WorkerOptions{})
	s.apply()
	s.onePut(1, "")
	s.reset()
	s.onePut(1, "")
}

// resetOperating does so while the operation of the PUT runs.
func (s *crashScene) resetOperating() {
	at := &atOperation{shape: armsim.ShapeAsync}
	s.catch(at)
	s.reset()
	at.release(s)
	s.onePut(1, "")
}

// reset resets the run to the workflow task that decided the PUT, and waits
// until the new run went past that step.
func (s *crashScene) reset() {
	s.T.Helper()
	decided := int64(0)
	for _, event := range s.History(s.id("")).GetEvents() {
		if scheduled := event.GetActivityTaskScheduledEventAttributes(); scheduled.GetActivityType().GetName() == "PutResource" {
			decided = scheduled.GetWorkflowTaskCompletedEventId()
		}
	}
	if decided == 0 {
		s.T.Fatalf("the history has no PutResource\n%s", s.HistoryLines(s.id("")))
	}
	answer, err := s.Client.ResetWorkflowExecution(s.T.Context(), &workflowservice.ResetWorkflowExecutionRequest{
		Namespace:                 temporaldev.Namespace,
		WorkflowExecution:         &common.WorkflowExecution{WorkflowId: s.WorkflowID(s.id(""))},
		Reason:                    "e2e: to before the PUT",
		WorkflowTaskFinishEventId: decided,
		RequestId:                 s.name,
	})
	if err != nil {
		s.T.Fatal(err)
	}
	s.Until(crashRecovers, "new run repeats step 4", func() (bool, string) {
		for _, event := range s.History(s.id("")).GetEvents() {
			if event.GetEventId() > decided && event.GetEventType() == enumspb.EVENT_TYPE_ACTIVITY_TASK_COMPLETED &&
				s.RunID(s.id("")) == answer.GetRunId() {
				return true, ""
			}
		}
		return false, s.HistoryLines(s.id(""))
	})
}

// terminateOperating ends the run by force while its operation goes on: an
// apply is a cold start, which leaves the operation alone.
func (s *crashScene) terminateOperating() {
	at := &atOperation{shape: armsim.ShapeAsync}
	s.catch(at)
	s.coldStart()
	s.UntilStatus(crashRecovers, s.id(""), "is blocked by what is in flight", func(status workflows.Status) bool {
		return status.Pass > 0 && !status.Condition.Ready
	})
	at.release(s)
	s.onePut(1, "")
}

// terminatePutting does so while the answer to the PUT is on its way.
func (s *crashScene) terminatePutting() {
	at := acceptedPut(crashOperation(armsim.ShapeState))
	s.catch(at)
	s.coldStart()
	at.release(s)
	s.onePut(1, "")
}

func (s *crashScene) coldStart() {
	s.T.Helper()
	if err := s.Client.TerminateWorkflow(s.T.Context(), s.WorkflowID(s.id("")), "", "e2e"); err != nil {
		s.T.Fatal(err)
	}
	s.apply()
}

// testTemporalRestarts restarts the Temporal server while one PUT is on its way
// and an operation runs. The worker lives on.
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
	s.onePut(1, "slow")
	s.onePut(1, "")
	worker.WaitReady()
}
