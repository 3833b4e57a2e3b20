package activities

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/armature-io/armature/activities/writing"
	"github.com/armature-io/armature/armsim"
	"github.com/armature-io/armature/internal/audit"
	"github.com/armature-io/armature/resource"
)

// trail is a sink in memory.
type trail struct {
	mu     sync.Mutex
	broken bool
	lines  []audit.Record
	text   string
}

func (s *trail) Name() string { return "memory" }
func (s *trail) Close() error { return nil }

func (s *trail) Write(_ context.Context, lines []audit.Line) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.broken {
		return errors.New("the disk is full")
	}
	for _, line := range lines {
		s.lines = append(s.lines, line.Record)
		s.text += string(line.JSON)
	}
	return nil
}

func (s *trail) records() []audit.Record {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]audit.Record(nil), s.lines...)
}

// audited gives the world an audit trail.
func (w *world) audited(timeout time.Duration) *trail {
	sink := &trail{}
	w.acts.Audit = audit.New(audit.Options{Timeout: timeout}, sink)
	w.t.Cleanup(func() {
		ended, cancel := context.WithCancel(context.Background())
		cancel()
		w.acts.Audit.Close(ended) // a sink may be broken
	})
	return sink
}

// TestGuardAuditLine sends nothing whose line cannot be written.
//
//guard:audit-line-first
func TestGuardAuditLine(t *testing.T) {
	t.Parallel()
	steps := map[string]func(w *world) resource.Verdict{
		"PUT": func(w *world) resource.Verdict {
			got, _ := finish(w, w.acts.PutResource, PutResourceInput{Desired: desired(w.t, thingText, `{"location":"westus2"}`), Kind: PutCreation, ObservedAt: w.now()})
			if got.Sent || got.Unknown {
				w.t.Error("a PUT that was not sent counts as sent")
			}
			return got.Verdict
		},
		"DELETE": func(w *world) resource.Verdict {
			w.put(thingText, `{"location":"westus2"}`)
			got, _ := finish(w, w.acts.DeleteResource, DeleteResourceInput{Desired: desired(w.t, thingText, `{}`)})
			return got.Verdict
		},
	}
	for name, send := range steps {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.put(groupText, `{"location":"westus2"}`)
			sink := w.audited(time.Second)
			sink.broken = true
			verdict := send(w)
			if verdict.Reason != resource.ReasonAuditUnavailable || !strings.Contains(verdict.Message, "the disk is full") {
				t.Errorf("the verdict is %+v, want AuditUnavailable with the cause", verdict)
			}
			if name == "PUT" && w.puts(thingText) != 0 {
				t.Error("the PUT was sent without a line")
			}
			if name == "DELETE" && w.sim.Counters().ByID[strings.ToLower(thingText)][http.MethodDelete] != 0 {
				t.Error("the DELETE was sent without a line")
			}
		})
	}
}

// TestAuditLines checks both lines of a write, for each kind of answer.
func TestAuditLines(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		reason string
		fault  *armsim.Fault
		want   audit.Result
		status int
	}{
		"Accepted": {"Azure took it", nil, audit.ResultAccepted, http.StatusCreated},
		"Refused":  {"a 4xx changes nothing", &armsim.Fault{Status: http.StatusBadRequest, Code: "BadThing", Message: "No."}, audit.ResultRefused, http.StatusBadRequest},
		"Failed":   {"a 5xx may have changed something", &armsim.Fault{Status: http.StatusBadGateway, Code: "Bad", Message: "No."}, audit.ResultUnknown, http.StatusBadGateway},
		"Cut":      {"without an answer nothing is known", &armsim.Fault{Reset: true}, audit.ResultUnknown, 0},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.put(groupText, `{"location":"westus2"}`)
			sink := w.audited(time.Minute)
			if test.fault != nil {
				test.fault.Method, test.fault.Path, test.fault.Count = http.MethodPut, thingText, 1
				w.sim.AddFault(*test.fault)
			}
			_, _ = run(w, w.acts.PutResource, PutResourceInput{
				Desired: desired(t, thingText, `{"location":"westus2"}`), PassFacts: PassFacts{Generation: 7, Cause: &writing.Cause{By: "ada@host", Reason: resource.ReasonNotFound, Differences: []resource.Difference{{Path: "properties.size", Desired: "2", Observed: "1"}}}}, Kind: PutCreation, ObservedAt: w.now(),
			})
			lines := sink.records()
			if len(lines) != 2 {
				t.Fatalf("%d lines, want one before and one after: %+v", len(lines), lines)
			}
			first, last := lines[0], lines[1]
			if first.Result != audit.ResultSending || last.Result != test.want || last.Status != test.status || first.Key != last.Key {
				t.Errorf("the lines are %s and %s with status %d, want %s with %d: %s", first.Result, last.Result, last.Status, test.want, test.status, test.reason)
			}
			if last.By == nil || last.By.Name != "ada@host" || last.By.Verified || last.Generation != 7 || last.Method != http.MethodPut || last.APIVersion == "" {
				t.Errorf("the line is %+v", last)
			}
			if diff := cmp.Diff([]audit.Difference{{Path: "properties.size", Desired: "2", Observed: "1"}}, last.Differences); diff != "" {
				t.Errorf("the differences are (-want +got):\n%s", diff)
			}
			arrived := 0
			for _, request := range w.sim.Requests() {
				if request.ClientRequestID == last.Key {
					arrived++
				}
			}
			if arrived != 1 {
				t.Errorf("%d requests arrived with the key of the line, want 1", arrived)
			}
		})
	}
}

