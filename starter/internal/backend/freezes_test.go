package backend

import (
	"bytes"
	"context"
	"errors"
	"testing"
	"time"

	"github.com/armature-io/armature/internal/payload"
	"github.com/armature-io/armature/workflows"
	commonpb "go.temporal.io/api/common/v1"
	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/serviceerror"
	workflowpb "go.temporal.io/api/workflow/v1"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"
)

// freezeServer is a namespace with the workflow of freezes and one resource.
type freezeServer struct {
	client.Client
	t *testing.T
	// freezes is the last run, nil for none; resource is the memo of the newest resource.
	freezes  *workflowpb.WorkflowExecutionInfo
	resource *commonpb.Payload
	listErr  error
	// updateErr is the error of updates.
	updateErr error
	started   []client.StartWorkflowOptions
	updates   []workflows.Freeze
}

func (s *freezeServer) DescribeWorkflowExecution(context.Context, string, string) (*workflowservice.DescribeWorkflowExecutionResponse, error) {
	if s.freezes == nil {
		return nil, serviceerror.NewNotFound("none")
	}
	return &workflowservice.DescribeWorkflowExecutionResponse{WorkflowExecutionInfo: s.freezes}, nil
}

func (s *freezeServer) ListWorkflow(context.Context, *workflowservice.ListWorkflowExecutionsRequest) (*workflowservice.ListWorkflowExecutionsResponse, error) {
	if s.resource == nil {
		return &workflowservice.ListWorkflowExecutionsResponse{}, s.listErr
	}
	return &workflowservice.ListWorkflowExecutionsResponse{Executions: []*workflowpb.WorkflowExecutionInfo{{
		Execution: &commonpb.WorkflowExecution{WorkflowId: "w"}, Memo: &commonpb.Memo{Fields: map[string]*commonpb.Payload{"name": s.resource}},
	}}}, s.listErr
}

func (s *freezeServer) ExecuteWorkflow(_ context.Context, options client.StartWorkflowOptions, _ any, args ...any) (client.WorkflowRun, error) {
	s.started = append(s.started, options)
	memo, err := payload.DataConverter().ToPayload(args[0].(workflows.HoldFreezeInput).Frozen)
	if err != nil {
		s.t.Fatal(err)
	}
	s.freezes = &workflowpb.WorkflowExecutionInfo{Status: enumspb.WORKFLOW_EXECUTION_STATUS_RUNNING, Memo: &commonpb.Memo{Fields: map[string]*commonpb.Payload{workflows.MemoFrozen: memo}}}
	return nil, nil //nolint:nilnil // the backend does not use the run
}

func (s *freezeServer) UpdateWorkflow(_ context.Context, options client.UpdateWorkflowOptions) (client.WorkflowUpdateHandle, error) {
	s.updates = append(s.updates, options.Args[0].(workflows.Freeze))
	return done{}, s.updateErr
}

func (s *freezeServer) DescribeTaskQueue(context.Context, string, enumspb.TaskQueueType) (*workflowservice.DescribeTaskQueueResponse, error) {
	return &workflowservice.DescribeTaskQueueResponse{}, nil
}

// done is an update without a result.
type done struct{ client.WorkflowUpdateHandle }

func (done) Get(context.Context, any) error { return nil }

// frozen sets the last run.
func (s *freezeServer) frozen(status enumspb.WorkflowExecutionStatus, memo any) {
	s.t.Helper()
	encoded, err := payload.DataConverter().ToPayload(memo)
	if err != nil {
		s.t.Fatal(err)
	}
	s.freezes = &workflowpb.WorkflowExecutionInfo{Status: status, Memo: &commonpb.Memo{Fields: map[string]*commonpb.Payload{workflows.MemoFrozen: encoded}}}
}

// read returns the freezes in force.
func (s *freezeServer) read() []workflows.Freeze {
	return workflows.ReadFreezes(s.freezes, payload.DataConverter()).Frozen
}

func keyed(t *testing.T, id string, number byte) *payload.Converters {
	t.Helper()
	c, err := payload.New(payload.Options{WriteKey: id, Keys: []payload.Key{{ID: id, Secret: bytes.Repeat([]byte{number}, payload.KeySize)}}})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// TestFreezeAuthor freezes with and without a key: the freeze is in force in each case, and
// its author is in clear only where everything is.
//
//guard:freeze
func TestFreezeAuthor(t *testing.T) {
	t.Parallel()
	with := keyed(t, "a", 1)
	sealed, err := with.Data.ToPayload("adx")
	if err != nil {
		t.Fatal(err)
	}
	clear, err := payload.DataConverter().ToPayload("adx")
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		reason     string
		converters *payload.Converters
		resource   *commonpb.Payload
		listErr    error
		by         string
		isSealed   bool
	}{
		"nothing is encrypted":   {reason: "all else is clear", converters: payload.Clear(), resource: clear, by: "ada@host"},
		"empty":                  {reason: "there is nothing yet", converters: payload.Clear(), by: "ada@host"},
		"with the key":           {reason: "nobody else reads it", converters: with, resource: sealed, isSealed: true},
		"without the key":        {reason: "it would be in clear in an encrypted namespace", converters: payload.Clear(), resource: sealed},
		"without an answer":      {reason: "nobody knows whether the namespace is encrypted", converters: payload.Clear(), listErr: errors.New("slow")},
		"with another key":       {reason: "its holders read it", converters: keyed(t, "b", 2), resource: sealed, isSealed: true},
		"key, and an attacker's": {reason: "one run with an unknown key stops no freeze", converters: with, resource: &commonpb.Payload{Metadata: map[string][]byte{"encoding": []byte(payload.EncryptedEncoding), payload.MetadataKeyID: []byte("bogus")}}, isSealed: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := &freezeServer{t: t, resource: c.resource, listErr: c.listErr}
			b := &Client{client: s, converters: c.converters, workerTimeout: time.Second, taskQueue: "q"}
			result, err := b.Freeze(t.Context(), workflows.Freeze{Selector: "stack=prod", By: "ada@host", Reason: "INC-42"})
			if err != nil || !result.Changed || len(s.started) != 1 {
				t.Fatalf("%+v, %v after %d starts: %s", result, err, len(s.started), c.reason)
			}
			if unnamed := c.by == "" && !c.isSealed; result.Unnamed != unnamed {
				t.Errorf("left out %t, want %t: %s", result.Unnamed, unnamed, c.reason)
			}
			got := s.read()
			if len(got) != 1 || got[0].Selector != "stack=prod" || got[0].By != c.by || (got[0].Reason == "INC-42") != (c.by != "") || (len(got[0].Sealed) > 0) != c.isSealed {
				t.Errorf("in Temporal %+v: %s", got, c.reason)
			}
			if c.isSealed && result.Frozen[0].By != "ada@host" {
				t.Errorf("shown as %+v", result.Frozen[0])
			}
			if _, err := b.Unfreeze(t.Context(), workflows.Freeze{Selector: "stack=prod", By: "ada@host"}, nil); err != nil {
				t.Errorf("unfreeze: %v", err)
			}
			if sent := s.updates[len(s.updates)-1]; !sent.Since.Equal(got[0].Since) || sent.Since.IsZero() || sent.By != c.by {
				t.Errorf("unfreeze sent %+v", sent)
			}
		})
	}
}

