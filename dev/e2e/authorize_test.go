package e2e

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/armature-io/armature/dev/internal/harness"
	"github.com/armature-io/armature/dev/internal/testworker/policy"
	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/workflows"
	"go.temporal.io/sdk/client"
)

// TestGuardAuthorize runs a worker whose embedder refuses messages. The CLI prints the
// refusals, Azure gets nothing, and a worker without the authorizer replays the histories.
//
//guard:the-hook-of-an-embedder
func TestGuardAuthorize(t *testing.T) {
	t.Parallel()
	w := harness.New(t, binaries, harness.Options{})
	guarded := w.StartWorker(harness.WorkerOptions{
		Binary: buildTestWorker(t), Env: []string{policy.Variable + "=delete,forget,unfreeze,force,recreate"},
	})
	s := scenarios{w}
	r := s.start(t, "guarded", "1h")
	free := thing{group: "guarded", name: "free", interval: "1h"}
	s.MustCLI("apply", "-f", s.Write("free.yaml", free.manifest("small")+"labels: {stage: free}\n"), "--wait", "--timeout", "60s")
	s.MustCLI("delete", free.id(), "--yes", "--with-data", "--wait", "--timeout", "60s") // by its label
	s.MustCLI("freeze", "--reason", "INC-42")                                            // never refused: it stops
	for name, c := range map[string]struct {
		args []string
		want string
	}{
		"delete":   {[]string{"delete", r.id(), "--yes", "--with-data"}, "delete of guarded is not allowed: delete needs a change request, ask the release team"},
		"force":    {[]string{"reconcile", r.id(), "--force", "--reason", "now"}, "reconcile of guarded is not allowed: force needs a change request"},
		"recreate": {[]string{"reconcile", r.id(), "--recreate"}, "reconcile of guarded is not allowed: recreate needs a change request"},
		"forget":   {[]string{"forget", r.id(), "--yes"}, "forget of guarded is not allowed: forget needs a change request"},
		"unfreeze": {[]string{"unfreeze"}, "unfreeze of everything is not allowed: unfreeze needs a change request"},
	} {
		result := s.CLI(c.args...)
		if result.Code != 1 || !strings.Contains(result.Err+result.Out, c.want) {
			t.Errorf("%s: want exit code 1 and %q:\n%s", name, c.want, result)
		}
	}
	if shown := s.MustCLI("get"); !strings.Contains(shown.Err, "frozen: everything") {
		t.Errorf("the refused unfreeze lifted the freeze:\n%s%s", shown.Out, shown.Err)
	}
	s.MustCLI("reconcile", r.id())
	if status, err := s.Status(r.id()); err != nil || status.Deleting {
		t.Errorf("the refused deletion began: %+v (%v)", status, err)
	}
	if history := s.HistoryLines(r.id()); strings.Contains(history, "needs a change request") {
		t.Errorf("a refusal is in the history:\n%s", history)
	}
	if log := guarded.Log(); !strings.Contains(log, `"message refused"`) || !strings.Contains(log, `"verb":"delete"`) {
		t.Errorf("the worker logs no refusal:\n%s", log)
	}
	s.forgedStart(t)

	// What was decided is not part of the history: a worker without the authorizer goes on.
	guarded.Kill()
	w.StartWorker(harness.WorkerOptions{})
	s.MustCLI("unfreeze")
	s.MustReplay(r.id())
	s.MustCLI("delete", r.id(), "--yes", "--with-data", "--wait", "--timeout", "60s")
	if deletes := s.Sim.Count(http.MethodDelete, r.id()); deletes != 1 {
		t.Errorf("%d DELETEs, want the one that no policy refused", deletes)
	}
}

// forgedStart starts a run that is being deleted, past the messages that are decided about.
func (s scenarios) forgedStart(t *testing.T) {
	id, err := resource.ParseID(thing{group: "guarded", name: "forged"}.id())
	if err != nil {
		t.Fatal(err)
	}
	desired := resource.Desired{ID: id, Name: "forged", APIVersion: "2024-01-01", Body: []byte(`{}`)}
	run, err := s.Client.ExecuteWorkflow(t.Context(), client.StartWorkflowOptions{ID: id.WorkflowID(), TaskQueue: workflows.TaskQueue},
		workflows.ReconcileResourceWorkflow, workflows.ReconcileResourceInput{State: &workflows.State{
			Spec: workflows.Spec{Desired: &desired, Generation: 1}, Deletion: &workflows.Deletion{DeleteInput: workflows.DeleteInput{By: "attacker"}, Stage: workflows.DeletionRequested},
		}})
	if err != nil {
		t.Fatal(err)
	}
	s.Until(30*time.Second, "the forged run ends", func() (bool, string) {
		described, err := s.Client.DescribeWorkflowExecution(t.Context(), id.WorkflowID(), run.GetRunID())
		if err != nil {
			return false, err.Error()
		}
		status := described.GetWorkflowExecutionInfo().GetStatus().String()
		return status == "Canceled", status
	})
	if requests := s.Sim.Count(http.MethodDelete, id.String()) + s.Sim.Count(http.MethodGet, id.String()); requests != 0 {
		t.Errorf("the forged run sent %d requests", requests)
	}
}