// TestRecordRequests checks the records of users' requests: their keys do not depend on how
// often they are written, and only a signature verifies a user.
func TestRecordRequests(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	sink := w.audited(time.Minute)
	spec := desired(t, thingText, `{"location":"westus2"}`)
	in := RecordRequestsInput{Desired: &spec, Requests: []UserRequest{
		{Event: audit.EventApply, UpdateID: "u1", By: "ada@host", Generation: 1, At: w.now()},
		{Event: audit.EventForce, UpdateID: "u2", By: "eve@host", Reason: "INC-42", Generation: 1, At: w.now(), Missed: 3},
	}}
	for range 2 {
		got, err := run(w, w.acts.RecordRequests, in)
		if err != nil || got.Written != 2 {
			t.Fatalf("%d requests were written (%v), want 2", got.Written, err)
		}
	}
	records := audit.Deduplicate(sink.records())
	if len(records) != 2 || len(sink.records()) != 4 {
		t.Fatalf("%d lines with %d keys, want 4 and 2", len(sink.records()), len(records))
	}
	signed, err := signatures(w).Spec(spec)
	must(t, err)
	_, err = run(w, w.acts.RecordRequests, RecordRequestsInput{Desired: &signed, Requests: []UserRequest{{Event: audit.EventApply, UpdateID: "u3", By: "ada@host", Generation: 2}}})
	must(t, err)
	lines := sink.records()
	if last := lines[len(lines)-1]; !last.By.Verified || last.By.Method != audit.MethodSignature || last.By.Name != "key "+signed.Signature.Key || last.By.Stated != "ada@host" {
		t.Errorf("a signed apply is by %+v, want its key", last.By)
	}
	force := records[1]
	if force.Event != audit.EventForce || force.Reason != "INC-42" || force.By.Name != "eve@host" || force.By.Verified || force.ID != spec.ID.String() || force.Missed != 3 {
		t.Errorf("the record of the forced reconcile is %+v", force)
	}
}

// sealedAuthors is a key that opens one text.
type sealedAuthors string

func (s sealedAuthors) Unseal(sealed []byte, value any) error {
	if string(sealed) != string(s) {
		return errors.New("another key")
	}
	*value.(*Author) = Author{By: "ada@host", Reason: "INC-42"}
	return nil
}

// TestRecordFreezes checks that the audit trail names the author of a freeze that was sent
// encrypted, and has the freeze without a name if the worker cannot decrypt it.
func TestRecordFreezes(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	sink := w.audited(time.Minute)
	w.acts.Authors = sealedAuthors("known")
	_, err := run(w, w.acts.RecordRequests, RecordRequestsInput{Requests: []UserRequest{
		{Event: audit.EventFreeze, UpdateID: "1", Sealed: []byte("known"), Selector: "stack=prod", At: w.now()},
		{Event: audit.EventFreeze, UpdateID: "2", Sealed: []byte("unknown"), Selector: "stack=dev", At: w.now()},
	}})
	must(t, err)
	lines := sink.records()
	if len(lines) != 2 {
		t.Fatalf("%d lines, want 2", len(lines))
	}
	if named := lines[0]; named.By == nil || named.By.Name != "ada@host" || named.By.Verified || named.Reason != "INC-42" || named.ID != "stack=prod" {
		t.Errorf("the record is %+v", named)
	}
	if unnamed := lines[1]; unnamed.By != nil || unnamed.Reason != "" || unnamed.ID != "stack=dev" {
		t.Errorf("the record without a name is %+v", unnamed)
	}
}

// TestRefusalIsOneEvent checks that a refusal that each pass repeats is one line, and that a
// verdict that only waits is none.
func TestRefusalIsOneEvent(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	sink := w.audited(time.Minute)
	in := PutResourceInput{Desired: desired(t, thingText, `{}`), PassFacts: PassFacts{Generation: 2, Cause: &writing.Cause{By: "ada@host"}}}
	var verdict resource.Verdict
	step := func(ctx context.Context, in PutResourceInput) (PutResourceResult, error) {
		result := PutResourceResult{Verdict: verdict}
		w.acts.noteDenial(ctx, []any{in}, result)
		return result, nil
	}
	refuse := func(next resource.Verdict) {
		verdict = next
		_, err := run(w, step, in)
		must(t, err)
	}
	frozen := resource.Block(resource.ReasonFrozen, "ada@host froze everything")
	refuse(frozen)
	refuse(frozen)
	refuse(resource.Block(resource.ReasonWaitingForSibling, "another resource has the turn"))
	refuse(resource.Proceed("ARM accepted the PUT"))
	lines := sink.records()
	if len(lines) != 1 || lines[0].Event != audit.EventRefusal || lines[0].Result != audit.ResultNotSent || lines[0].Reason != "Frozen" || lines[0].Generation != 2 {
		t.Errorf("the lines are %+v, want one refusal", lines)
	}
}

// TestFailedOperationIsOneEvent checks that each operation that Azure ends as failed has one line,
// also if an earlier one failed for the same reason: each follows a PUT of its own.
func TestFailedOperationIsOneEvent(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	sink := w.audited(time.Minute)
	failed := resource.Fail("QuotaExceeded", resource.RetrySlow, "the operation ended as Failed")
	failed.RequestID = "f83b8e88"
	step := func(ctx context.Context, in PollOperationInput) (PollOperationResult, error) {
		result := PollOperationResult{Verdict: failed}
		w.acts.noteDenial(ctx, []any{in}, result)
		return result, nil
	}
	for _, token := range []string{"one", "one", "two"} {
		_, err := run(w, step, PollOperationInput{Target: resource.Target{ID: id(t, thingText)}, Token: token})
		must(t, err)
	}
	lines := sink.records()
	if len(lines) != 2 || lines[1].Event != audit.EventRefusal || lines[1].Result != audit.ResultRefused || lines[1].RequestID != "f83b8e88" {
		t.Errorf("the lines are %+v, want one for each operation", lines)
	}
}
