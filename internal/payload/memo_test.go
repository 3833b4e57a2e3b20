package payload_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"strings"
	"testing"

	commandpb "go.temporal.io/api/command/v1"
	commonpb "go.temporal.io/api/common/v1"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/log"
	"google.golang.org/grpc"

	"github.com/armature-io/armature/internal/payload"
)

// requests is a server that keeps the requests that it gets.
type requests struct {
	workflowservice.UnimplementedWorkflowServiceServer
	received chan any
}

func (r requests) GetSystemInfo(context.Context, *workflowservice.GetSystemInfoRequest) (*workflowservice.GetSystemInfoResponse, error) {
	return &workflowservice.GetSystemInfoResponse{}, nil
}

func (r requests) StartWorkflowExecution(_ context.Context, request *workflowservice.StartWorkflowExecutionRequest) (*workflowservice.StartWorkflowExecutionResponse, error) {
	r.received <- request
	return &workflowservice.StartWorkflowExecutionResponse{RunId: "run"}, nil
}

func (r requests) SignalWithStartWorkflowExecution(_ context.Context, request *workflowservice.SignalWithStartWorkflowExecutionRequest) (*workflowservice.SignalWithStartWorkflowExecutionResponse, error) {
	r.received <- request
	return &workflowservice.SignalWithStartWorkflowExecutionResponse{RunId: "run"}, nil
}

func (r requests) ExecuteMultiOperation(_ context.Context, request *workflowservice.ExecuteMultiOperationRequest) (*workflowservice.ExecuteMultiOperationResponse, error) {
	r.received <- request
	return &workflowservice.ExecuteMultiOperationResponse{}, nil
}

func (r requests) RespondWorkflowTaskCompleted(_ context.Context, request *workflowservice.RespondWorkflowTaskCompletedRequest) (*workflowservice.RespondWorkflowTaskCompletedResponse, error) {
	r.received <- request
	return &workflowservice.RespondWorkflowTaskCompletedResponse{}, nil
}

// serve returns a client with the converters, and the requests that its server gets.
func serve(t *testing.T, c *payload.Converters, logged io.Writer) (client.Client, <-chan any) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	received := make(chan any, 1)
	server := grpc.NewServer(grpc.MaxRecvMsgSize(64 << 20))
	workflowservice.RegisterWorkflowServiceServer(server, requests{received: received})
	go func() { _ = server.Serve(listener) }()
	t.Cleanup(server.Stop)
	options := client.Options{HostPort: listener.Addr().String(), Namespace: runPlace.Namespace, Logger: log.NewStructuredLogger(slog.New(slog.NewTextHandler(logged, nil)))}
	c.Apply(&options)
	temporal, err := client.NewLazyClient(options)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(temporal.Close)
	return temporal, received
}

// runPlace is the place of the run that continues.
var runPlace = payload.Place{Namespace: "prod", WorkflowID: "adx"}

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
			value, err := payload.At(runPlace, tc.before.Data).ToPayload("adx")
			if err != nil {
				t.Fatal(err)
			}
			memo := &commonpb.Memo{Fields: map[string]*commonpb.Payload{"name": value}}
			got := continued(t, tc.worker, memo).GetFields()["name"]
			if id := payload.KeyID(got); id != tc.want {
				t.Errorf("the next run has the key %q, want %q: %s", id, tc.want, tc.reason)
			}
			var text string
			if err := payload.At(runPlace, tc.after.Data).FromPayload(got, &text); err != nil || text != "adx" {
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
	temporal, received := serve(t, c, io.Discard)
	if _, err := temporal.WorkflowService().RespondWorkflowTaskCompleted(t.Context(), completion(memo)); err != nil {
		t.Fatal(err)
	}
	return memos(<-received)["continue as new"]
}

