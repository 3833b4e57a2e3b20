package fleet

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/armature-io/armature/internal/payload"
	"github.com/armature-io/armature/workflows"
	commonpb "go.temporal.io/api/common/v1"
	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/serviceerror"
)

// forgetFreezes removes the workflow of freezes, as the end of the retention and a deletion do.
func (s *server) forgetFreezes() {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.running, workflows.FreezeWorkflowID)
}

// TestRestoreFreezes ends the workflow of freezes in each way: a worker that writes nothing
// starts it again with the same freezes, unless an unfreeze ended it.
//
//guard:freeze
func TestRestoreFreezes(t *testing.T) {
	prod := workflows.Freeze{Selector: "stack=prod", By: "ada", Since: time.Unix(1, 0).UTC()}
	cases := map[string]struct {
		reason   string
		change   func(s *server)
		restored bool
		frozen   bool
	}{
		"Running":    {"it keeps its freezes by itself", func(*server) {}, false, true},
		"Terminated": {"a termination lifts nothing", func(s *server) { s.freeze(enumspb.WORKFLOW_EXECUTION_STATUS_TERMINATED, prod) }, true, true},
		"Canceled":   {"nor does a cancellation", func(s *server) { s.freeze(enumspb.WORKFLOW_EXECUTION_STATUS_CANCELED, prod) }, true, true},
		"TimedOut":   {"nor a timeout", func(s *server) { s.freeze(enumspb.WORKFLOW_EXECUTION_STATUS_TIMED_OUT, prod) }, true, true},
		"Failed":     {"nor a failure", func(s *server) { s.freeze(enumspb.WORKFLOW_EXECUTION_STATUS_FAILED, prod) }, true, true},
		"Forgotten":  {"nor does a deletion of its history", (*server).forgetFreezes, true, true},
		"Lifted":     {"an unfreeze ends it for good", func(s *server) { s.freeze(enumspb.WORKFLOW_EXECUTION_STATUS_COMPLETED, prod) }, false, false},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newServer(t)
			s.freeze(running, prod)
			f := s.dial()
			restore := func() bool {
				t.Helper()
				f.ageFreezes(time.Minute)
				restored, err := f.RestoreFreezes(t.Context())
				if err != nil {
					t.Error(err)
				}
				return restored
			}
			restore()
			c.change(s)
			if restored := restore(); restored != c.restored {
				t.Errorf("restored %t, want %t: %s", restored, c.restored, c.reason)
			}
			if got, frozen := f.KnownFreeze(map[string]string{"stack": "prod"}); frozen != c.frozen {
				t.Errorf("frozen %t by %+v, want %t: %s", frozen, got, c.frozen, c.reason)
			}
			if restore() || len(s.described) != 3 {
				t.Errorf("%d requests in three minutes, want one in each, and no second restart", len(s.described))
			}
			if !c.restored {
				return
			}
			if len(s.started) != 1 || s.started[0].GetWorkflowIdReusePolicy() != enumspb.WORKFLOW_ID_REUSE_POLICY_ALLOW_DUPLICATE_FAILED_ONLY {
				t.Fatalf("started %v", s.started)
			}
			if queue := s.started[0].GetTaskQueue().GetName(); queue != "first" {
				t.Errorf("started on task queue %s, want that of the run before", queue)
			}
			// A worker that starts later reads the same freezes.
			if got, frozen, err := s.dial().Frozen(t.Context(), map[string]string{"stack": "prod"}); !frozen || err != nil || got.By != "ada" || !got.Since.Equal(prod.Since) {
				t.Errorf("a new worker reads %+v, %t, %v", got, frozen, err)
			}
			if _, frozen, err := s.dial().Frozen(t.Context(), map[string]string{"stack": "dev"}); frozen || err != nil {
				t.Errorf("others are frozen %t, %v", frozen, err)
			}
		})
	}
}

// TestRestoreFreezesAfterUnfreeze lifts the freezes between the read of a worker and its
// start: the server refuses the start, and the next read knows the end.
//
//guard:freeze
func TestRestoreFreezesAfterUnfreeze(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	s.freeze(enumspb.WORKFLOW_EXECUTION_STATUS_TERMINATED, workflows.Freeze{})
	f := s.dial()
	if _, frozen, err := f.Frozen(t.Context(), nil); !frozen || err != nil {
		t.Fatalf("frozen %t, %v", frozen, err)
	}
	s.freeze(enumspb.WORKFLOW_EXECUTION_STATUS_COMPLETED) // another worker restarted it, and a user lifted it
	if restored, err := f.RestoreFreezes(t.Context()); restored || err != nil || len(s.started) != 0 {
		t.Errorf("restored %t, %v, started %v", restored, err, s.started)
	}
	if len(s.described) != 1 {
		t.Errorf("%d requests, want none for a list that is young", len(s.described))
	}
	f.ageFreezes(time.Minute)
	if _, err := f.RestoreFreezes(t.Context()); err != nil {
		t.Error(err)
	}
	if _, frozen := f.KnownFreeze(nil); frozen {
		t.Error("a freeze that was lifted is in force")
	}
}

// TestRestoreFreezesDuringOutage checks that an outage starts nothing and forgets nothing.
func TestRestoreFreezesDuringOutage(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	s.freeze(running, workflows.Freeze{})
	f := s.dial()
	if _, err := f.RestoreFreezes(t.Context()); err != nil {
		t.Fatal(err)
	}
	s.failFreezes(serviceerror.NewPermissionDenied("no", ""))
	f.ageFreezes(time.Minute)
	if restored, err := f.RestoreFreezes(t.Context()); restored || err == nil {
		t.Errorf("restored %t without an error", restored)
	}
	if _, frozen := f.KnownFreeze(nil); !frozen || len(s.started) != 0 {
		t.Errorf("frozen %t, started %v", frozen, s.started)
	}
}

