package main

import (
	"testing"
	"time"

	"github.com/armature-io/armature/payload"
	"github.com/armature-io/armature/workflows"
	"github.com/google/go-cmp/cmp"
	commonpb "go.temporal.io/api/common/v1"
	enumspb "go.temporal.io/api/enums/v1"
	workflowpb "go.temporal.io/api/workflow/v1"
	"go.temporal.io/api/workflowservice/v1"
	"google.golang.org/protobuf/types/known/timestamppb"
)

func TestStuck(t *testing.T) {
	failing := []string{"category=WorkflowTaskFailed", "cause=WorkflowTaskFailedCauseNonDeterministicError"}
	cases := map[string]struct {
		reason   string
		problems []string
		attempt  int32
		want     string
	}{
		"fine":      {reason: "a first attempt is every task", attempt: 1},
		"killed":    {reason: "a worker that was killed leaves a second attempt", attempt: 2},
		"again":     {reason: "the third is no accident", attempt: 3, want: "its workflow task fails (attempt 3)"},
		"listed":    {reason: "a list knows the cause and no attempt", problems: failing, want: "its workflow task fails (NonDeterministicError)"},
		"described": {reason: "a description knows both", problems: failing, attempt: 7, want: "its workflow task fails (NonDeterministicError, attempt 7)"},
		"timeout": {
			reason:   "a worker that takes too long",
			problems: []string{"category=WorkflowTaskTimedOut", "cause=WorkflowTaskTimedOutCauseStartToClose"}, want: "its workflow task times out (StartToClose)",
		},
		"unknown": {reason: "words of a newer server are no crash", problems: []string{"x", "y=z"}, want: "its workflow task fails"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if got := stuck(tc.problems, tc.attempt); got != tc.want {
				t.Errorf("%s: %q, want %q", tc.reason, got, tc.want)
			}
		})
	}
}

func TestRecordOfDescription(t *testing.T) {
	encode := func(value any) *commonpb.Payload {
		p, err := payload.DataConverter().ToPayload(value)
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	answer := &workflowservice.DescribeWorkflowExecutionResponse{
		WorkflowExecutionInfo: &workflowpb.WorkflowExecutionInfo{
			Execution: &commonpb.WorkflowExecution{WorkflowId: "w1", RunId: "r1"}, HistoryLength: 36,
			Status: enumspb.WORKFLOW_EXECUTION_STATUS_RUNNING, TaskQueue: "q7",
			StartTime: timestamppb.New(noon()),
			SearchAttributes: &commonpb.SearchAttributes{IndexedFields: map[string]*commonpb.Payload{
				attributeWaitingFor: encode([]string{"k1", "k2"}), attributeNeeds: encode("k3"),
				attributeProblems: encode([]string{"category=WorkflowTaskFailed"}),
			}},
			Memo: &commonpb.Memo{Fields: map[string]*commonpb.Payload{workflows.MemoPolicy: encode("detach-on-delete")}},
		},
		PendingActivities:   []*workflowpb.PendingActivityInfo{{}, {NextAttemptScheduleTime: timestamppb.New(noon().Add(time.Minute))}},
		PendingWorkflowTask: &workflowpb.PendingWorkflowTaskInfo{Attempt: 9},
	}
	got := newRecord(answer.GetWorkflowExecutionInfo())
	got.addPending(answer)
	want := record{
		WorkflowID: "w1", Policy: "detach-on-delete", WaitingFor: []string{"k1", "k2"}, Needs: []string{"k3"}, TaskQueue: "q7",
		Started: noon(), Stuck: "its workflow task fails (attempt 9)", NextLook: noon().Add(time.Minute), Running: true, RunID: "r1", Events: 36,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("a list of one may be a plain text (-want +got):\n%s", diff)
	}
}