// completion completes a workflow task of runPlace with a memo in each command that has one.
func completion(memo *commonpb.Memo) *workflowservice.RespondWorkflowTaskCompletedRequest {
	return &workflowservice.RespondWorkflowTaskCompletedRequest{
		Namespace: runPlace.Namespace, ResourceId: "workflow:" + runPlace.WorkflowID,
		Commands: []*commandpb.Command{
			{Attributes: &commandpb.Command_ContinueAsNewWorkflowExecutionCommandAttributes{
				ContinueAsNewWorkflowExecutionCommandAttributes: &commandpb.ContinueAsNewWorkflowExecutionCommandAttributes{Memo: memo},
			}},
			{Attributes: &commandpb.Command_ModifyWorkflowPropertiesCommandAttributes{
				ModifyWorkflowPropertiesCommandAttributes: &commandpb.ModifyWorkflowPropertiesCommandAttributes{UpsertedMemo: memo},
			}},
			{Attributes: &commandpb.Command_StartChildWorkflowExecutionCommandAttributes{
				StartChildWorkflowExecutionCommandAttributes: &commandpb.StartChildWorkflowExecutionCommandAttributes{WorkflowId: "child", Memo: memo},
			}},
			{Attributes: &commandpb.Command_StartTimerCommandAttributes{}},
		},
	}
}

// memos returns the memos of a request by their kind.
func memos(request any) map[string]*commonpb.Memo {
	switch r := request.(type) {
	case *workflowservice.StartWorkflowExecutionRequest:
		return map[string]*commonpb.Memo{"start": r.GetMemo()}
	case *workflowservice.SignalWithStartWorkflowExecutionRequest:
		return map[string]*commonpb.Memo{"signal with start": r.GetMemo()}
	case *workflowservice.ExecuteMultiOperationRequest:
		return map[string]*commonpb.Memo{"start of several operations": r.GetOperations()[0].GetStartWorkflow().GetMemo()}
	case *workflowservice.RespondWorkflowTaskCompletedRequest:
		return map[string]*commonpb.Memo{
			"continue as new": r.GetCommands()[0].GetContinueAsNewWorkflowExecutionCommandAttributes().GetMemo(),
			"upsert":          r.GetCommands()[1].GetModifyWorkflowPropertiesCommandAttributes().GetUpsertedMemo(),
			"child":           r.GetCommands()[2].GetStartChildWorkflowExecutionCommandAttributes().GetMemo(),
		}
	}
	return nil
}

