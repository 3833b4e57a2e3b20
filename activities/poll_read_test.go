package activities

import (
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/armature-io/armature/armsim"
	"github.com/armature-io/armature/resource"
)

// TestPollReads holds that the end of an operation brings the resource along, and
// leaves what is not as it should be to GetResource.
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
		"read":         {reason: "an activity less", expect: ExpectPresent, got: true, requests: []string{"POLL", "POLL", "GET t1"}},
		"not asked":    {reason: "who joins an operation looks for himself", expect: ExpectAny, requests: []string{"POLL", "POLL"}},
		"failed":       {reason: "a pass that ends needs no read", expect: ExpectPresent, outcome: "Failed", requests: []string{"POLL", "POLL"}},
		"contradicted": {reason: "reads may lag behind: GetResource waits for that", expect: ExpectAbsent, requests: []string{"POLL", "POLL", "GET t1"}},
		"fault": {
			reason: "the operation ended all the same", expect: ExpectPresent, requests: []string{"POLL", "POLL", "GET t1"},
			given: func(w *world) { w.sim.AddFault(armsim.Fault{Method: http.MethodGet, Path: thingText, Status: 500}) },
		},
		"refused": {
			reason: "GetResource says why", expect: ExpectPresent, requests: []string{"POLL", "POLL", "GET t1"},
			given: func(w *world) {
				w.sim.AddFault(armsim.Fault{Method: http.MethodGet, Path: thingText, Status: 403, Code: "AuthorizationFailed"})
			},
		},
		"unreadable": {
			reason: "and this too", expect: ExpectPresent, requests: []string{"POLL", "POLL", "GET t1"},
			given: func(w *world) {
				w.sim.AddFault(armsim.Fault{Method: http.MethodGet, Path: thingText, Status: 200, Body: []byte(`null`)})
			},
		},
		"unreadable for absence": {
			reason: "an answer that nobody understands is not absent", expect: ExpectAbsent, requests: []string{"POLL", "POLL", "GET t1"},
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

// TestPollReadsMasked holds that what is read then is masked as GetResource does:
// by the manifest's paths, and by the values behind its references.
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
		t.Errorf("what the manifest states in plain is masked: %s", got.Got.Observed)
	}
}
