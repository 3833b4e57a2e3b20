package e2e

import (
	"strings"
	"testing"
	"time"

	commonpb "go.temporal.io/api/common/v1"
	enumspb "go.temporal.io/api/enums/v1"
	updatepb "go.temporal.io/api/update/v1"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/converter"

	"github.com/armature-io/armature/dev/internal/harness"
	"github.com/armature-io/armature/dev/temporaldev"
	"github.com/armature-io/armature/internal/audit"
	"github.com/armature-io/armature/internal/testonly/issuer"
	"github.com/armature-io/armature/workflows"
)

// TestSenders checks that the audit trail names the verified senders of messages, and that a
// write refers to the message that caused it. A token that is refused, or copied to another
// message, refuses that message; an issuer out of reach stops nothing.
//
//guard:the-hook-of-an-embedder
func TestSenders(t *testing.T) {
	t.Parallel()
	pipelines, people := issuer.Start(t), issuer.Start(t)
	folder := t.TempDir()
	w := harness.New(t, binaries, harness.Options{})
	encryption := keyEnv("a", "a")
	options := auditedOptions(t, folder)
	options.Env = append(options.Env, "ARMATURE_CALLERS_ISSUERS="+pipelines.URL+"=armature,"+people.URL+"=app")
	options.Env = append(options.Env, encryption...)
	s := scenarios{w}
	ann := people.Token("app", "ann", nil)
	as := func(token string, args ...string) harness.Result {
		return s.CLIWith("", append([]string{"ARMATURE_TOKEN=" + token}, encryption...), args...)
	}
	must := func(token string, args ...string) {
		t.Helper()
		if result := as(token, args...); result.Code != 0 {
			t.Fatal(result)
		}
	}
	// The first freeze starts its workflow, before a worker runs.
	must(ann, "freeze", "--selector", "stage=none", "--reason", "INC-1")
	worker := w.StartWorker(options)
	s.putGroup("senders")
	r := thing{group: "senders", name: "sent", interval: "1h"}
	file := s.Write("sent.yaml", r.manifest("small"))
	ci := pipelines.Token("armature", "repo:org/infra:ref:refs/heads/main", nil)
	must(ci, "apply", "-f", file, "--wait", "--timeout", "2m")
	must(ann, "freeze", "--selector", "stage=other", "--reason", "INC-2")
	must(ann, "unfreeze", "--selector", "stage=other")
	must(ann, "pause", r.id(), "--reason", "lunch")
	must("", "resume", r.id())

	expired := people.Token("app", "ann", map[string]any{"exp": 1})
	if result := as(expired, "pause", r.id(), "--reason", "INC-3"); result.Code != 1 || !strings.Contains(result.Err, "token refused: it expired at") {
		t.Errorf("an expired token:\n%s", result)
	}
	if failure := copyToken(t, s, r); !strings.Contains(failure, "valid for that one only") {
		t.Errorf("a copied token: %q, want a refusal", failure)
	}
	people.Down.Store(true)
	pipelines.Down.Store(true)
	must(ci, "delete", r.id(), "--yes", "--wait", "--timeout", "2m")
	checkSenders(t, s, folder, map[audit.Event][]string{
		audit.EventApply: {"repo:org/infra:ref:refs/heads/main"}, audit.EventFreeze: {"ann", "ann"}, audit.EventUnfreeze: {"ann"},
		audit.EventPause: {"ann"}, audit.EventResume: {""}, audit.EventDelete: {"repo:org/infra:ref:refs/heads/main"},
	})
	_, trail := auditTrail(t, folder)
	for place, texts := range map[string][]string{"the trail": {trail}, "the log": {worker.Log()}, "Temporal": s.Texts()} {
		for _, text := range texts {
			for _, token := range []string{ci, ann, expired} {
				if strings.Contains(text, strings.Split(token, ".")[2]) {
					t.Fatalf("%s contains a token: %.300s", place, text)
				}
			}
		}
	}
}

