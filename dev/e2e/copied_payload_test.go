package e2e

import (
	"context"
	"testing"
	"time"

	commonpb "go.temporal.io/api/common/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/converter"

	"github.com/armature-io/armature/dev/internal/harness"
	"github.com/armature-io/armature/dev/internal/histories"
	"github.com/armature-io/armature/internal/payload"
	"github.com/armature-io/armature/workflows"
)

// TestCopiedPayload takes an encrypted message of one resource from its history and sends it to
// another, without the key: nothing happens to the other one.
//
//guard:what-is-encrypted-stays-whole
func TestCopiedPayload(t *testing.T) {
	t.Parallel()
	w := harness.New(t, binaries, harness.Options{Converters: bothKeys(t)})
	w.Env = append(w.Env, keyEnv("a", "a")...)
	s := scenarios{w}
	s.putGroup("sealed")
	w.StartWorker(harness.WorkerOptions{})
	ids := map[string]string{}
	for _, name := range []string{"one", "two"} {
		ids[name] = thing{group: "sealed", name: name}.id()
		s.MustCLI("apply", "-f", s.Write(name+".yaml", sealedManifest(name, "small", "x")), "--wait", "--timeout", "60s")
	}
	s.MustCLI("pause", ids["one"])
	pause := s.acceptedInput(ids["one"], workflows.PauseUpdate)
	if place := payload.PlaceOf(pause); place != (payload.Place{Namespace: client.DefaultNamespace, WorkflowID: w.WorkflowID(ids["one"])}) {
		t.Fatalf("the message is bound to %s", place)
	}
	attacker, err := client.NewClientFromExisting(w.Client, client.Options{DataConverter: payload.DataConverter()})
	if err != nil {
		t.Fatal(err)
	}
	defer attacker.Close()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	handle, err := attacker.UpdateWorkflow(ctx, client.UpdateWorkflowOptions{
		WorkflowID: w.WorkflowID(ids["two"]), UpdateName: workflows.PauseUpdate,
		Args: []any{converter.NewRawValue(pause)}, WaitForStage: client.WorkflowUpdateStageCompleted,
	})
	if err == nil {
		err = handle.Get(ctx, nil)
	}
	if err == nil {
		t.Error("the copied message was accepted")
	}
	t.Logf("the copied message ends with: %v", err)
	s.MustCLI("reconcile", ids["two"], "--wait", "--timeout", "60s")
	s.UntilStatus(time.Minute, ids["two"], "runs on", func(status workflows.Status) bool {
		return status.Phase == workflows.PhaseReady && status.Pass > 1
	})
	// The message is readable at its own place.
	s.MustCLI("resume", ids["one"])
}

// acceptedInput returns the payload of the last accepted update of a name.
func (s scenarios) acceptedInput(id, name string) *commonpb.Payload {
	s.T.Helper()
	history, err := histories.Fetch(s.T.Context(), s.Client, s.WorkflowID(id), "")
	if err != nil {
		s.T.Fatal(err)
	}
	var input *commonpb.Payload
	for _, event := range history.GetEvents() {
		if of := event.GetWorkflowExecutionUpdateAcceptedEventAttributes().GetAcceptedRequest().GetInput(); of.GetName() == name {
			input = of.GetArgs().GetPayloads()[0]
		}
	}
	if input == nil {
		s.T.Fatalf("no update %s of %s was accepted", name, id)
	}
	return input
}