// TestMemosAreSealed sends a memo in clear, which is how the SDK writes a value that the data
// converter cannot encode, in each request that has one: it leaves encrypted, bound to its
// workflow, or the call fails.
//
//guard:what-is-encrypted-stays-whole
func TestMemosAreSealed(t *testing.T) {
	t.Parallel()
	a := key("a", 1)
	failing := embedded(t, payload.Options{Keys: []payload.Key{a}, WriteKey: "a", Codecs: []converter.PayloadCodec{reversing{name: "outer", err: errors.New("the server of keys is away")}}})
	text := strings.Repeat("planted", 10)
	large := strings.Repeat("planted", payload.MaxSize/7+1)
	send := map[string]func(workflowservice.WorkflowServiceClient, string, *commonpb.Memo) error{
		"start": func(server workflowservice.WorkflowServiceClient, id string, memo *commonpb.Memo) error {
			_, err := server.StartWorkflowExecution(t.Context(), &workflowservice.StartWorkflowExecutionRequest{Namespace: runPlace.Namespace, WorkflowId: id, Memo: memo})
			return err
		},
		"signal with start": func(server workflowservice.WorkflowServiceClient, id string, memo *commonpb.Memo) error {
			_, err := server.SignalWithStartWorkflowExecution(t.Context(), &workflowservice.SignalWithStartWorkflowExecutionRequest{Namespace: runPlace.Namespace, WorkflowId: id, Memo: memo})
			return err
		},
		"several operations": func(server workflowservice.WorkflowServiceClient, id string, memo *commonpb.Memo) error {
			_, err := server.ExecuteMultiOperation(t.Context(), &workflowservice.ExecuteMultiOperationRequest{Operations: []*workflowservice.ExecuteMultiOperationRequest_Operation{
				{Operation: &workflowservice.ExecuteMultiOperationRequest_Operation_StartWorkflow{StartWorkflow: &workflowservice.StartWorkflowExecutionRequest{Namespace: runPlace.Namespace, WorkflowId: id, Memo: memo}}},
				{Operation: &workflowservice.ExecuteMultiOperationRequest_Operation_UpdateWorkflow{UpdateWorkflow: &workflowservice.UpdateWorkflowExecutionRequest{}}},
			}})
			return err
		},
		"commands": func(server workflowservice.WorkflowServiceClient, id string, memo *commonpb.Memo) error {
			request := completion(memo)
			request.ResourceId = "workflow:" + id
			_, err := server.RespondWorkflowTaskCompleted(t.Context(), request)
			return err
		},
	}
	for name, send := range send {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for value, c := range map[string]*payload.Converters{text: converters(t, a), large: converters(t, a), text + " ": failing} {
				var logged bytes.Buffer
				temporal, received := serve(t, c, &logged)
				clear := &commonpb.Payload{Metadata: metadata("json/plain"), Data: []byte(`"` + value + `"`)}
				memo := &commonpb.Memo{Fields: map[string]*commonpb.Payload{"name": clear}}
				err := send(temporal.WorkflowService(), runPlace.WorkflowID, memo)
				if value != text {
					if err == nil || !strings.Contains(err.Error(), "the memo name cannot be encoded") || strings.Contains(err.Error(), "planted") {
						t.Errorf("a memo of %d bytes that cannot be encoded: %v", len(value), err)
					}
					if len(received) > 0 {
						t.Error("the request was sent")
					}
					if said := strings.Contains(logged.String(), "the memo name cannot be encoded"); said != (name == "commands") {
						t.Errorf("the log says %q", &logged)
					}
					continue
				}
				if err != nil {
					t.Fatal(err)
				}
				for kind, memo := range memos(<-received) {
					place := runPlace
					if kind == "child" {
						place.WorkflowID = kind
					}
					if sent := memo.GetFields()["name"]; payload.KeyID(sent) != "a" || payload.PlaceOf(sent) != place {
						t.Errorf("%s: the memo has the key %q and is bound to %s, want a and %s", kind, payload.KeyID(sent), payload.PlaceOf(sent), place)
					}
				}
				if memo.GetFields()["name"] != clear {
					t.Error("the memo of the caller was changed")
				}
			}
			for _, c := range []*payload.Converters{converters(t, a), failing} {
				temporal, received := serve(t, c, io.Discard)
				memo := &commonpb.Memo{Fields: map[string]*commonpb.Payload{"frozen": {Metadata: metadata("json/plain"), Data: []byte("[]")}}}
				if err := send(temporal.WorkflowService(), payload.ClearWorkflowID, memo); err != nil && c != failing {
					t.Errorf("a freeze without the key: %v", err)
				}
				if c == failing && name == "commands" {
					continue // the child is no freeze
				}
				for kind, memo := range memos(<-received) {
					if encoding := string(memo.GetFields()["frozen"].GetMetadata()[converter.MetadataEncoding]); kind != "child" && encoding != "json/plain" {
						t.Errorf("%s: the memo of a freeze is encoded as %s", kind, encoding)
					}
				}
			}
		})
	}
}

// TestMemoOfAStart starts a workflow with a memo that no codec encodes, by the SDK.
func TestMemoOfAStart(t *testing.T) {
	t.Parallel()
	temporal, received := serve(t, converters(t, key("a", 1)), io.Discard)
	_, err := temporal.ExecuteWorkflow(t.Context(), client.StartWorkflowOptions{
		ID: runPlace.WorkflowID, TaskQueue: "q", Memo: map[string]any{"name": strings.Repeat("planted", payload.MaxSize/7+1)},
	}, "Any")
	if err == nil || !strings.Contains(err.Error(), "the memo name cannot be encoded") {
		t.Errorf("the start returned %v", err)
	}
	if len(received) > 0 {
		t.Error("the memo left in clear")
	}
}
