package histories_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	commonpb "go.temporal.io/api/common/v1"
	enumspb "go.temporal.io/api/enums/v1"
	failurepb "go.temporal.io/api/failure/v1"
	historypb "go.temporal.io/api/history/v1"
	sdkpb "go.temporal.io/api/sdk/v1"
	"go.temporal.io/sdk/client"
	"google.golang.org/protobuf/testing/protocmp"
	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/armature-io/armature/dev/internal/histories"
	"github.com/armature-io/armature/internal/payload"
)

const planted = "planted-secret-4711"

func TestLines(t *testing.T) {
	lines, err := histories.Lines(t.Context(), sample(t))
	if err != nil {
		t.Fatal(err)
	}
	wants := [][]string{
		{"ReconcileResource", planted},
		{"CheckOwner", `owner "c1" is Ready`, `{"action":"Proceed"}`},
		{`"attempt":3`, "poll 2"},
		{"TIMER_STARTED", "30s", "blocked: c1 is Updating"},
	}
	if len(lines) != len(wants) {
		t.Fatalf("%d lines, want %d", len(lines), len(wants))
	}
	for i, line := range lines {
		for _, want := range wants[i] {
			if !strings.Contains(line, want) {
				t.Errorf("line %d lacks %q: %s", i+1, want, line)
			}
		}
	}
}

// TestTextsAreComplete plants a secret in each kind of field: a leak in one that
// is not searched would stay unseen.
func TestTextsAreComplete(t *testing.T) {
	plain, err := payload.DataConverter().ToPayload(map[string]string{"key": planted})
	if err != nil {
		t.Fatal(err)
	}
	long := ""
	for i := range 500 {
		long += fmt.Sprintf("item %d of %x; ", i, i*7919)
	}
	compressed, err := payload.DataConverter().ToPayload(long + planted)
	if err != nil {
		t.Fatal(err)
	}
	if bytes.Contains(compressed.GetData(), []byte(planted)) {
		t.Fatal("the payload was not compressed, so the test proves nothing")
	}
	started := func(a *historypb.WorkflowExecutionStartedEventAttributes) *historypb.History {
		return &historypb.History{Events: []*historypb.HistoryEvent{{
			Attributes: &historypb.HistoryEvent_WorkflowExecutionStartedEventAttributes{WorkflowExecutionStartedEventAttributes: a},
		}}}
	}
	cases := map[string]struct {
		reason  string
		history *historypb.History
	}{
		"input": {
			reason:  "inputs are lists of payloads",
			history: started(&historypb.WorkflowExecutionStartedEventAttributes{Input: &commonpb.Payloads{Payloads: []*commonpb.Payload{plain}}}),
		},
		"compressed": {
			reason:  "the codec hides its content from a plain search",
			history: started(&historypb.WorkflowExecutionStartedEventAttributes{Input: &commonpb.Payloads{Payloads: []*commonpb.Payload{compressed}}}),
		},
		"memo": {
			reason:  "memo is a map of payloads",
			history: started(&historypb.WorkflowExecutionStartedEventAttributes{Memo: &commonpb.Memo{Fields: map[string]*commonpb.Payload{"m": plain}}}),
		},
		"failure message": {
			reason:  "failure messages are plain strings, causes nest",
			history: started(&historypb.WorkflowExecutionStartedEventAttributes{ContinuedFailure: &failurepb.Failure{Cause: &failurepb.Failure{Message: "x " + planted}}}),
		},
		"failure details": {
			reason: "details of an application failure are payloads",
			history: started(&historypb.WorkflowExecutionStartedEventAttributes{ContinuedFailure: &failurepb.Failure{
				FailureInfo: &failurepb.Failure_ApplicationFailureInfo{ApplicationFailureInfo: &failurepb.ApplicationFailureInfo{
					Details: &commonpb.Payloads{Payloads: []*commonpb.Payload{compressed}},
				}},
			}}),
		},
		"summary": {
			reason: "user metadata is beside the attributes",
			history: &historypb.History{Events: []*historypb.HistoryEvent{{
				UserMetadata: &sdkpb.UserMetadata{Summary: plain},
			}}},
		},
		"map key": {
			reason:  "a key may be the secret",
			history: started(&historypb.WorkflowExecutionStartedEventAttributes{Header: &commonpb.Header{Fields: map[string]*commonpb.Payload{planted: {}}}}),
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			texts, err := histories.Texts(tc.history)
			if err != nil {
				t.Fatal(err)
			}
			if !strings.Contains(strings.Join(texts, "\n"), planted) {
				t.Errorf("the planted value is not found: %s", tc.reason)
			}
		})
	}
}