// TestFrozenWithoutKey checks that a freeze of a side without a key, or with another one,
// stops workers: the author is what they cannot read.
//
//guard:freeze
func TestFrozenWithoutKey(t *testing.T) {
	t.Parallel()
	with := func(id string, number byte) *payload.Converters {
		c, err := payload.New(payload.Options{WriteKey: id, Keys: []payload.Key{{ID: id, Secret: bytes.Repeat([]byte{number}, payload.KeySize)}}})
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	sides := map[string]*payload.Converters{"no key": payload.Clear(), "a": with("a", 1), "b": with("b", 2)}
	for writer, from := range sides {
		for reader, to := range sides {
			s := newServer(t)
			freeze, err := workflows.Freeze{Selector: "stack=prod", By: "ada", Reason: "INC-42"}.Seal(from.Sealer(""))
			if err != nil {
				t.Fatal(err)
			}
			memo, err := from.ClearData().ToPayload([]workflows.Freeze{freeze})
			if err != nil {
				t.Fatal(err)
			}
			if hidden := !strings.Contains(string(memo.GetData()), "INC-42"); hidden != from.Encrypts() {
				t.Errorf("written by %s: the reason is hidden %t", writer, hidden)
			}
			s.freeze(running)
			s.running[workflows.FreezeWorkflowID].Memo = &commonpb.Memo{Fields: map[string]*commonpb.Payload{workflows.MemoFrozen: memo}}
			f := New(direct{server: s}, Options{Converters: to})
			got, frozen, err := f.Frozen(t.Context(), map[string]string{"stack": "prod"})
			if !frozen || err != nil || got.Selector != "stack=prod" {
				t.Errorf("written by %s, read by %s: frozen %t by %+v, %v", writer, reader, frozen, got, err)
			}
			if got, frozen := f.KnownFreeze(map[string]string{"stack": "dev"}); frozen {
				t.Errorf("written by %s, read by %s: others are frozen by %+v", writer, reader, got)
			}
			if readable := got.By == "ada" && got.Reason == "INC-42"; readable != (writer == reader || writer == "no key") {
				t.Errorf("written by %s, read by %s: %+v", writer, reader, got)
			}
		}
	}
}

// TestFrozenByEmptyMemo checks that a run whose last freeze was lifted freezes nothing, and
// keeps the names of starts: the server removes an empty list from a memo.
func TestFrozenByEmptyMemo(t *testing.T) {
	t.Parallel()
	for _, status := range []enumspb.WorkflowExecutionStatus{running, enumspb.WORKFLOW_EXECUTION_STATUS_COMPLETED} {
		s := newServer(t)
		s.freeze(status)
		info := s.running[workflows.FreezeWorkflowID]
		info.Type = &commonpb.WorkflowType{Name: workflows.HoldFreezeWorkflow}
		info.Memo = &commonpb.Memo{Fields: map[string]*commonpb.Payload{workflows.MemoStarts: encode(t, []string{"restore"})}}
		f := s.dial()
		if got, frozen, err := f.Frozen(t.Context(), nil); frozen || err != nil {
			t.Errorf("%s: frozen by %+v, %v", status, got, err)
		}
		f.StartFrozen(workflows.Freeze{Start: "restore"})
		if known, err := f.KeepFrozen(t.Context(), func(err error) { t.Error(err) }); !known || err != nil {
			t.Errorf("%s: the start is known %t, %v", status, known, err)
		}
	}
}

// TestFrozenMalformed checks that a memo that says nothing freezes everything.
//
//guard:freeze
func TestFrozenMalformed(t *testing.T) {
	t.Parallel()
	keyed, err := payload.New(payload.Options{WriteKey: "a", Keys: []payload.Key{{ID: "a", Secret: bytes.Repeat([]byte{1}, payload.KeySize)}}})
	if err != nil {
		t.Fatal(err)
	}
	hidden, err := keyed.Data.ToPayload([]workflows.Freeze{{Selector: "stack=other"}})
	if err != nil {
		t.Fatal(err)
	}
	for name, fields := range map[string]map[string]*commonpb.Payload{
		"another type":  nil,
		"another form":  {workflows.MemoFrozen: encode(t, "of a later version")},
		"an object":     {workflows.MemoFrozen: encode(t, map[string]any{"selector": "stack=other"})},
		"encrypted":     {workflows.MemoFrozen: hidden},
		"noise":         {workflows.MemoFrozen: {Data: []byte{0xff}}},
		"broken starts": {workflows.MemoFrozen: encode(t, []workflows.Freeze{}), workflows.MemoStarts: encode(t, 7)},
	} {
		for _, status := range []enumspb.WorkflowExecutionStatus{running, enumspb.WORKFLOW_EXECUTION_STATUS_TERMINATED} {
			s := newServer(t)
			s.freeze(status)
			s.running[workflows.FreezeWorkflowID].Memo = &commonpb.Memo{Fields: fields}
			for reader, converters := range map[string]*payload.Converters{"with the key": keyed, "without": payload.Clear()} {
				f := New(direct{server: s}, Options{Converters: converters})
				if got, frozen, err := f.Frozen(t.Context(), nil); !frozen || err != nil || got.Reason == "" {
					t.Errorf("%s, %s, %s: frozen %t by %+v, %v", name, status, reader, frozen, got, err)
				}
			}
		}
	}
}
