package service

import (
	"context"
	"reflect"
	"testing"

	commonpb "go.temporal.io/api/common/v1"
	historypb "go.temporal.io/api/history/v1"
	"go.temporal.io/api/workflowservice/v1"
	"google.golang.org/grpc"
	"google.golang.org/protobuf/proto"
)

// TestOneMetadata holds that the payloads of two starts share their metadata, and
// say what they said.
func TestOneMetadata(t *testing.T) {
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
				SearchAttributes: &commonpb.SearchAttributes{IndexedFields: map[string]*commonpb.Payload{"ArmType": text("Keyword", name)}},
			},
		}}}}
	}
	shared := &oneMetadata{known: map[string]map[string][]byte{}}
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
	if address(one.SearchAttributes.IndexedFields["ArmType"]) != address(other.SearchAttributes.IndexedFields["ArmType"]) {
		t.Error("two search attributes do not share their metadata")
	}
}
