package e2e

import (
	"net/http"

	common "go.temporal.io/api/common/v1"
	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/workflowservice/v1"

	"github.com/armature-io/armature/armsim"
	"github.com/armature-io/armature/dev/internal/harness"
	"github.com/armature-io/armature/dev/temporaldev"
	"github.com/armature-io/armature/workflows"
)

// resetReady resets the run of a Ready resource to before its PUT.
func (s *crashScene) resetReady() {
	s.StartWorker(harness.WorkerOptions{})
	s.apply()
	s.onePut(1, "")
	s.reset()
	s.onePut(1, "")
	s.onePass("")
}

// resetThenFailed checks that a reset run behaves like any other run: a resource that
// fails later gets its PUT.
func (s *crashScene) resetThenFailed() {
	s.StartWorker(harness.WorkerOptions{})
	s.apply()
	s.onePut(1, "")
	s.reset()
	s.onePut(1, "")
	s.Sim.Call(http.MethodPut, "/state", map[string]any{"id": s.id(""), "provisioningState": "Failed"}, nil)
	s.Sim.Reset()
	s.MustCLI("reconcile", s.id(""))
	s.UntilStatus(crashRecovers, s.id(""), "had another pass", func(status workflows.Status) bool { return status.Pass > 1 })
	s.onePut(1, "")
}

// resetOperating resets the run while the operation of the PUT is in progress. The first read
// is part of the task that is made again: it sees the operation, and waits for its end.
func (s *crashScene) resetOperating() {
	at := &atOperation{shape: armsim.ShapeAsync}
	s.catch(at)
	s.applied()
	s.reset()
	at.release(s)
	s.onePut(1, "")
	s.UntilPhase(crashRecovers, s.id(""), workflows.PhaseReady)
}

// reset resets the run to the workflow task that decided the PUT, and waits
// until the new run is past that step.
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

// terminateOperating terminates the run while its operation is in progress. The next
// apply is a cold start, which does not disturb the operation.
func (s *crashScene) terminateOperating() {
	at := &atOperation{shape: armsim.ShapeAsync}
	s.catch(at)
	s.applied()
	s.coldStart()
	s.UntilStatus(crashRecovers, s.id(""), "is blocked by the operation", func(status workflows.Status) bool {
		return status.Pass > 0 && !status.Condition.Ready
	})
	at.release(s)
	s.onePut(1, "")
}

// terminatePutting terminates the run before it has the response to the PUT.
func (s *crashScene) terminatePutting() {
	at := acceptedPut(crashOperation(armsim.ShapeState))
	s.catch(at)
	s.applied()
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
