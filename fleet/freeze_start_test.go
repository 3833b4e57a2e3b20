package fleet

import (
	"context"
	"testing"

	"github.com/armature-io/armature/internal/payload"
	"github.com/armature-io/armature/workflows"
	commonpb "go.temporal.io/api/common/v1"
	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/serviceerror"
	workflowpb "go.temporal.io/api/workflow/v1"
	"go.temporal.io/api/workflowservice/v1"
)

// StartWorkflowExecution starts the workflow of freezes with the memo of the request.
func (s *server) StartWorkflowExecution(_ context.Context, in *workflowservice.StartWorkflowExecutionRequest) (*workflowservice.StartWorkflowExecutionResponse, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	id := in.GetWorkflowId()
	info := s.running[id]
	switch {
	case info.GetStatus() == running:
		return nil, serviceerror.NewWorkflowExecutionAlreadyStarted("it runs", "", "")
	case info.GetStatus() == enumspb.WORKFLOW_EXECUTION_STATUS_COMPLETED && in.GetWorkflowIdReusePolicy() == enumspb.WORKFLOW_ID_REUSE_POLICY_ALLOW_DUPLICATE_FAILED_ONLY:
		return nil, serviceerror.NewWorkflowExecutionAlreadyStarted("it completed", "", "")
	}
	s.started = append(s.started, in)
	s.running[id] = &workflowpb.WorkflowExecutionInfo{Status: running, Memo: in.GetMemo()}
	return &workflowservice.StartWorkflowExecutionResponse{RunId: "r", Started: true}, nil
}

// starts adds the names of starts to the memo of the workflow of freezes.
func (s *server) starts(names ...string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.running[workflows.FreezeWorkflowID].Memo.Fields[workflows.MemoStarts] = encode(s.t, names)
}

// TestStartFrozen starts a worker on databases in different states: nothing may be written
// before the freeze is in Temporal, nor after, until a user lifts it; a start that was
// lifted does not freeze again.
//
//guard:start-frozen
func TestStartFrozen(t *testing.T) {
	cases := map[string]struct {
		reason string
		before func(s *server)
		known  bool
		frozen bool
	}{
		"NoFreeze":  {reason: "a database without a freeze", before: func(*server) {}, frozen: true},
		"OldFreeze": {reason: "an old run that completed lifts nothing", before: func(s *server) { s.freeze(enumspb.WORKFLOW_EXECUTION_STATUS_COMPLETED, workflows.Freeze{}) }, frozen: true},
		"OldStart": {reason: "nor does the start of an earlier restore", before: func(s *server) {
			s.freeze(enumspb.WORKFLOW_EXECUTION_STATUS_COMPLETED)
			s.starts("2025-01-01")
		}, frozen: true},
		"Terminated": {reason: "a terminated freeze of some stays, too", before: func(s *server) {
			s.freeze(enumspb.WORKFLOW_EXECUTION_STATUS_TERMINATED, workflows.Freeze{Selector: "stack=prod"})
		}, frozen: true},
		"Set": {reason: "another worker of this start set it", before: func(s *server) {
			s.freeze(running, workflows.Freeze{})
			s.starts("restore")
		}, known: true, frozen: true},
		"Lifted": {reason: "a user lifted it: a restart does not freeze again", before: func(s *server) {
			s.freeze(enumspb.WORKFLOW_EXECUTION_STATUS_COMPLETED)
			s.starts("2025-01-01", "restore")
		}, known: true},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newServer(t)
			c.before(s)
			f := s.dial()
			f.StartFrozen(workflows.Freeze{Start: "restore", By: "worker@host"})
			if _, frozen, err := f.Frozen(t.Context(), nil); !frozen || err != nil {
				t.Errorf("frozen %t, %v before Temporal was asked: %s", frozen, err, c.reason)
			}
			known, err := f.KeepFrozen(t.Context(), func(err error) { t.Errorf("one try failed: %v", err) })
			if known != c.known || err != nil {
				t.Errorf("known %t, %v; want %t: %s", known, err, c.known, c.reason)
			}
			if _, frozen, err := f.Frozen(t.Context(), nil); frozen != c.frozen || err != nil {
				t.Errorf("frozen %t, %v; want %t: %s", frozen, err, c.frozen, c.reason)
			}
			if name != "Terminated" {
				return
			}
			var list []workflows.Freeze
			memo := s.running[workflows.FreezeWorkflowID].GetMemo().GetFields()[workflows.MemoFrozen]
			if err := payload.DataConverter().FromPayload(memo, &list); err != nil || len(list) != 2 {
				t.Errorf("the freezes are %+v, %v; want the old one and that of the start", list, err)
			}
		})
	}
}

// TestStartFrozenRunning starts a worker on a database in which some resources are frozen:
// the workflow that keeps freezes takes the update only once a worker serves it, and this
// worker writes nothing before.
//
//guard:start-frozen
func TestStartFrozenRunning(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	s.freeze(running, workflows.Freeze{Selector: "stack=prod"})
	f := s.dial()
	f.StartFrozen(workflows.Freeze{Start: "restore"})
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	failures := 0
	known, err := f.KeepFrozen(ctx, func(error) {
		if _, frozen, err := f.Frozen(t.Context(), map[string]string{"stack": "dev"}); !frozen || err != nil {
			t.Errorf("frozen %t, %v while the freeze is not in Temporal", frozen, err)
		}
		failures++
		s.mu.Lock()
		s.running[workflows.FreezeWorkflowID].Memo = &commonpb.Memo{Fields: map[string]*commonpb.Payload{
			workflows.MemoFrozen: encode(t, []workflows.Freeze{{Selector: "stack=prod"}, {Start: "restore"}}),
			workflows.MemoStarts: encode(t, []string{"restore"}),
		}}
		s.mu.Unlock()
	})
	if !known || err != nil || failures != 1 || len(s.updates) != 1 {
		t.Errorf("known %t, %v after %d failures and %d updates", known, err, failures, len(s.updates))
	}
	if _, frozen, err := f.Frozen(t.Context(), map[string]string{"stack": "dev"}); !frozen || err != nil {
		t.Errorf("frozen %t, %v", frozen, err)
	}
}

// TestFrozenExcept releases some resources from a freeze of everything.
//
//guard:start-frozen
func TestFrozenExcept(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	s.freeze(running, workflows.Freeze{Except: []string{"stack=prod", "", "stack ~~ dev"}})
	f := s.dial()
	for stack, want := range map[string]bool{"prod": false, "dev": true, "": true} {
		if _, frozen, err := f.Frozen(t.Context(), map[string]string{"stack": stack}); frozen != want || err != nil {
			t.Errorf("stack %q: frozen %t, %v; want %t", stack, frozen, err, want)
		}
	}
}
