package main

import (
	"net/http"
	"strings"
	"testing"
	"time"

	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"

	"github.com/armature-io/armature/activities"
	"github.com/armature-io/armature/manifest"
	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/workflows"
)

// forged loads a manifest as the CLI does.
func (s *scene) forged(file string) resource.Desired {
	s.T.Helper()
	set, err := manifest.Load(manifest.Options{}, file)
	if err != nil {
		s.T.Fatal(err)
	}
	return set.Resources[0]
}

// send applies a spec with a plain Temporal client: without the CLI and its checks.
func (s *scene) send(desired resource.Desired) error {
	s.T.Helper()
	start := client.StartWorkflowOptions{
		ID: desired.ID.WorkflowID(), TaskQueue: s.taskQueue(), WorkflowIDConflictPolicy: enumspb.WORKFLOW_ID_CONFLICT_POLICY_USE_EXISTING,
	}
	handle, err := s.Client.UpdateWithStartWorkflow(s.T.Context(), client.UpdateWithStartWorkflowOptions{
		StartWorkflowOperation: s.Client.NewWithStartWorkflowOperation(start, workflows.ReconcileResourceWorkflow, workflows.ReconcileResourceInput{}),
		UpdateOptions: client.UpdateWorkflowOptions{
			WorkflowID: start.ID, UpdateName: workflows.ApplyUpdate, WaitForStage: client.WorkflowUpdateStageCompleted,
			Args: []any{workflows.ApplyInput{Desired: desired, By: "ceo@headquarters"}},
		},
	})
	if err != nil {
		return err
	}
	return handle.Get(s.T.Context(), nil)
}

func (s *scene) taskQueue() string { return "attack-" + s.name }

// TestUndeclaredSecrets checks that the worker finds the secrets of a body by itself: a
// client that declares none gets no secret into Temporal.
func TestUndeclaredSecrets(t *testing.T) {
	t.Parallel()
	const secret = "TeamB-Pa55word-9x"
	s := newScene(t, "undeclared").serve("ARMATURE_SECRET_ATTACK=" + secret)
	desired := s.forged(s.manifest("thing", "note: {$secret: env:ARMATURE_SECRET_ATTACK}, size: 1"))
	desired.Secret, desired.SecretRefs, desired.Plain = nil, nil, nil
	if err := s.send(desired); err == nil {
		s.UntilStatus(30*time.Second, s.id("thing"), "had a pass", func(status workflows.Status) bool { return status.Pass > 0 && status.Condition.Reason != "" })
		s.sync(s.id("thing"))
	}
	s.hidden(s.id("thing"), secret)
}

// sync runs a pass that reads what ARM stores now.
func (s *scene) sync(id string) {
	s.T.Helper()
	s.CLI("reconcile", id, "--wait", "--timeout", "30s")
}

// hidden checks that a secret is in no history of a resource.
func (s *scene) hidden(id, secret string) {
	s.T.Helper()
	if history := s.AllHistoryLines(id); strings.Contains(history, secret) {
		i := strings.Index(history, secret)
		s.T.Errorf("the secret is in Temporal: ...%q", history[max(0, i-200):i+len(secret)])
	}
}

// TestPublishedSecret checks that a client without the CLI's checks cannot publish a
// secret where everybody reads it.
func TestPublishedSecret(t *testing.T) {
	t.Parallel()
	const secret = "TeamB-Pa55word-9y"
	s := newScene(t, "published").serve("ARMATURE_SECRET_ATTACK=" + secret)
	desired := s.forged(s.manifest("thing", ""))
	desired.Body = []byte(`{"location":"westus2","tags":{"note":{"$secret":"env:ARMATURE_SECRET_ATTACK"}}}`)
	if err := s.send(desired); err == nil {
		s.UntilStatus(30*time.Second, s.id("thing"), "had a pass", func(status workflows.Status) bool { return status.Pass > 0 && status.Condition.Reason != "" })
	}
	for _, request := range s.arm.Requests(s.id("thing")) {
		if strings.Contains(request.Body, secret) {
			t.Errorf("%s sends the secret as a tag: %s", request.Method, request.Body)
		}
	}
	s.hidden(s.id("thing"), secret)
}

// attackerQueue is the task queue of the attacker's own workflows.
const attackerQueue = "attacker"

// runActivity schedules an activity on the product's task queue, from a workflow of the
// attacker, and returns its error.
func (s *scene) runActivity(name string, input any, result any) error {
	s.T.Helper()
	attacker := worker.New(s.Client, attackerQueue+"-"+s.name, worker.Options{})
	attacker.RegisterWorkflowWithOptions(func(ctx workflow.Context, name string, input any, queue string) (any, error) {
		options := workflow.ActivityOptions{
			TaskQueue: queue, StartToCloseTimeout: 30 * time.Second, HeartbeatTimeout: 15 * time.Second,
			RetryPolicy: &temporal.RetryPolicy{MaximumAttempts: 1},
		}
		var out any
		err := workflow.ExecuteActivity(workflow.WithActivityOptions(ctx, options), name, input).Get(ctx, &out)
		return out, err
	}, workflow.RegisterOptions{Name: "Forge"})
	if err := attacker.Start(); err != nil {
		s.T.Fatal(err)
	}
	defer attacker.Stop()
	run, err := s.Client.ExecuteWorkflow(s.T.Context(), client.StartWorkflowOptions{TaskQueue: attackerQueue + "-" + s.name}, "Forge", name, input, s.taskQueue())
	if err != nil {
		s.T.Fatal(err)
	}
	return run.Get(s.T.Context(), result)
}

// TestForgedActivities checks that activities which a foreign workflow schedules, or which
// run without a workflow, write nothing: neither the DELETE of a resource whose policy is
// protect, nor a PUT.
func TestForgedActivities(t *testing.T) {
	t.Parallel()
	s := newScene(t, "forged").serve()
	file := s.manifest("thing", "", "reconcile: {policy: protect}")
	s.MustCLI("apply", "-f", file, "--wait", "--timeout", "60s")
	if result := s.CLI("delete", "--yes", s.id("thing")); result.Code == 0 || s.arm.Count(http.MethodDelete, s.id("thing")) > 0 {
		t.Fatalf("the policy does not protect from the CLI: %s", result)
	}
	desired := s.forged(file)
	desired.Policy = resource.PolicyManage
	puts := s.arm.Count(http.MethodPut, s.id("thing"))
	for name, input := range map[string]any{
		"DeleteResource": activities.DeleteResourceInput{Desired: desired},
		"PutResource":    activities.PutResourceInput{Desired: desired, PassFacts: activities.PassFacts{Mandate: activities.Mandate{RequestedAt: time.Now(), Force: true}}, Kind: activities.PutUncompared},
	} {
		var result any
		foreign := s.runActivity(name, input, &result)
		alone := s.RunStandalone(s.taskQueue(), name, input)
		if s.arm.Count(http.MethodDelete, s.id("thing")) > 0 || s.arm.Count(http.MethodPut, s.id("thing")) > puts {
			t.Errorf("a forged %s wrote a protected resource: %v, %v, %v", name, result, foreign, alone)
		}
	}
}