func TestMarshal(t *testing.T) {
	want := sample(t)
	first, err := histories.Marshal(want)
	if err != nil {
		t.Fatal(err)
	}
	got, err := client.HistoryFromJSON(bytes.NewReader(first), client.HistoryJSONOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got, protocmp.Transform()); diff != "" {
		t.Errorf("the decoded history differs (-want +got):\n%s", diff)
	}
	second, err := histories.Marshal(got)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(first), string(second)); diff != "" {
		t.Errorf("a second encoding differs (-first +second):\n%s", diff)
	}
}

func sample(t *testing.T) *historypb.History {
	t.Helper()
	encode := func(value any) *commonpb.Payload {
		p, err := payload.DataConverter().ToPayload(value)
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	list := func(value any) *commonpb.Payloads {
		return &commonpb.Payloads{Payloads: []*commonpb.Payload{encode(value)}}
	}
	history := &historypb.History{Events: []*historypb.HistoryEvent{
		{
			EventType: enumspb.EVENT_TYPE_WORKFLOW_EXECUTION_STARTED,
			Attributes: &historypb.HistoryEvent_WorkflowExecutionStartedEventAttributes{
				WorkflowExecutionStartedEventAttributes: &historypb.WorkflowExecutionStartedEventAttributes{
					WorkflowType: &commonpb.WorkflowType{Name: "ReconcileResource"},
					Input:        list(strings.Repeat("long ", 1000) + planted),
				},
			},
		},
		{
			EventType: enumspb.EVENT_TYPE_MARKER_RECORDED,
			Attributes: &historypb.HistoryEvent_MarkerRecordedEventAttributes{
				MarkerRecordedEventAttributes: &historypb.MarkerRecordedEventAttributes{
					MarkerName: "LocalActivity",
					Details: map[string]*commonpb.Payloads{
						"data":   list(map[string]any{"ActivityID": "1", "ActivityType": "CheckOwner"}),
						"result": list(map[string]string{"action": "Proceed"}),
					},
				},
			},
			UserMetadata: &sdkpb.UserMetadata{Summary: encode(`owner "c1" is Ready`)},
		},
		{
			EventType: enumspb.EVENT_TYPE_ACTIVITY_TASK_STARTED,
			Attributes: &historypb.HistoryEvent_ActivityTaskStartedEventAttributes{
				ActivityTaskStartedEventAttributes: &historypb.ActivityTaskStartedEventAttributes{
					ScheduledEventId: 2, Attempt: 3,
					LastFailure: &failurepb.Failure{Message: "still running", Cause: &failurepb.Failure{Message: "poll 2"}},
				},
			},
		},
		{
			EventType: enumspb.EVENT_TYPE_TIMER_STARTED,
			Attributes: &historypb.HistoryEvent_TimerStartedEventAttributes{
				TimerStartedEventAttributes: &historypb.TimerStartedEventAttributes{
					StartToFireTimeout: durationpb.New(30 * time.Second),
				},
			},
			UserMetadata: &sdkpb.UserMetadata{Summary: encode("blocked: c1 is Updating")},
		},
	}}
	for i, event := range history.Events {
		event.EventId = int64(i + 1)
		event.EventTime = timestamppb.New(time.Date(2026, 1, 2, 12, 3, 4, 5e6, time.UTC))
	}
	return history
}
