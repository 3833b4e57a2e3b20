package e2e

import (
	"context"
	"encoding/json"
	"net/http"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"

	"github.com/armature-io/armature/activities"
	"github.com/armature-io/armature/dev/internal/harness"
	"github.com/armature-io/armature/internal/payload"
	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/workflows"
)

// newKey makes a key as docs/security.md shows it, and returns its file and the public key.
func newKey(t *testing.T) (file, public string) {
	t.Helper()
	file = filepath.Join(t.TempDir(), "signing.pem")
	if out, err := exec.Command("openssl", "genpkey", "-algorithm", "ed25519", "-out", file).CombinedOutput(); err != nil {
		t.Fatalf("openssl genpkey: %v\n%s", err, out)
	}
	out, err := exec.Command("openssl", "pkey", "-in", file, "-pubout").Output()
	if err != nil {
		t.Fatal(err)
	}
	return file, strings.Split(string(out), "\n")[1]
}

// TestGuardForgedMessages applies, replays and deletes with a plain Temporal client, as a
// writer in the namespace may, against a worker that demands signatures.
//
//guard:signed-specs
func TestGuardForgedMessages(t *testing.T) {
	t.Parallel()
	key, public := newKey(t)
	other, otherPublic := newKey(t)
	w := harness.New(t, binaries, harness.Options{})
	w.StartWorker(harness.WorkerOptions{Env: []string{"ARMATURE_SIGNING_PUBLIC_KEYS=" + public + "," + otherPublic}})
	s := scenarios{w}
	s.putGroup("signed")
	r := thing{group: "signed", name: "signed", interval: "1h"}
	manifest := s.Write("signed.yaml", r.manifest("small"))
	puts := func() int { return s.Sim.Count(http.MethodPut, r.id()) }
	waitFor := func(reason resource.Reason) {
		t.Helper()
		s.UntilStatus(30*time.Second, r.id(), string(reason), func(status workflows.Status) bool { return status.Condition.Reason == reason })
	}

	s.MustCLI("apply", "-f", manifest)
	waitFor(resource.ReasonSignatureMissing)
	if n := puts(); n != 0 {
		t.Fatalf("%d PUTs of an unsigned spec", n)
	}
	s.MustCLI("apply", "-f", manifest, "--signing-key", key, "--wait", "--timeout", "30s")
	applied := s.desired(r)
	s.MustCLI("apply", "-f", s.Write("signed.yaml", r.manifest("large")), "--signing-key", other, "--wait", "--timeout", "30s")
	before := puts()

	forged := s.desired(r)
	forged.Body = json.RawMessage(strings.Replace(string(forged.Body), "large", "forged", 1))
	if err := s.update(r, workflows.ApplyUpdate, workflows.ApplyInput{Desired: forged, By: "ceo@headquarters"}); err != nil {
		t.Fatal(err)
	}
	waitFor(resource.ReasonSignatureInvalid)
	if err := s.update(r, workflows.ApplyUpdate, workflows.ApplyInput{Desired: applied}); err == nil || !strings.Contains(err.Error(), "is in force") {
		t.Errorf("a replayed apply: %v", err)
	}
	if err := s.update(r, workflows.DeleteUpdate, workflows.DeleteInput{By: "ceo@headquarters"}); err != nil {
		t.Fatal(err)
	}
	waitFor(resource.ReasonSignatureMissing)
	for name, input := range map[string]any{
		"PutResource":    activities.PutResourceInput{Desired: applied, PassFacts: activities.PassFacts{Mandate: activities.Mandate{Force: true}}, ObservedAt: time.Now()},
		"DeleteResource": activities.DeleteResourceInput{Desired: applied},
		"PurgeResource":  activities.PurgeResourceInput{Desired: applied},
	} {
		s.activity(name, input)
	}
	if deletes := s.Sim.Count(http.MethodDelete, r.id()); puts() != before || deletes != 0 {
		t.Errorf("%d PUTs and %d DELETEs of forged messages", puts()-before, deletes)
	}

	s.MustCLI("delete", r.id(), "--yes", "--signing-key", key, "--wait", "--timeout", "30s")
	if deletes := s.Sim.Count(http.MethodDelete, r.id()); deletes != 1 {
		t.Errorf("%d DELETEs of a signed deletion", deletes)
	}
	foreign, _ := newKey(t)
	for file, want := range map[string]string{key: "the worker accepts the key", foreign: "the worker does not accept the key", "": "no key is configured here"} {
		args := []string{"doctor"}
		if file != "" {
			args = append(args, "--signing-key", file)
		}
		if got := s.CLI(args...); !strings.Contains(got.Out, want) {
			t.Errorf("doctor with %q: %s, want %q", file, got, want)
		}
	}
}

// desired returns the spec in the history of the last apply.
func (s scenarios) desired(r thing) resource.Desired {
	s.T.Helper()
	var found resource.Desired
	for _, event := range s.History(r.id()).GetEvents() {
		request := event.GetWorkflowExecutionUpdateAcceptedEventAttributes().GetAcceptedRequest()
		if request.GetInput().GetName() != workflows.ApplyUpdate {
			continue
		}
		var input workflows.ApplyInput
		if err := payload.DataConverter().FromPayloads(request.GetInput().GetArgs(), &input); err != nil {
			s.T.Fatal(err)
		}
		found = input.Desired
	}
	return found
}

// update sends an update past the CLI.
func (s scenarios) update(r thing, name string, input any) error {
	handle, err := s.Client.UpdateWorkflow(s.T.Context(), client.UpdateWorkflowOptions{
		WorkflowID: s.WorkflowID(r.id()), UpdateName: name, WaitForStage: client.WorkflowUpdateStageCompleted, Args: []any{input},
	})
	if err != nil {
		return err
	}
	return handle.Get(s.T.Context(), nil)
}

// activity runs one activity of the worker from a workflow of another program.
func (s scenarios) activity(name string, input any) {
	s.T.Helper()
	queue := "foreign-" + name
	foreign := worker.New(s.Client, queue, worker.Options{})
	foreign.RegisterWorkflowWithOptions(func(ctx workflow.Context) error {
		ctx = workflow.WithActivityOptions(ctx, workflow.ActivityOptions{
			TaskQueue: workflows.TaskQueue, StartToCloseTimeout: 20 * time.Second, HeartbeatTimeout: 30 * time.Second,
		})
		return workflow.ExecuteActivity(ctx, name, input).Get(ctx, nil)
	}, workflow.RegisterOptions{Name: "foreign"})
	if err := foreign.Start(); err != nil {
		s.T.Fatal(err)
	}
	defer foreign.Stop()
	ctx, cancel := context.WithTimeout(s.T.Context(), 30*time.Second)
	defer cancel()
	started, err := s.Client.ExecuteWorkflow(ctx, client.StartWorkflowOptions{ID: queue, TaskQueue: queue, WorkflowExecutionTimeout: 25 * time.Second}, "foreign")
	if err != nil {
		s.T.Fatal(err)
	}
	s.T.Logf("%s ended with %v", name, started.Get(ctx, nil))
}
