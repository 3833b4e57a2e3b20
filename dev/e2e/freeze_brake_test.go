package e2e

import (
	"net/http"
	"strings"
	"testing"
	"time"

	commonpb "go.temporal.io/api/common/v1"
	enumspb "go.temporal.io/api/enums/v1"
	taskqueuepb "go.temporal.io/api/taskqueue/v1"
	"go.temporal.io/api/workflowservice/v1"

	"github.com/armature-io/armature/dev/internal/harness"
	"github.com/armature-io/armature/dev/internal/testworker/gate"
	"github.com/armature-io/armature/dev/temporaldev"
	"github.com/armature-io/armature/internal/payload"
	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/workflows"
)

// freezeInterval is the time between two readings of the freezes by the workers of the test.
const freezeInterval = time.Second

// TestBrake freezes an encrypted namespace whose workers demand signatures, with a CLI that
// has no key. Somebody terminates the workflow of freezes and deletes its history; a worker
// starts it again each time. Only a signed unfreeze ends it, for good, and needs no
// encryption key.
//
//guard:freeze
func TestBrake(t *testing.T) {
	t.Parallel()
	const hidden, sealed = "hidden-reason-91", "sealed-reason-92"
	key, public := newKey(t)
	w := harness.New(t, binaries, harness.Options{Converters: bothKeys(t)})
	s := scenarios{w}
	s.putGroup("brake")
	encryption := append(keyEnv("a", "a"), "ARMATURE_SIGNING_KEY="+key)
	worker := w.StartWorker(harness.WorkerOptions{Binary: buildTestWorker(t), Env: append([]string{
		"ARMATURE_SIGNING_PUBLIC_KEYS=" + public, gate.FreezeVariable + "=" + freezeInterval.String(),
	}, keyEnv("a", "a")...)})
	with := func(env []string, args ...string) harness.Result {
		t.Helper()
		result := s.CLIWith("", env, args...)
		if result.Code != 0 {
			t.Fatal(result)
		}
		return result
	}
	r := thing{group: "brake", name: "braked", interval: "1h"}
	file := s.Write("braked.yaml", r.manifest("small"))
	with(encryption, "apply", "-f", file, "--wait", "--timeout", "1m")

	frozen := with(nil, "freeze", "--reason", hidden)
	if !strings.Contains(frozen.Out, "confirmed by 1 worker") || !strings.Contains(frozen.Err, "author and reason are left out") {
		t.Errorf("a freeze without a key: %s", frozen)
	}
	with(encryption, "freeze", "-l", "stack=none", "--reason", sealed)
	if shown := with(encryption, "get"); !strings.Contains(shown.Err, "frozen: everything since") || !strings.Contains(shown.Err, "(unverified) since") || !strings.Contains(shown.Err, sealed) {
		t.Errorf("get with the key shows\n%s", shown.Err)
	}
	if shown := with(nil, "freeze"); !strings.Contains(shown.Out, "already frozen") || !strings.Contains(shown.Out, "also frozen: stack=none") || !strings.Contains(shown.Out, "encrypted with a key") {
		t.Errorf("freezes without the key are shown as\n%s", shown.Out)
	}
	with(encryption, "apply", "-f", s.Write("braked.yaml", r.manifest("large")))
	isFrozen := func(status workflows.Status) bool { return status.Condition.Reason == resource.ReasonFrozen }
	s.UntilStatus(time.Minute, r.id(), "a freeze without a key holds it", isFrozen)

	for how, end := range map[string]func(runID string) error{
		"terminated": func(runID string) error {
			return s.Client.TerminateWorkflow(t.Context(), workflows.FreezeWorkflowID, runID, "e2e")
		},
		"deleted": func(runID string) error {
			_, err := s.Client.WorkflowService().DeleteWorkflowExecution(t.Context(), &workflowservice.DeleteWorkflowExecutionRequest{
				Namespace: temporaldev.Namespace, WorkflowExecution: &commonpb.WorkflowExecution{WorkflowId: workflows.FreezeWorkflowID, RunId: runID},
			})
			return err
		},
	} {
		before, _ := s.freezeRun()
		if err := end(before); err != nil {
			t.Fatal(err)
		}
		s.Until(time.Minute, "the workflow of freezes runs again after it was "+how, func() (bool, string) {
			runID, status := s.freezeRun()
			return runID != before && status == enumspb.WORKFLOW_EXECUTION_STATUS_RUNNING, runID + " " + status.String()
		})
	}
	if log := worker.Log(); strings.Count(log, "was started again") != 2 {
		t.Errorf("the worker does not log two restarts:\n%s", log)
	}
	refused := s.CLIWith("", nil, "unfreeze")
	if refused.Code == 0 || !strings.Contains(refused.Err, "not signed") {
		t.Errorf("an unfreeze without a proof: %s", refused)
	}
	before, err := s.Status(r.id())
	if err != nil {
		t.Fatal(err)
	}
	with(encryption, "reconcile", r.id())
	s.UntilStatus(time.Minute, r.id(), "the freeze still holds it", func(status workflows.Status) bool { return status.Pass > before.Pass && isFrozen(status) })
	if puts := s.Sim.Count(http.MethodPut, r.id()); puts != 1 {
		t.Errorf("%d PUTs, want that of the creation alone", puts)
	}
	signed := []string{"ARMATURE_SIGNING_KEY=" + key}
	with(signed, "unfreeze")
	s.Until(time.Minute, "the PUT is sent after unfreeze", func() (bool, string) {
		with(encryption, "reconcile", r.id())
		return s.Sim.Count(http.MethodPut, r.id()) == 2, "no PUT yet"
	})
	with(signed, "unfreeze", "-l", "stack=none")
	lifted, status := "", enumspb.WORKFLOW_EXECUTION_STATUS_UNSPECIFIED
	s.Until(time.Minute, "the workflow of freezes ends", func() (bool, string) {
		lifted, status = s.freezeRun()
		return status == enumspb.WORKFLOW_EXECUTION_STATUS_COMPLETED, status.String()
	})
	<-time.After(3 * freezeInterval)
	if runID, status := s.freezeRun(); runID != lifted || status != enumspb.WORKFLOW_EXECUTION_STATUS_COMPLETED {
		t.Errorf("a freeze that was lifted came back: %s %s", runID, status)
	}
	clear, _, _ := w.ClearTexts()
	for field, texts := range clear {
		for _, text := range texts {
			if strings.Contains(text, hidden) || strings.Contains(text, sealed) {
				t.Errorf("%s has the reason of a freeze in clear: %.200s", field, text)
			}
		}
	}
	if replayed := s.Replay(w.Binaries.Worker, nil, workflows.FreezeWorkflowID); replayed.Code != 0 {
		t.Errorf("a worker without the key cannot replay the workflow of freezes: %s", replayed)
	}
}

