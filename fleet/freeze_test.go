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

// freeze makes the workflow that holds freezes say so in its memo.
func (s *server) freeze(status enumspb.WorkflowExecutionStatus, frozen ...workflows.Freeze) {
	s.t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.running[workflows.FreezeWorkflowID] = &workflowpb.WorkflowExecutionInfo{
		Status: status, Memo: &commonpb.Memo{Fields: map[string]*commonpb.Payload{workflows.MemoFrozen: encode(s.t, frozen)}},
	}
}

// garble makes what is written of freezes unreadable for this worker.
func (s *server) garble() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.running[workflows.FreezeWorkflowID].Memo.Fields[workflows.MemoFrozen] = encode(s.t, "of a later version")
}

func (s *server) breaks(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.broken[workflows.FreezeWorkflowID] = err
}

// ages makes what is known so much older.
func (f *Fleet) ages(d time.Duration) {
	f.freezes.mu.Lock()
	defer f.freezes.mu.Unlock()
	f.freezes.attempted, f.freezes.received = f.freezes.attempted.Add(-d), f.freezes.received.Add(-d)
}

const running = enumspb.WORKFLOW_EXECUTION_STATUS_RUNNING

func TestFrozen(t *testing.T) {
	prod, dev := map[string]string{"stack": "prod"}, map[string]string{"stack": "dev"}
	cases := map[string]struct {
		reason    string
		status    enumspb.WorkflowExecutionStatus
		frozen    []workflows.Freeze
		prod, dev bool
	}{
		"Nothing":    {reason: "no workflow, no freeze"},
		"Everything": {"no selector holds all", running, []workflows.Freeze{{By: "ada"}}, true, true},
		"Selected":   {"the labels decide", running, []workflows.Freeze{{Selector: "stack=prod"}}, true, false},
		"Second":     {"each freeze counts", running, []workflows.Freeze{{Selector: "stack=dev"}, {Selector: "stack=prod"}}, true, true},
		"Unreadable": {"a selector of a later version holds all", running, []workflows.Freeze{{Selector: "stack ~~ prod"}}, true, true},
		"Ended":      {"the run that ended with the last freeze holds nothing", enumspb.WORKFLOW_EXECUTION_STATUS_COMPLETED, []workflows.Freeze{{}}, false, false},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newServer(t)
			if c.status != 0 {
				s.freeze(c.status, c.frozen...)
			}
			f := s.dial()
			for _, of := range []struct {
				labels map[string]string
				held   bool
			}{{prod, c.prod}, {dev, c.dev}} {
				if _, held, err := f.Frozen(t.Context(), of.labels); held != of.held || err != nil {
					t.Errorf("%s: %v is held %t, %v", c.reason, of.labels, held, err)
				}
			}
		})
	}
}

// What is known counts for two seconds: a freeze, and the end of one, is known
// soon, and a busy worker asks no more often.
func TestFrozenIsAskedAgain(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	f := s.dial()
	ask := func(when string, want bool) {
		t.Helper()
		if _, held, err := f.Frozen(t.Context(), nil); held != want || err != nil {
			t.Errorf("%s it is held %t, %v", when, held, err)
		}
	}
	ask("at first", false)
	s.freeze(running, workflows.Freeze{})
	ask("at once", false)
	if len(s.described) != 1 {
		t.Errorf("asked %d times at once", len(s.described))
	}
	f.ages(2 * time.Second)
	ask("2 s later", true)
	s.freeze(enumspb.WORKFLOW_EXECUTION_STATUS_COMPLETED)
	f.ages(2 * time.Second)
	ask("2 s after the end", false)
}

// While Temporal does not answer, what was known counts on for a minute. Who had
// no answer since knows nothing, and says so: a worker that wrote nothing for an
// hour would otherwise not know of a freeze.
func TestFrozenWithoutAnAnswer(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	s.freeze(running, workflows.Freeze{By: "ada"})
	s.breaks(serviceerror.NewPermissionDenied("away", ""))
	f := s.dial()
	if _, held, err := f.Frozen(t.Context(), nil); err == nil || held {
		t.Errorf("before the first answer it is held %t without an error", held)
	}
	s.breaks(nil)
	f.ages(2 * time.Second)
	if got, held, err := f.Frozen(t.Context(), nil); !held || err != nil || got.By != "ada" {
		t.Errorf("got %+v %t, %v", got, held, err)
	}
	s.breaks(serviceerror.NewPermissionDenied("away", ""))
	f.ages(50 * time.Second)
	if _, held, err := f.Frozen(t.Context(), nil); !held || err != nil {
		t.Errorf("without an answer it is held %t, %v; want what was known", held, err)
	}
	f.ages(10 * time.Second)
	for range 2 {
		if _, held, err := f.Frozen(t.Context(), nil); err == nil || held {
			t.Errorf("without an answer for a minute it is held %t without an error", held)
		}
	}
	s.breaks(nil)
	if _, held, err := f.Frozen(t.Context(), nil); !held || err != nil {
		t.Errorf("once Temporal answers it is held %t, %v", held, err)
	}
}

// What cannot be read is no answer either: it frees nothing.
func TestFrozenUnreadable(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	s.freeze(running, workflows.Freeze{})
	f := s.dial()
	if _, held, err := f.Frozen(t.Context(), nil); !held || err != nil {
		t.Fatalf("held %t, %v", held, err)
	}
	s.garble()
	f.ages(50 * time.Second)
	if _, held, err := f.Frozen(t.Context(), nil); !held || err != nil {
		t.Errorf("unreadable, it is held %t, %v; want what was known", held, err)
	}
	if _, held, err := s.dial().Frozen(t.Context(), nil); held || err == nil {
		t.Error("a worker that starts with what it cannot read knows that nothing is frozen")
	}
}