// TestFreezeReplaces checks when a freeze replaces the run that keeps the others, and that
// it keeps them.
//
//guard:freeze
func TestFreezeReplaces(t *testing.T) {
	t.Parallel()
	others := []workflows.Freeze{{Selector: "stack=dev"}}
	for name, c := range map[string]struct {
		reason    string
		status    enumspb.WorkflowExecutionStatus
		memo      any
		updateErr error
		policy    enumspb.WorkflowIdConflictPolicy
		frozen    []string
	}{
		"no worker":   {"nobody takes the update", enumspb.WORKFLOW_EXECUTION_STATUS_RUNNING, others, serviceerror.NewDeadlineExceeded(""), enumspb.WORKFLOW_ID_CONFLICT_POLICY_TERMINATE_EXISTING, []string{"stack=dev", "stack=prod"}},
		"ended now":   {"an update to a run that is gone freezes nothing", enumspb.WORKFLOW_EXECUTION_STATUS_RUNNING, others, serviceerror.NewNotFound(""), enumspb.WORKFLOW_ID_CONFLICT_POLICY_TERMINATE_EXISTING, []string{"stack=dev", "stack=prod"}},
		"unreadable":  {"its run may keep anything", enumspb.WORKFLOW_EXECUTION_STATUS_RUNNING, "noise", nil, enumspb.WORKFLOW_ID_CONFLICT_POLICY_TERMINATE_EXISTING, []string{"", "stack=prod"}},
		"interrupted": {"its freezes are in force", enumspb.WORKFLOW_EXECUTION_STATUS_TERMINATED, others, nil, enumspb.WORKFLOW_ID_CONFLICT_POLICY_FAIL, []string{"stack=dev", "stack=prod"}},
		"lifted":      {"its freezes are not", enumspb.WORKFLOW_EXECUTION_STATUS_COMPLETED, others, nil, enumspb.WORKFLOW_ID_CONFLICT_POLICY_FAIL, []string{"stack=prod"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := &freezeServer{t: t, updateErr: c.updateErr}
			s.frozen(c.status, c.memo)
			b := &Client{client: s, converters: payload.Clear(), workerTimeout: time.Second}
			result, err := b.Freeze(t.Context(), workflows.Freeze{Selector: "stack=prod"})
			if err != nil || !result.Changed {
				t.Fatalf("%+v, %v: %s", result, err, c.reason)
			}
			var got []string
			for _, freeze := range s.read() {
				got = append(got, freeze.Selector)
			}
			if len(s.started) != 1 || s.started[0].WorkflowIDConflictPolicy != c.policy || len(got) != len(c.frozen) || got[0] != c.frozen[0] {
				t.Errorf("%d starts, frozen %q, want %q: %s", len(s.started), got, c.frozen, c.reason)
			}
		})
	}
}

// TestUnfreezeRestarts checks that an unfreeze starts an interrupted run again before it
// sends the update, and that the server refuses that once the freezes were lifted.
func TestUnfreezeRestarts(t *testing.T) {
	t.Parallel()
	s := &freezeServer{t: t}
	s.frozen(enumspb.WORKFLOW_EXECUTION_STATUS_TERMINATED, []workflows.Freeze{{Selector: "stack=dev", Since: time.Unix(1, 0)}})
	b := &Client{client: s, converters: payload.Clear(), workerTimeout: time.Second}
	if _, err := b.Unfreeze(t.Context(), workflows.Freeze{Selector: "stack=dev"}, nil); err != nil {
		t.Fatal(err)
	}
	if len(s.started) != 1 || s.started[0].WorkflowIDReusePolicy != enumspb.WORKFLOW_ID_REUSE_POLICY_ALLOW_DUPLICATE_FAILED_ONLY || len(s.updates) != 1 {
		t.Errorf("started %+v, sent %+v", s.started, s.updates)
	}
	s.frozen(enumspb.WORKFLOW_EXECUTION_STATUS_RUNNING, "noise")
	if _, err := b.Unfreeze(t.Context(), workflows.Freeze{}, nil); err == nil || len(s.updates) != 1 {
		t.Errorf("unreadable freezes were lifted: %v", err)
	}
}
