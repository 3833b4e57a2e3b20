package backend

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/armature-io/armature/internal/payload"
	"github.com/armature-io/armature/internal/searchattr"
	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/workflows"
	"github.com/google/go-cmp/cmp"
	commonpb "go.temporal.io/api/common/v1"
	enumspb "go.temporal.io/api/enums/v1"
	failurepb "go.temporal.io/api/failure/v1"
	workflowpb "go.temporal.io/api/workflow/v1"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/converter"
	"google.golang.org/protobuf/types/known/timestamppb"
)

// noon returns the time of the tests.
func noon() time.Time { return time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC) }

func mustID(t *testing.T, text string) resource.ID {
	t.Helper()
	id, err := resource.ParseID(text)
	if err != nil {
		t.Fatal(err)
	}
	return id
}

func TestNewRecord(t *testing.T) {
	encode := func(value any) *commonpb.Payload {
		p, err := payload.DataConverter().ToPayload(value)
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	attribute, err := converter.GetDefaultDataConverter().ToPayload("Blocked")
	if err != nil {
		t.Fatal(err)
	}
	long := "/subscriptions/11111111-2222-3333-4444-555555555555/resourceGroups/rg1" + "/providers/Microsoft.Storage/storageAccounts/" + strings.Repeat("x", 3000)
	got := newRecord(newDecoder(payload.Clear(), "default"), &workflowpb.WorkflowExecutionInfo{
		Execution:        &commonpb.WorkflowExecution{WorkflowId: "w1"},
		Status:           enumspb.WORKFLOW_EXECUTION_STATUS_TERMINATED,
		SearchAttributes: &commonpb.SearchAttributes{IndexedFields: map[string]*commonpb.Payload{searchattr.ReconcilePhase: attribute}},
		Memo:             &commonpb.Memo{Fields: map[string]*commonpb.Payload{workflows.MemoID: encode(long), workflows.MemoName: encode("x")}},
	})
	if got.ID.String() != long || got.Name != "x" || got.Phase != workflows.PhaseBlocked || got.Running || got.Ended != "Terminated" {
		t.Errorf("record is %+v: a compressed memo and plain attributes must be read", got)
	}
	if broken := newRecord(newDecoder(payload.Clear(), "default"), &workflowpb.WorkflowExecutionInfo{Execution: &commonpb.WorkflowExecution{WorkflowId: "w2"}}); broken.DisplayName() != "w2" {
		t.Errorf("a workflow without memo has the name %q, want its workflow ID", broken.DisplayName())
	}
}

// TestRequiredRow checks that a row with a clear memo is unreadable if its run began after
// encryption was required. Its search attributes are clear always.
func TestRequiredRow(t *testing.T) {
	began := time.Date(2026, 12, 1, 0, 0, 0, 0, time.UTC)
	c, err := payload.New(payload.Options{WriteKey: "a", Keys: []payload.Key{{ID: "a", Secret: bytes.Repeat([]byte{1}, payload.KeySize)}}, Require: began})
	if err != nil {
		t.Fatal(err)
	}
	encode := func(value any) *commonpb.Payload {
		p, err := converter.GetDefaultDataConverter().ToPayload(value)
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	for name, start := range map[string]time.Time{"before": began.Add(-time.Second), "later": began} {
		got := newRecord(newDecoder(c, "default"), &workflowpb.WorkflowExecutionInfo{
			Execution: &commonpb.WorkflowExecution{WorkflowId: "w1"}, Status: enumspb.WORKFLOW_EXECUTION_STATUS_RUNNING, StartTime: timestamppb.New(start),
			SearchAttributes: &commonpb.SearchAttributes{IndexedFields: map[string]*commonpb.Payload{searchattr.ReconcilePhase: encode("Blocked")}},
			Memo:             &commonpb.Memo{Fields: map[string]*commonpb.Payload{workflows.MemoName: encode("x"), workflows.MemoPolicy: encode("manage")}},
		})
		if got.Phase != workflows.PhaseBlocked {
			t.Errorf("%s: the phase is %q", name, got.Phase)
		}
		if refused := strings.Contains(got.Unreadable, "in clear, and encryption.require refuses"); refused != (name == "later") || refused != (got.Policy == resource.PolicyProtect) {
			t.Errorf("%s: the row is %+v", name, got)
		}
	}
}

func TestStuck(t *testing.T) {
	failing := []string{"category=WorkflowTaskFailed", "cause=WorkflowTaskFailedCauseNonDeterministicError"}
	cases := map[string]struct {
		reason   string
		problems []string
		attempt  int32
		want     string
	}{
		"fine":      {reason: "every task has a first attempt", attempt: 1},
		"killed":    {reason: "a killed worker causes a second attempt", attempt: 2},
		"repeated":  {reason: "a third attempt is a persistent failure", attempt: 3, want: "its workflow task fails (attempt 3)"},
		"listed":    {reason: "a list has the cause without the attempt", problems: failing, want: "its workflow task fails (NonDeterministicError)"},
		"described": {reason: "a description has both", problems: failing, attempt: 7, want: "its workflow task fails (NonDeterministicError, attempt 7)"},
		"timeout": {
			reason:   "a slow worker",
			problems: []string{"category=WorkflowTaskTimedOut", "cause=WorkflowTaskTimedOutCauseStartToClose"}, want: "its workflow task times out (StartToClose)",
		},
		"unknown": {reason: "unknown categories of a newer server are accepted", problems: []string{"x", "y=z"}, want: "its workflow task fails"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if got := describeStuck(tc.problems, tc.attempt); got != tc.want {
				t.Errorf("%s: %q, want %q", tc.reason, got, tc.want)
			}
		})
	}
}

// TestStuckStep checks which pending activities count as stuck steps.
func TestStuckStep(t *testing.T) {
	failed := &failurepb.Failure{Message: "no  space\nleft", FailureInfo: &failurepb.Failure_ApplicationFailureInfo{ApplicationFailureInfo: &failurepb.ApplicationFailureInfo{}}}
	benign := &failurepb.Failure{Message: "in progress", FailureInfo: &failurepb.Failure_ApplicationFailureInfo{ApplicationFailureInfo: &failurepb.ApplicationFailureInfo{
		Category: enumspb.APPLICATION_ERROR_CATEGORY_BENIGN,
	}}}
	lost := &failurepb.Failure{Message: "activity Heartbeat timeout", FailureInfo: &failurepb.Failure_TimeoutFailureInfo{TimeoutFailureInfo: &failurepb.TimeoutFailureInfo{
		TimeoutType: enumspb.TIMEOUT_TYPE_HEARTBEAT,
	}}}
	cases := map[string]struct {
		reason  string
		name    string
		attempt int32
		failure *failurepb.Failure
		state   enumspb.PendingActivityState
		want    string
	}{
		"first":     {reason: "it runs", name: "GetResource", attempt: 1},
		"killed":    {reason: "a killed worker causes a second attempt", name: "GetResource", attempt: 2, failure: lost},
		"repeated":  {reason: "it keeps failing", name: "GetResource", attempt: 3, failure: failed, want: "its step GetResource keeps failing (attempt 3): no space left"},
		"lost":      {reason: "each worker that runs it dies", name: "PutResource", attempt: 5, failure: lost, want: "its step PutResource keeps failing (attempt 5): the worker that ran it stopped responding"},
		"polled":    {reason: "an operation is polled by attempts", name: "PollOperation", attempt: 90, failure: benign},
		"wake":      {reason: "no pass waits for it", name: "WakeDependents", attempt: 9, failure: failed},
		"canceled":  {reason: "the pass goes on without it", name: "GetResource", attempt: 9, failure: failed, state: enumspb.PENDING_ACTIVITY_STATE_CANCEL_REQUESTED},
		"no record": {reason: "nothing is known of a failure", name: "GetResource", attempt: 9},
	}
	for name, c := range cases {
		response := &workflowservice.DescribeWorkflowExecutionResponse{PendingActivities: []*workflowpb.PendingActivityInfo{{
			ActivityType: &commonpb.ActivityType{Name: c.name}, Attempt: c.attempt, LastFailure: c.failure, State: c.state,
		}}}
		var got Record
		if got.addPending(newDecoder(payload.Clear(), "default"), response); got.StuckStep != c.want {
			t.Errorf("%s: %s: %q, want %q", name, c.reason, got.StuckStep, c.want)
		}
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
	response := &workflowservice.DescribeWorkflowExecutionResponse{
		WorkflowExecutionInfo: &workflowpb.WorkflowExecutionInfo{
			Execution: &commonpb.WorkflowExecution{WorkflowId: "w1", RunId: "r1"}, HistoryLength: 36,
			Status: enumspb.WORKFLOW_EXECUTION_STATUS_RUNNING, TaskQueue: "q7",
			StartTime: timestamppb.New(noon()),
			SearchAttributes: &commonpb.SearchAttributes{IndexedFields: map[string]*commonpb.Payload{
				searchattr.ReconcileWaitingFor: encode([]string{"k1", "k2"}), searchattr.ReconcileNeeds: encode("k3"),
				attributeProblems: encode([]string{"category=WorkflowTaskFailed"}),
			}},
			Memo: &commonpb.Memo{Fields: map[string]*commonpb.Payload{workflows.MemoPolicy: encode("detach-on-delete")}},
		},
		PendingActivities:   []*workflowpb.PendingActivityInfo{{}, {NextAttemptScheduleTime: timestamppb.New(noon().Add(time.Minute))}},
		PendingWorkflowTask: &workflowpb.PendingWorkflowTaskInfo{Attempt: 9},
	}
	got := newRecord(newDecoder(payload.Clear(), "default"), response.GetWorkflowExecutionInfo())
	got.addPending(newDecoder(payload.Clear(), "default"), response)
	want := Record{
		WorkflowID: "w1", Policy: "detach-on-delete", WaitingFor: []string{"k1", "k2"}, Needs: []string{"k3"}, TaskQueue: "q7",
		Started: noon(), Stuck: "its workflow task fails (attempt 9)", NextAttempt: noon().Add(time.Minute), Running: true, Busy: true, RunID: "r1", Events: 36,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("record (-want +got):\n%s", diff)
	}
}

// TestUnchanged verifies which records count as unchanged.
func TestUnchanged(t *testing.T) {
	before := Record{Running: true, RunID: "a", Events: 5}
	for name, c := range map[string]struct {
		reason string
		change func(*Record)
		want   bool
	}{
		"same":      {reason: "nothing happened", change: func(*Record) {}, want: true},
		"event":     {reason: "a workflow task may have changed the status", change: func(r *Record) { r.Events++ }},
		"other run": {reason: "a run that continued as new starts with few events", change: func(r *Record) { r.RunID = "b" }},
		"ended":     {reason: "its result is the status", change: func(r *Record) { r.Running = false }},
		"stuck":     {reason: "a failing workflow task is shown, not queried", change: func(r *Record) { r.Stuck = "its workflow task fails" }},
	} {
		now := before
		c.change(&now)
		if got := now.unchanged(before); got != c.want {
			t.Errorf("%s: %t, want %t: %s", name, got, c.want, c.reason)
		}
	}
}

func TestStartOptions(t *testing.T) {
	long := "/subscriptions/11111111-2222-3333-4444-555555555555/resourceGroups/rg1" + "/providers/Microsoft.Storage/storageAccounts/" + strings.Repeat("x", 300)
	desired := resource.Desired{ID: mustID(t, long), APIVersion: "2023-01-01"}
	options := workflows.StartOptions(desired, "q1")
	if options.ID != desired.ID.WorkflowID() || options.TaskQueue != "q1" {
		t.Errorf("ID %q on queue %q", options.ID, options.TaskQueue)
	}
	if len(options.StaticSummary) > workflows.MaxSummaryBytes {
		t.Errorf("the summary has %d bytes; the server rejects more than 400", len(options.StaticSummary))
	}
	if options.WorkflowExecutionTimeout != 0 || options.WorkflowRunTimeout != 0 {
		t.Error("a resource is managed without a time limit")
	}
}
