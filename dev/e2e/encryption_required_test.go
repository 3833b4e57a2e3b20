package e2e

import (
	"context"
	"strings"
	"testing"
	"time"

	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/client"

	"github.com/armature-io/armature/dev/internal/harness"
	"github.com/armature-io/armature/internal/payload"
	"github.com/armature-io/armature/workflows"
)

// TestEncryptionRequired requires encryption from a time on. A sender without keys reaches no run
// that began later: the run goes on without its message. A run from before goes on as ever. A
// worker whose time is too early ends nothing.
//
//guard:what-is-encrypted-stays-whole
func TestEncryptionRequired(t *testing.T) {
	t.Parallel()
	w := harness.New(t, binaries, harness.Options{Converters: bothKeys(t)})
	s := scenarios{w}
	s.putGroup("sealed")
	ids := map[string]string{}
	for _, name := range []string{"old", "new", "forged"} {
		ids[name] = thing{group: "sealed", name: name}.id()
		s.Write(name+".yaml", sealedManifest(name, "small", "x"))
	}
	// A sender without the key reads the name of the error.
	const inClear, refused = "in clear, and encryption.require refuses", "NotEncryptedError"

	before := w.StartWorker(harness.WorkerOptions{})
	began := time.Now()
	s.MustCLI("apply", "-f", "old.yaml", "--wait", "--timeout", "60s")
	before.Stop()

	since := time.Now().Add(time.Second).Truncate(time.Second)
	w.Until(10*time.Second, "the time has come", func() (bool, string) { return time.Now().After(since), "" })
	require := func(since time.Time) []string {
		return append(keyEnv("a", "a"), "ARMATURE_ENCRYPTION_REQUIRE="+since.UTC().Format(time.RFC3339))
	}
	w.Env = append(w.Env, require(since)...)
	worker := w.StartWorker(harness.WorkerOptions{})
	s.MustCLI("apply", "-f", "new.yaml", "--wait", "--timeout", "60s")
	attacker, err := client.NewClientFromExisting(w.Client, client.Options{DataConverter: payload.DataConverter()})
	if err != nil {
		t.Fatal(err)
	}
	defer attacker.Close()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	pause := func(name string) error {
		handle, err := attacker.UpdateWorkflow(ctx, client.UpdateWorkflowOptions{
			WorkflowID: w.WorkflowID(ids[name]), UpdateName: workflows.PauseUpdate,
			Args: []any{workflows.PauseInput{By: "mallory"}}, WaitForStage: client.WorkflowUpdateStageCompleted,
		})
		if err != nil {
			return err
		}
		return handle.Get(ctx, nil)
	}
	if err := pause("new"); err == nil || !strings.Contains(err.Error(), refused) {
		t.Errorf("a clear message to a run that began later: %v", err)
	}
	if err := attacker.SignalWorkflow(ctx, w.WorkflowID(ids["new"]), "", workflows.WakeSignal, workflows.WakeInput{}); err != nil {
		t.Fatal(err)
	}
	w.Until(30*time.Second, "the signal is dropped", func() (bool, string) {
		return strings.Contains(worker.Log(), "Corrupted signal"), worker.Log()
	})
	forged, err := attacker.ExecuteWorkflow(ctx, client.StartWorkflowOptions{ID: w.WorkflowID(ids["forged"]), TaskQueue: workflows.TaskQueue},
		workflows.ReconcileResourceWorkflow, workflows.ReconcileResourceInput{})
	if err != nil {
		t.Fatal(err)
	}
	if err := forged.Get(ctx, nil); err == nil || !strings.Contains(err.Error(), refused) {
		t.Errorf("a run with a clear input ended with %v", err)
	}
	// It works on, also after its history was replayed with the dropped signal.
	worker.Stop()
	worker = w.StartWorker(harness.WorkerOptions{})
	s.MustCLI("reconcile", ids["new"], "--wait", "--timeout", "60s")
	s.UntilStatus(time.Minute, ids["new"], "runs on", func(status workflows.Status) bool {
		return status.Phase == workflows.PhaseReady && status.Pass > 1 && !status.Paused
	})
	s.MustReplay()

	// The run from before is read as ever, whoever writes to it.
	if err := pause("old"); err != nil {
		t.Errorf("a clear message to a run that began before: %v", err)
	}
	s.MustCLI("resume", ids["old"])
	s.MustCLI("reconcile", ids["old"], "--wait", "--timeout", "60s")
	worker.Stop()

	// A time before the first key ends no run.
	early := w.StartWorker(harness.WorkerOptions{Env: require(began.Add(-time.Hour))})
	result := w.CLIWith("", require(began.Add(-time.Hour)), "get")
	if !strings.Contains(result.Out, "Unreadable") || !strings.Contains(result.Out+result.Err, inClear) {
		t.Errorf("the row of a clear run says nothing: %s", result)
	}
	w.CLIWith("", keyEnv("a", "a"), "reconcile", ids["old"], "--worker-timeout", "4s")
	w.Until(30*time.Second, "the workflow task fails", func() (bool, string) {
		return strings.Contains(w.History(ids["old"]).String(), "WORKFLOW_TASK_FAILED") && strings.Contains(early.Log(), inClear), early.Log()
	})
	early.Stop()
	w.StartWorker(harness.WorkerOptions{})
	s.MustCLI("reconcile", ids["old"], "--wait", "--timeout", "60s")
	description, err := w.Client.DescribeWorkflowExecution(ctx, w.WorkflowID(ids["old"]), "")
	if err != nil || description.GetWorkflowExecutionInfo().GetStatus() != enumspb.WORKFLOW_EXECUTION_STATUS_RUNNING {
		t.Errorf("the run from before: %v, %v", description.GetWorkflowExecutionInfo().GetStatus(), err)
	}
	for name, want := range map[string]int{"old": 1, "new": 1, "forged": 0} {
		if puts := s.Sim.Count("PUT", ids[name]); puts != want {
			t.Errorf("%s: %d PUTs, want %d", name, puts, want)
		}
	}
}
