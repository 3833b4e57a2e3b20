package main

import (
	"testing"
	"time"

	"github.com/armature-io/armature/workflows"
)

// TestSignalFlood sends signals that no workflow handles to a resource that sleeps: it continues
// as new at its limit, and sends no request.
func TestSignalFlood(t *testing.T) {
	t.Parallel()
	s := newScene(t, "flood").serve()
	desired := s.forged(s.manifest("thing", ""))
	desired.Interval = 0 // the first routine pass may come after a minute, and it reads
	id := desired.ID.String()
	if err := s.send(desired); err != nil {
		t.Fatal(err)
	}
	s.UntilPhase(recovers, id, workflows.PhaseReady)
	workflowID := desired.ID.WorkflowID()
	run := func() string {
		described, err := s.Client.DescribeWorkflowExecution(t.Context(), workflowID, "")
		if err != nil {
			t.Fatal(err)
		}
		return described.GetWorkflowExecutionInfo().GetExecution().GetRunId()
	}
	first, requests, sent := run(), len(s.arm.Requests(id)), 0
	s.Until(time.Minute, "the run continues as new", func() (bool, string) {
		for range 50 {
			if err := s.Client.SignalWorkflow(t.Context(), workflowID, "", "nonsense", "a signal without a handler"); err != nil {
				t.Fatal(err)
			}
		}
		sent += 50
		if sent > 2000 {
			t.Fatalf("the run goes on after %d signals", sent)
		}
		return run() != first, first
	})
	s.UntilPhase(recovers, id, workflows.PhaseReady)
	if more := len(s.arm.Requests(id)) - requests; more > 0 {
		t.Errorf("%d signals led to %d requests", sent, more)
	}
}
