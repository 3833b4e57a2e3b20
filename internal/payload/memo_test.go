package payload_test

import (
	"context"
	"net"
	"testing"

	commandpb "go.temporal.io/api/command/v1"
	commonpb "go.temporal.io/api/common/v1"
	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/converter"
	"google.golang.org/grpc"

	"github.com/armature-io/armature/internal/payload"
)

// completions is a server that keeps the last completion of a workflow task.
type completions struct {
	workflowservice.UnimplementedWorkflowServiceServer
	received chan *workflowservice.RespondWorkflowTaskCompletedRequest
}

func (c completions) GetSystemInfo(context.Context, *workflowservice.GetSystemInfoRequest) (*workflowservice.GetSystemInfoResponse, error) {
	return &workflowservice.GetSystemInfoResponse{}, nil
}

func (c completions) RespondWorkflowTaskCompleted(_ context.Context, request *workflowservice.RespondWorkflowTaskCompletedRequest) (*workflowservice.RespondWorkflowTaskCompletedResponse, error) {
	c.received <- request
	return &workflowservice.RespondWorkflowTaskCompletedResponse{}, nil
}

// TestMemoOfTheNextRun continues a run whose memo has another key than the one that writes.
func TestMemoOfTheNextRun(t *testing.T) {
	t.Parallel()
	a, b := key("a", 1), key("b", 2)
	clear, first, rotated := payload.Clear(), converters(t, a), converters(t, b, a)
	off, err := payload.New(payload.Options{Keys: []payload.Key{a}})
	if err != nil {
		t.Fatal(err)
	}
	around := embedded(t, payload.Options{Keys: []payload.Key{a, b}, WriteKey: "b", Codecs: []converter.PayloadCodec{reversing{name: "outer"}}})
	cases := map[string]struct {
		reason         string
		before, worker *payload.Converters
		after          *payload.Converters
		want           string
	}{
		"rotated":  {"the key of the first run may be removed once its workflow has a new one", first, rotated, converters(t, b), "b"},
		"on":       {"what was written in clear before gets encrypted", clear, rotated, converters(t, b), "b"},
		"off":      {"all keys may be removed", first, off, clear, ""},
		"same":     {"nothing is to do", first, first, first, "a"},
		"unknown":  {"a worker without the key loses nothing", first, converters(t, b), first, "a"},
		"embedder": {"a codec of an embedder hides the key", first, around, around, ""},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			value, err := tc.before.Data.ToPayload("adx")
			if err != nil {
				t.Fatal(err)
			}
			memo := &commonpb.Memo{Fields: map[string]*commonpb.Payload{"name": value}}
			got := continued(t, tc.worker, memo).GetFields()["name"]
			if id := payload.KeyID(got); id != tc.want {
				t.Errorf("the next run has the key %q, want %q: %s", id, tc.want, tc.reason)
			}
			var text string
			if err := tc.after.Data.FromPayload(got, &text); err != nil || text != "adx" {
				t.Errorf("the next run has the memo %q (%v): %s", text, err, tc.reason)
			}
			if memo.GetFields()["name"] != value {
				t.Error("the memo of the run itself was changed")
			}
		})
	}
}

// continued returns the memo that a server gets for the next run.
func continued(t *testing.T, c *payload.Converters, memo *commonpb.Memo) *commonpb.Memo {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	received := make(chan *workflowservice.RespondWorkflowTaskCompletedRequest, 1)
	server := grpc.NewServer()
	workflowservice.RegisterWorkflowServiceServer(server, completions{received: received})
	go func() { _ = server.Serve(listener) }()
	t.Cleanup(server.Stop)
	options := client.Options{HostPort: listener.Addr().String()}
	c.Apply(&options)
	temporal, err := client.NewLazyClient(options)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(temporal.Close)
	if _, err := temporal.WorkflowService().RespondWorkflowTaskCompleted(t.Context(), &workflowservice.RespondWorkflowTaskCompletedRequest{
		Commands: []*commandpb.Command{{
			CommandType: enumspb.COMMAND_TYPE_CONTINUE_AS_NEW_WORKFLOW_EXECUTION,
			Attributes: &commandpb.Command_ContinueAsNewWorkflowExecutionCommandAttributes{
				ContinueAsNewWorkflowExecutionCommandAttributes: &commandpb.ContinueAsNewWorkflowExecutionCommandAttributes{Memo: memo},
			},
		}},
	}); err != nil {
		t.Fatal(err)
	}
	return (<-received).GetCommands()[0].GetContinueAsNewWorkflowExecutionCommandAttributes().GetMemo()
}