// TestBrakeUnderAttack starts one workflow whose memo has an unknown key, which ends other
// commands, and a workflow of a resource under the ID whose payloads are exempt from
// encryption. Freeze and unfreeze work, with and without a key.
//
//guard:freeze
func TestBrakeUnderAttack(t *testing.T) {
	t.Parallel()
	w := harness.New(t, binaries, harness.Options{Converters: bothKeys(t)})
	s := scenarios{w}
	w.StartWorker(harness.WorkerOptions{Env: keyEnv("a", "a")})
	start := func(id, taskQueue string, memo *commonpb.Payload) {
		t.Helper()
		if _, err := s.Client.WorkflowService().StartWorkflowExecution(t.Context(), &workflowservice.StartWorkflowExecutionRequest{
			Namespace: temporaldev.Namespace, WorkflowId: id, RequestId: id,
			WorkflowType: &commonpb.WorkflowType{Name: workflows.ReconcileResourceWorkflow}, TaskQueue: &taskqueuepb.TaskQueue{Name: taskQueue},
			Memo: &commonpb.Memo{Fields: map[string]*commonpb.Payload{workflows.MemoName: memo}},
		}); err != nil {
			t.Fatal(err)
		}
	}
	bogus := &commonpb.Payload{Metadata: map[string][]byte{"encoding": []byte(payload.EncryptedEncoding), payload.MetadataKeyID: []byte("bogus")}, Data: []byte("x")}
	start("/subscriptions/bogus", "nobody", bogus)
	s.Until(time.Minute, "other commands end", func() (bool, string) {
		shown := s.CLIWith("", keyEnv("a", "a"), "pause", "x")
		return strings.Contains(shown.Err, "bogus"), shown.String()
	})
	for _, env := range [][]string{nil, keyEnv("a", "a")} {
		for _, command := range []string{"freeze", "unfreeze"} {
			if result := s.CLIWith("", env, command); result.Code != 0 {
				t.Errorf("%s under an unknown key: %s", command, result)
			}
		}
	}
	s.Until(time.Minute, "the workflow of freezes ends", func() (bool, string) {
		_, status := s.freezeRun()
		return status == enumspb.WORKFLOW_EXECUTION_STATUS_COMPLETED, status.String()
	})
	start(workflows.FreezeWorkflowID, workflows.TaskQueue, bogus)
	s.Until(time.Minute, "the worker ends the run under the exempt ID", func() (bool, string) {
		_, status := s.freezeRun()
		return status == enumspb.WORKFLOW_EXECUTION_STATUS_CANCELED, status.String()
	})
	// Whatever that run was, it says of no freeze that it was lifted.
	if frozen := s.CLIWith("", nil, "freeze", "-l", "stack=a"); frozen.Code != 0 || !strings.Contains(frozen.Out, "also frozen: everything") {
		t.Errorf("after a run of another type: %s", frozen)
	}
	for _, args := range [][]string{{"unfreeze"}, {"unfreeze", "-l", "stack=a"}} {
		if result := s.CLIWith("", nil, args...); result.Code != 0 || !strings.Contains(result.Out, "no longer frozen") {
			t.Errorf("unfreeze: %s", result)
		}
	}
}

// freezeRun returns the last run of the workflow of freezes.
func (s scenarios) freezeRun() (runID string, status enumspb.WorkflowExecutionStatus) {
	described, err := s.Client.DescribeWorkflowExecution(s.T.Context(), workflows.FreezeWorkflowID, "")
	if err != nil {
		return err.Error(), enumspb.WORKFLOW_EXECUTION_STATUS_UNSPECIFIED
	}
	info := described.GetWorkflowExecutionInfo()
	return info.GetExecution().GetRunId(), info.GetStatus()
}