// checkSenders compares the verified senders of the requests in the trail, "" for one that is
// not verified, and the requests to which the writes refer.
func checkSenders(t *testing.T, s scenarios, folder string, want map[audit.Event][]string) {
	t.Helper()
	var events map[audit.Event][]audit.Record
	s.Until(2*time.Minute, "all requests are in the trail", func() (bool, string) {
		events = map[audit.Event][]audit.Record{}
		for event, records := range eventsOf(t, folder) {
			for _, record := range records {
				if record.Result != audit.ResultRefused || event == audit.EventWrite {
					events[event] = append(events[event], record)
				}
			}
		}
		for event, senders := range want {
			for _, record := range events[event] {
				if record.Result == audit.ResultReceived {
					return false, "the effect of " + string(event) + " is not there"
				}
			}
			if len(events[event]) < len(senders) {
				return false, string(event) + " is not there"
			}
		}
		return true, ""
	})
	for event, senders := range want {
		for i, record := range events[event] {
			if i >= len(senders) {
				t.Errorf("%d events %s, want %d", len(events[event]), event, len(senders))
				break
			}
			by, name := record.By, senders[i]
			if by == nil || by.Verified != (name != "") || name != "" && (by.Name != name || by.Method != audit.MethodOIDC || by.Issuer == "" || !strings.Contains(by.Stated, "@")) {
				t.Errorf("%s is by %+v, want %q", event, by, name)
			}
		}
	}
	caused := map[string]audit.Event{"PUT": audit.EventApply, "DELETE": audit.EventDelete}
	for _, write := range events[audit.EventWrite] {
		if cause := events[caused[write.Method]]; len(cause) != 1 || write.Request != cause[0].Key {
			t.Errorf("the %s refers to %q, want the line %+v", write.Method, write.Request, cause)
		}
	}
	if writes := len(events[audit.EventWrite]); writes != 2 {
		t.Errorf("%d writes, want a PUT and a DELETE", writes)
	}
}

// copyToken sends a pause with the header of the apply of a resource, as a writer of the
// namespace without a key of the encryption can, and returns how it failed.
func copyToken(t *testing.T, s scenarios, r thing) string {
	t.Helper()
	var header *commonpb.Header
	for _, event := range s.History(r.id()).GetEvents() {
		request := event.GetWorkflowExecutionUpdateAcceptedEventAttributes().GetAcceptedRequest()
		if request.GetInput().GetName() == workflows.ApplyUpdate {
			header = request.GetInput().GetHeader()
		}
	}
	if header.GetFields()[workflows.TokenHeader] == nil {
		t.Fatal("the apply has no token to copy")
	}
	args, err := converter.GetDefaultDataConverter().ToPayloads(workflows.PauseInput{By: "eve@host", Reason: "INC-4"})
	if err != nil {
		t.Fatal(err)
	}
	response, err := s.Client.WorkflowService().UpdateWorkflowExecution(t.Context(), &workflowservice.UpdateWorkflowExecutionRequest{
		Namespace: temporaldev.Namespace, WorkflowExecution: &commonpb.WorkflowExecution{WorkflowId: s.WorkflowID(r.id())},
		WaitPolicy: &updatepb.WaitPolicy{LifecycleStage: enumspb.UPDATE_WORKFLOW_EXECUTION_LIFECYCLE_STAGE_COMPLETED},
		Request: &updatepb.Request{
			Meta: &updatepb.Meta{UpdateId: "copied", Identity: "eve"}, Input: &updatepb.Input{Name: workflows.PauseUpdate, Args: args, Header: header},
		},
	})
	if err != nil {
		return err.Error()
	}
	if response.GetOutcome().GetFailure() == nil {
		return ""
	}
	return bothKeys(t).Failure.FailureToError(response.GetOutcome().GetFailure()).Error()
}
