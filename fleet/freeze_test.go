package fleet

import (
	"testing"
	"time"

	"github.com/armature-io/armature/workflows"
	commonpb "go.temporal.io/api/common/v1"
	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/serviceerror"
	workflowpb "go.temporal.io/api/workflow/v1"
)

// freeze sets status and memo of the workflow that stores the freezes.
func (s *server) freeze(status enumspb.WorkflowExecutionStatus, frozen ...workflows.Freeze) {
	s.t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.running[workflows.FreezeWorkflowID] = &workflowpb.WorkflowExecutionInfo{
		Status: status, TaskQueue: "first", Memo: &commonpb.Memo{Fields: map[string]*commonpb.Payload{workflows.MemoFrozen: encode(s.t, frozen)}},
	}
}

// failFreezes sets the error of the freeze workflow; nil for none.
func (s *server) failFreezes(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.broken[workflows.FreezeWorkflowID] = err
}

// ageFreezes moves the last request and response into the past.
func (f *Fleet) ageFreezes(d time.Duration) {
	f.freezes.mu.Lock()
	defer f.freezes.mu.Unlock()
	f.freezes.attempted, f.freezes.received = f.freezes.attempted.Add(-d), f.freezes.received.Add(-d)
}

const running = enumspb.WORKFLOW_EXECUTION_STATUS_RUNNING

//guard:freeze
func TestFrozen(t *testing.T) {
	prod, dev := map[string]string{"stack": "prod"}, map[string]string{"stack": "dev"}
	cases := map[string]struct {
		reason    string
		status    enumspb.WorkflowExecutionStatus
		frozen    []workflows.Freeze
		prod, dev bool
	}{
		"Nothing":    {reason: "no workflow, no freeze"},
		"Everything": {"a freeze without a selector applies to all", running, []workflows.Freeze{{By: "ada"}}, true, true},
		"Selected":   {"the selector matches labels", running, []workflows.Freeze{{Selector: "stack=prod"}}, true, false},
		"Second":     {"every freeze counts", running, []workflows.Freeze{{Selector: "stack=dev"}, {Selector: "stack=prod"}}, true, true},
		"Unreadable": {"a selector of a later version applies to all", running, []workflows.Freeze{{Selector: "stack ~~ prod"}}, true, true},
		"Terminated": {"a terminated run must not lift a freeze", enumspb.WORKFLOW_EXECUTION_STATUS_TERMINATED, []workflows.Freeze{{By: "ada"}}, true, true},
		"TimedOut":   {"nor one that timed out", enumspb.WORKFLOW_EXECUTION_STATUS_TIMED_OUT, []workflows.Freeze{{By: "ada"}}, true, true},
		"Failed":     {"nor one that failed", enumspb.WORKFLOW_EXECUTION_STATUS_FAILED, []workflows.Freeze{{By: "ada"}}, true, true},
		"Ended":      {"a run that has ended has no freezes", enumspb.WORKFLOW_EXECUTION_STATUS_COMPLETED, []workflows.Freeze{{}}, false, false},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newServer(t)
			if c.status != 0 {
				s.freeze(c.status, c.frozen...)
			}
			f := s.dial()
			for _, want := range []struct {
				labels map[string]string
				frozen bool
			}{{prod, c.prod}, {dev, c.dev}} {
				if _, frozen, err := f.Frozen(t.Context(), want.labels); frozen != want.frozen || err != nil {
					t.Errorf("%v: frozen %t, %v; want %t: %s", want.labels, frozen, err, want.frozen, c.reason)
				}
			}
		})
	}
}

// TestFrozenRefreshed checks that the freezes are cached for two seconds: the worker
// notices a freeze and its end soon, and a busy worker sends no more requests.
func TestFrozenRefreshed(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	f := s.dial()
	check := func(when string, want bool) {
		t.Helper()
		if _, frozen, err := f.Frozen(t.Context(), nil); frozen != want || err != nil {
			t.Errorf("%s: frozen %t, %v; want %t", when, frozen, err, want)
		}
	}
	check("at first", false)
	s.freeze(running, workflows.Freeze{})
	check("immediately", false)
	if len(s.described) != 1 {
		t.Errorf("%d requests within the cache time, want 1", len(s.described))
	}
	f.ageFreezes(2 * time.Second)
	check("2 s later", true)
	s.freeze(enumspb.WORKFLOW_EXECUTION_STATUS_COMPLETED)
	f.ageFreezes(2 * time.Second)
	check("2 s after the end", false)
}

// TestFrozenDuringOutage checks that the last freezes remain valid for a minute while
// Temporal is unreachable. After that Frozen fails: otherwise a worker that wrote nothing
// for an hour could miss a freeze.
func TestFrozenDuringOutage(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	s.freeze(running, workflows.Freeze{By: "ada"})
	s.failFreezes(serviceerror.NewPermissionDenied("unavailable", ""))
	f := s.dial()
	if _, frozen, err := f.Frozen(t.Context(), nil); err == nil || frozen {
		t.Errorf("frozen %t without an error before the first response", frozen)
	}
	s.failFreezes(nil)
	f.ageFreezes(2 * time.Second)
	if got, frozen, err := f.Frozen(t.Context(), nil); !frozen || err != nil || got.By != "ada" {
		t.Errorf("got %+v %t, %v", got, frozen, err)
	}
	s.failFreezes(serviceerror.NewPermissionDenied("unavailable", ""))
	f.ageFreezes(50 * time.Second)
	if _, frozen, err := f.Frozen(t.Context(), nil); !frozen || err != nil {
		t.Errorf("frozen %t, %v during an outage; want the last state", frozen, err)
	}
	f.ageFreezes(10 * time.Second)
	for range 2 {
		if _, frozen, err := f.Frozen(t.Context(), nil); err == nil || frozen {
			t.Errorf("frozen %t without an error after an outage of a minute", frozen)
		}
	}
	s.failFreezes(nil)
	if _, frozen, err := f.Frozen(t.Context(), nil); !frozen || err != nil {
		t.Errorf("frozen %t, %v after the outage", frozen, err)
	}
}
