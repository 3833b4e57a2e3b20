package activities

import (
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/armature-io/armature/armsim"
	"github.com/armature-io/armature/resource"
)

// TestPollReads checks that the last poll of an operation returns the resource too,
// and leaves unexpected results to GetResource.
func TestPollReads(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		reason   string
		outcome  string
		expect   Expectation
		given    func(*world)
		got      bool
		requests []string
	}{
		"read":         {reason: "the read saves an activity", expect: ExpectPresent, got: true, requests: []string{"POLL", "POLL", "GET t1"}},
		"not asked":    {reason: "a pass that joins an operation reads the resource itself", expect: ExpectAny, requests: []string{"POLL", "POLL"}},
		"failed":       {reason: "a pass that ends needs no read", expect: ExpectPresent, outcome: "Failed", requests: []string{"POLL", "POLL"}},
		"contradicted": {reason: "reads may lag behind: GetResource waits for that", expect: ExpectAbsent, requests: []string{"POLL", "POLL", "GET t1"}},
		"fault": {
			reason: "the operation ended anyway", expect: ExpectPresent, requests: []string{"POLL", "POLL", "GET t1"},
			given: func(w *world) { w.sim.AddFault(armsim.Fault{Method: http.MethodGet, Path: thingText, Status: 500}) },
		},
		"refused": {
			reason: "GetResource reports the error", expect: ExpectPresent, requests: []string{"POLL", "POLL", "GET t1"},
			given: func(w *world) {
				w.sim.AddFault(armsim.Fault{Method: http.MethodGet, Path: thingText, Status: 403, Code: "AuthorizationFailed"})
			},
		},
		"unreadable": {
			reason: "GetResource reports this error too", expect: ExpectPresent, requests: []string{"POLL", "POLL", "GET t1"},
			given: func(w *world) {
				w.sim.AddFault(armsim.Fault{Method: http.MethodGet, Path: thingText, Status: 200, Body: []byte(`null`)})
			},
		},
		"unreadable for absence": {
			reason: "a response that cannot be decoded does not mean absent", expect: ExpectAbsent, requests: []string{"POLL", "POLL", "GET t1"},
			given: func(w *world) {
				w.sim.AddFault(armsim.Fault{Method: http.MethodGet, Path: thingText, Status: 200, Body: []byte(`null`)})
			},
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, put := putWorld(t, long(armsim.OperationSpec{Shape: armsim.ShapeAsync, Polls: 1, RetryAfter: []float64{5}, Outcome: c.outcome}))
			in := begin(t, w, put)
			in.Expect = c.expect
			if c.given != nil {
				c.given(w)
			}
			got, _ := finish(w, w.acts.PollOperation, in)
			if c.outcome == "" {
				want(t, got.Verdict, resource.ActionSuccess, "", "")
			}
			if (got.Got != nil) != c.got || c.got && (!got.Got.Exists || got.Got.State != "Succeeded" || got.Got.ReadAt.IsZero()) {
				t.Errorf("%s: got %+v", c.reason, got.Got)
			}
			if diff := cmp.Diff(c.requests, w.requests()); diff != "" {
				t.Errorf("%s: requests (-want +got):\n%s", c.reason, diff)
			}
		})
	}
}

// TestPollReadsMasked checks that this read is masked as in GetResource: by the
// manifest's paths, and by the values behind its references.
func TestPollReadsMasked(t *testing.T) {
	t.Parallel()
	w, put := putWorld(t, long(armsim.OperationSpec{Shape: armsim.ShapeAsync, Polls: 1, RetryAfter: []float64{5}}))
	in := begin(t, w, put)
	w.sim.Patch(thingText, map[string]any{
		"tags": map[string]any{"apiKey": "shown"}, "properties": map[string]any{"note": "it is " + planted, "hidden": "by path"},
	})
	in.Expect, in.SecretRefs = ExpectPresent, []string{"env:ARMATURE_SECRET_ACTIVITIES"}
	in.Secret, in.Plain = []string{"properties.hidden"}, []string{"tags.apiKey"}
	got, _ := finish(w, w.acts.PollOperation, in)
	w.leaks(planted, got, w.verdicts)
	w.leaks("by path", got, w.verdicts)
	if !strings.Contains(string(got.Got.Observed), `"apiKey":"shown"`) {
		t.Errorf("a value that the manifest marks as plain is masked: %s", got.Got.Observed)
	}
}
