package service

import (
	"context"
	"fmt"
	"reflect"
	"strings"
	"testing"

	commonpb "go.temporal.io/api/common/v1"
	historypb "go.temporal.io/api/history/v1"
	"go.temporal.io/api/workflowservice/v1"
	"google.golang.org/grpc"
	"google.golang.org/protobuf/proto"
)

// TestOnePayload holds that the payloads of two starts are one where they say the
// same, share their metadata where not, and say what they said.
func TestOnePayload(t *testing.T) {
	t.Parallel()
	text := func(kind, data string) *commonpb.Payload {
		p := &commonpb.Payload{Metadata: map[string][]byte{"encoding": []byte("json/plain")}, Data: []byte(data)}
		if kind != "" {
			p.Metadata["type"] = []byte(kind)
		}
		return p
	}
	history := func(name string) *historypb.History {
		return &historypb.History{Events: []*historypb.HistoryEvent{{Attributes: &historypb.HistoryEvent_WorkflowExecutionStartedEventAttributes{
			WorkflowExecutionStartedEventAttributes: &historypb.WorkflowExecutionStartedEventAttributes{
				Memo:             &commonpb.Memo{Fields: map[string]*commonpb.Payload{"name": text("", name), "bare": {Data: []byte("x")}}},
				SearchAttributes: &commonpb.SearchAttributes{IndexedFields: map[string]*commonpb.Payload{"ArmType": text("Keyword", "t"), "ArmOwner": text("Keyword", name)}},
				Input:            &commonpb.Payloads{Payloads: []*commonpb.Payload{text("", name)}},
			},
		}}}}
	}
	shared := newOnePayload()
	answer := func(reply any) {
		t.Helper()
		invoke := func(context.Context, string, any, any, *grpc.ClientConn, ...grpc.CallOption) error { return nil }
		if err := shared.intercept(t.Context(), "", nil, reply, nil, invoke); err != nil {
			t.Fatal(err)
		}
	}
	first := &workflowservice.PollWorkflowTaskQueueResponse{History: history("a")}
	second := &workflowservice.GetWorkflowExecutionHistoryResponse{History: history("b")}
	answer(first)
	answer(second)
	answer(&workflowservice.PollWorkflowTaskQueueResponse{})
	answer(&workflowservice.StartWorkflowExecutionResponse{})
	if !proto.Equal(first.History, history("a")) || !proto.Equal(second.History, history("b")) {
		t.Errorf("the histories say\n%v\n%v", first.History, second.History)
	}
	one := first.History.Events[0].GetWorkflowExecutionStartedEventAttributes()
	other := second.History.Events[0].GetWorkflowExecutionStartedEventAttributes()
	address := func(p *commonpb.Payload) uintptr { return reflect.ValueOf(p.GetMetadata()).Pointer() }
	if address(one.Memo.Fields["name"]) != address(other.Memo.Fields["name"]) {
		t.Error("two memos do not share their metadata")
	}
	if address(one.SearchAttributes.IndexedFields["ArmOwner"]) != address(other.SearchAttributes.IndexedFields["ArmOwner"]) {
		t.Error("two search attributes do not share their metadata")
	}
	if address(one.Input.Payloads[0]) != address(other.Input.Payloads[0]) {
		t.Error("two inputs do not share their metadata")
	}
	if one.SearchAttributes.IndexedFields["ArmType"] != other.SearchAttributes.IndexedFields["ArmType"] {
		t.Error("two search attributes that say the same are two")
	}
	for i := range 2 * sharedMost {
		answer(&workflowservice.PollWorkflowTaskQueueResponse{History: history(fmt.Sprint("name-", i))})
	}
	if kept := len(shared.names) + len(shared.metadata) + len(shared.payloads); kept > sharedMost+10 {
		t.Errorf("%d names and payloads are kept", kept)
	}
	long := strings.Repeat("x", sharedBytes+1)
	last := &workflowservice.PollWorkflowTaskQueueResponse{History: history(long)}
	answer(last)
	if !proto.Equal(last.History, history(long)) {
		t.Errorf("the history says\n%v", last.History)
	}
}
