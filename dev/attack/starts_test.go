package main

import (
	"crypto/ed25519"
	"encoding/base64"
	"net/http"
	"testing"
	"time"

	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"

	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/workflows"
)

// startEnds bounds the time until a forged run ends or is blocked.
const startEnds = 2 * time.Minute

// TestForgedStarts starts workflows of resources past the commands: with a state, with a
// cron schedule, with retries, and as the continuation of a workflow of the attacker. Only
// the last one runs, and writes nothing without a signature.
func TestForgedStarts(t *testing.T) {
	t.Parallel()
	public, _, err := ed25519.GenerateKey(nil)
	if err != nil {
		t.Fatal(err)
	}
	s := newScene(t, "starts").serve("ARMATURE_SIGNING_PUBLIC_KEYS=" + base64.StdEncoding.EncodeToString(public))
	sideBySide(t, map[string]func(*testing.T){
		"state": func(t *testing.T) { s.on(t).refusedStart("state", client.StartWorkflowOptions{}) },
		"cron": func(t *testing.T) {
			s.on(t).refusedStart("cron", client.StartWorkflowOptions{CronSchedule: "@every 1s"})
		},
		"retries": func(t *testing.T) {
			s.on(t).refusedStart("retries", client.StartWorkflowOptions{RetryPolicy: &temporal.RetryPolicy{MaximumAttempts: 3}})
		},
		"foreign": func(t *testing.T) { s.on(t).foreignStart("foreign") },
	})
}

// forgedInput returns the input of a run that would write a thing at once.
func (s *scene) forgedInput(name string) (resource.ID, workflows.ReconcileResourceInput) {
	s.T.Helper()
	desired := s.forged(s.manifest(name, ""))
	return desired.ID, workflows.ReconcileResourceInput{State: &workflows.State{
		Spec: workflows.Spec{Desired: &desired, Generation: 1}, Requests: workflows.Requests{Pass: true},
	}}
}

// refusedStart checks that a start ends canceled without a request and without a next run.
func (s *scene) refusedStart(name string, options client.StartWorkflowOptions) {
	s.T.Helper()
	id, input := s.forgedInput(name)
	options.ID, options.TaskQueue = id.WorkflowID(), s.taskQueue()
	run, err := s.Client.ExecuteWorkflow(s.T.Context(), options, workflows.ReconcileResourceWorkflow, input)
	if err != nil {
		s.T.Fatal(err)
	}
	first, status := run.GetRunID(), ""
	s.Until(startEnds, "the forged run ends", func() (bool, string) {
		described, err := s.Client.DescribeWorkflowExecution(s.T.Context(), id.WorkflowID(), "")
		if err != nil {
			return false, err.Error()
		}
		info := described.GetWorkflowExecutionInfo()
		if info.GetExecution().GetRunId() != first {
			s.T.Fatalf("a second run started: %s", info.GetStatus())
		}
		status = info.GetStatus().String()
		return status != "Running", status
	})
	if status != "Canceled" {
		s.T.Errorf("the forged run ended as %s, want Canceled", status)
	}
	if requests := s.arm.Requests(id.String()); len(requests) > 0 {
		s.T.Errorf("the forged run sent %d requests", len(requests))
	}
}

// foreignStart continues a workflow of the attacker as one of a resource.
func (s *scene) foreignStart(name string) {
	s.T.Helper()
	id, input := s.forgedInput(name)
	queue := attackerQueue + "-" + name
	attacker := worker.New(s.Client, queue, worker.Options{})
	attacker.RegisterWorkflowWithOptions(func(ctx workflow.Context, input workflows.ReconcileResourceInput, queue string) error {
		return workflow.NewContinueAsNewError(workflow.WithTaskQueue(workflow.WithWorkflowTaskQueue(ctx, queue), queue), workflows.ReconcileResourceWorkflow, input)
	}, workflow.RegisterOptions{Name: "Become"})
	if err := attacker.Start(); err != nil {
		s.T.Fatal(err)
	}
	defer attacker.Stop()
	if _, err := s.Client.ExecuteWorkflow(s.T.Context(), client.StartWorkflowOptions{ID: id.WorkflowID(), TaskQueue: queue}, "Become", input, s.taskQueue()); err != nil {
		s.T.Fatal(err)
	}
	puts := func() int { return s.arm.Count(http.MethodPut, id.String()) }
	s.UntilStatus(startEnds, id.String(), "has no signature, or writes", func(status workflows.Status) bool {
		return status.Condition.Reason == resource.ReasonSignatureMissing || puts() > 0
	})
	if puts() > 0 {
		s.T.Errorf("the forged run sent %d PUTs", puts())
	}
}
