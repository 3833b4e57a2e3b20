package activities

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/armature-io/armature/armsim"
	"github.com/armature-io/armature/resource"
)

const thingBody = `{"location":"westus2","properties":{"size":1}}`

// putWorld has the group, and the environment with one secret.
func putWorld(t *testing.T, change ...func(*setup)) (*world, PutResourceInput) {
	t.Helper()
	w := newWorld(t, change...)
	w.put(groupText, `{"location":"westus2"}`)
	return w, PutResourceInput{Desired: desired(t, thingText, thingBody), ObservedAt: w.now()}
}

// long makes PUTs of things long-running.
func long(spec armsim.OperationSpec) func(*setup) {
	return func(s *setup) {
		s.sim.Operations = append(s.sim.Operations, armsim.OperationRule{Type: "Contoso.Things/*", Spec: spec})
	}
}

func TestPutResource(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		reason   string
		setup    func(*setup)
		given    func(*world, *PutResourceInput)
		message  string
		done     bool
		token    bool
		sent     bool
		wait     time.Duration
		requests []string
	}{
		"Create": {
			reason: "on a fresh read the PUT is the only request", message: "status 201",
			done: true, sent: true, requests: []string{"PUT t1"},
		},
		"LongRunning": {
			reason: "the answer carries the token and how long to wait", setup: long(armsim.OperationSpec{Shape: armsim.ShapeAsync, Seconds: 60, RetryAfter: []float64{7}}),
			token: true, sent: true, wait: 7 * time.Second, requests: []string{"PUT t1"},
		},
		"Unpollable": {
			reason: "accepted without a usable URL: no token, not done", setup: long(armsim.OperationSpec{Shape: armsim.ShapeLocation, Seconds: 60, RelativeLocation: true}),
			sent: true, wait: 15 * time.Second, requests: []string{"PUT t1"},
		},
		"OldObservation": {
			reason: "a read older than 30s is made again", given: func(w *world, in *PutResourceInput) { in.ObservedAt = w.now().Add(-31 * time.Second) },
			done: true, sent: true, requests: []string{"GET t1", "PUT t1"},
		},
		"OldAndInSync": {
			reason: "what somebody else has put right meanwhile gets no PUT",
			given: func(w *world, in *PutResourceInput) {
				w.put(thingText, thingBody)
				in.ObservedAt = w.now().Add(-31 * time.Second)
			},
			message: "in sync meanwhile", done: true, requests: []string{"GET t1"},
		},
		"OldAndUncompared": {
			reason: "an extension that wants a PUT gets it",
			given: func(w *world, in *PutResourceInput) {
				w.put(thingText, thingBody)
				in.ObservedAt, in.Uncompared = w.now().Add(-31*time.Second), true
			},
			done: true, sent: true, requests: []string{"GET t1", "PUT t1"},
		},
		"OldAndBusy": {
			reason: "an operation that began meanwhile is joined",
			given: func(w *world, in *PutResourceInput) {
				w.put(thingText, `{"location":"westus2","properties":{"provisioningState":"Updating"}}`)
				in.ObservedAt = w.now().Add(-31 * time.Second)
			},
			message: "joined the operation in flight (Updating)", requests: []string{"GET t1"},
		},
		"OldAndFailed": {
			reason: "a failed resource is the reason for the PUT, not its end",
			given: func(w *world, in *PutResourceInput) {
				w.put(thingText, `{"location":"westus2","properties":{"size":1,"provisioningState":"Failed"}}`)
				in.ObservedAt = w.now().Add(-31 * time.Second)
			},
			done: true, sent: true, requests: []string{"GET t1", "PUT t1"},
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if c.setup == nil {
				c.setup = func(*setup) {}
			}
			w, in := putWorld(t, c.setup)
			if c.given != nil {
				c.given(w, &in)
			}
			got, err := run(w, w.acts.PutResource, in)
			must(t, err)
			want(t, got.Verdict, resource.ActionProceed, "", "", c.message)
			if got.Done != c.done || (got.Token != "") != c.token || got.Sent != c.sent || got.RetryAfter != c.wait || got.Unknown {
				t.Errorf("%s: got %+v", c.reason, got)
			}
			if c.sent && got.Verdict.RequestID == "" {
				t.Errorf("%s: the verdict has no ARM request ID", c.reason)
			}
			if diff := cmp.Diff(c.requests, w.requests()); diff != "" {
				t.Errorf("%s: requests (-want +got):\n%s", c.reason, diff)
			}
		})
	}
}

func TestPutResourceRefused(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		reason string
		fault  armsim.Fault
		action resource.Action
		why    resource.Reason
		class  resource.RetryClass
	}{
		"Conflict":  {"nothing is wrong, it is only not now", armsim.Fault{Status: 409, Code: "AnotherOperationInProgress"}, resource.ActionBlock, "AnotherOperationInProgress", resource.RetrySlow},
		"Throttled": {"a budget is used up", armsim.Fault{Status: 429, Code: "TooManyRequests", Headers: map[string]string{"Retry-After": "9"}}, resource.ActionBlock, "TooManyRequests", resource.RetrySlow},
		"Wrong":     {"a value that is wrong until somebody changes it", armsim.Fault{Status: 400, Code: "InvalidParameter"}, resource.ActionError, "InvalidParameter", resource.RetryVerySlow},
		"Final":     {"a body that cannot be read", armsim.Fault{Status: 400, Code: "InvalidRequestContent"}, resource.ActionError, "InvalidRequestContent", resource.RetryNone},
		"NoGroup":   {"the code of an absent resource speaks of its group here", armsim.Fault{Status: 404, Code: "ResourceGroupNotFound"}, resource.ActionError, "ResourceGroupNotFound", resource.RetrySlow},
		"Forbidden": {"a wrong credential creates nothing", armsim.Fault{Status: 403, Code: "AuthorizationFailed"}, resource.ActionError, "AuthorizationFailed", resource.RetrySlow},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, in := putWorld(t)
			c.fault.Method, c.fault.Message = http.MethodPut, "What ARM says."
			w.sim.AddFault(c.fault)
			got, err := run(w, w.acts.PutResource, in)
			must(t, err)
			want(t, got.Verdict, c.action, c.why, c.class, "What ARM says.", "ARM request ID")
			if got.Sent || got.Unknown || w.puts(thingText) != 0 {
				t.Errorf("%s: got %+v", c.reason, got)
			}
		})
	}
}

// later makes the next run a second attempt, after one that left the details.
func (w *world) later(details putProgress) {
	w.t.Helper()
	raw, err := json.Marshal(details)
	must(w.t, err)
	w.attempt, w.details = 1, raw
}

func TestPutResourceSecondAttempt(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		reason   string
		left     putProgress
		observed string
		message  string
		done     bool
		requests []string
	}{
		"Accepted": {
			reason: "the token of the lost attempt is all that is needed", left: putProgress{Accepted: true, Token: "token", RetryAfter: time.Second},
			message: "before the worker was lost", requests: []string{},
		},
		"InFlight": {
			reason: "an operation in flight is ours: joined, not repeated", observed: `{"location":"westus2","properties":{"size":0,"provisioningState":"Creating"}}`,
			message: "joined the operation in flight (Creating)", requests: []string{"GET t1"},
		},
		"InSync": {
			reason: "the PUT had arrived and is done", observed: thingBody, message: "in sync meanwhile", done: true, requests: []string{"GET t1"},
		},
		"EndedBadly": {
			reason: "the PUT had arrived and failed: whether to PUT again is the next pass's decision", observed: `{"location":"westus2","properties":{"size":0,"provisioningState":"Failed"}}`,
			message: "ended meanwhile: Failed", done: true, requests: []string{"GET t1"},
		},
		"StillDifferent": {
			reason: "the PUT had not arrived", observed: `{"location":"westus2","properties":{"size":7}}`,
			message: "ARM accepted the PUT", done: true, requests: []string{"GET t1", "PUT t1"},
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, in := putWorld(t)
			if c.observed != "" {
				w.put(thingText, c.observed)
			}
			w.later(c.left)
			got, err := run(w, w.acts.PutResource, in)
			must(t, err)
			want(t, got.Verdict, resource.ActionProceed, "", "", c.message)
			if got.Done != c.done || !got.Sent || got.Token != c.left.Token || got.RetryAfter != c.left.RetryAfter {
				t.Errorf("%s: got %+v", c.reason, got)
			}
			if diff := cmp.Diff(c.requests, w.requests()); diff != "" {
				t.Errorf("%s: requests (-want +got):\n%s", c.reason, diff)
			}
		})
	}
}

// An absent resource after a PUT of unknown outcome is read for the whole window
// before it is believed: ARM's reads may lag.
func TestPutResourceBelievesAbsentSlowly(t *testing.T) {
	t.Parallel()
	for name, prepare := range map[string]func(*world, *PutResourceInput){
		"SecondAttempt": func(w *world, _ *PutResourceInput) { w.later(putProgress{}) },
		"ResetRun":      func(_ *world, in *PutResourceInput) { in.Reset = true },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, in := putWorld(t)
			prepare(w, &in)
			start := w.now()
			got, failures := finish(w, w.acts.PutResource, in)
			if got.Verdict.Stops() || !got.Sent || w.puts(thingText) != 1 {
				t.Errorf("got %+v, %d PUTs", got, w.puts(thingText))
			}
			if took := w.now().Sub(start); took != 20*time.Second || len(failures) != 4 {
				t.Errorf("the second PUT came after %s and %d reads", took, len(failures))
			}
			for _, failure := range failures {
				if failure.Type() != errorNotYet {
					t.Errorf("error %v", failure)
				}
			}
		})
	}
}

// A worker that dies after it believed in the absence may have sent another PUT:
// the wait starts over.
func TestPutResourceWaitsAgainAfterAnotherLoss(t *testing.T) {
	t.Parallel()
	w, in := putWorld(t)
	w.later(putProgress{})
	for w.attempt < 5 {
		_, err := run(w, w.acts.PutResource, in)
		w.advance(applicationError(t, err).NextRetryDelay())
	}
	w.attempt++ // the attempt that sends, and dies
	start := w.now()
	finish(w, w.acts.PutResource, in)
	if took := w.now().Sub(start); took != 20*time.Second || w.puts(thingText) != 1 {
		t.Errorf("the next PUT came after %s; %d PUTs", took, w.puts(thingText))
	}
}

func TestPutResourceLostAnswer(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		reason string
		setup  func(*setup)
		fault  armsim.Fault
		puts   int
	}{
		"Reset": {reason: "the PUT had arrived, its answer was lost", fault: armsim.Fault{Reset: true, Applied: true, Count: 1}, puts: 1},
		"GatewayTimeout": {
			reason: "a 504 says nothing of the outcome", fault: armsim.Fault{Status: 504, Applied: true, Count: 1}, puts: 1,
		},
		"ResetOfLongOne": {
			reason: "the operation is joined by reading", setup: long(armsim.OperationSpec{Shape: armsim.ShapeAsync, Seconds: 600}),
			fault: armsim.Fault{Reset: true, Applied: true, Count: 1}, puts: 1,
		},
		"ReadsLag": {
			reason: "a 404 right after the PUT is not believed", setup: func(s *setup) { s.sim.ReadAfterWrite = 12 * time.Second },
			fault: armsim.Fault{Reset: true, Applied: true, Count: 1}, puts: 1,
		},
		"NeverArrived": {reason: "where ARM has nothing after the window, the PUT is sent again", fault: armsim.Fault{Reset: true, Count: 1}, puts: 1},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if c.setup == nil {
				c.setup = func(*setup) {}
			}
			w, in := putWorld(t, c.setup)
			c.fault.Method = http.MethodPut
			w.sim.AddFault(c.fault)
			got, failures := finish(w, w.acts.PutResource, in)
			if got.Verdict.Stops() || !got.Sent || len(failures) == 0 {
				t.Errorf("%s: got %+v after %v", c.reason, got, failures)
			}
			if n := w.puts(thingText); n != c.puts {
				t.Errorf("%s: ARM accepted %d PUTs, want %d", c.reason, n, c.puts)
			}
		})
	}
}

func TestPutResourceUnknownOutcome(t *testing.T) {
	t.Parallel()
	w, in := putWorld(t)
	w.sim.AddFault(armsim.Fault{Method: http.MethodPut, Reset: true, Applied: true, Count: 1})
	w.sim.AddFault(armsim.Fault{Method: http.MethodGet, Reset: true})
	got, failures := finish(w, w.acts.PutResource, in)
	want(t, got.Verdict, resource.ActionError, resource.ReasonArmUnreachable, resource.RetrySlow)
	if !got.Unknown || len(failures) != faultsMax-1 {
		t.Errorf("got %+v after %v: the next pass must know that a PUT may be under way", got, failures)
	}
	w, in = putWorld(t)
	in.ObservedAt = time.Time{}
	w.sim.AddFault(armsim.Fault{Method: http.MethodGet, Reset: true})
	if got, _ := finish(w, w.acts.PutResource, in); got.Unknown {
		t.Errorf("got %+v: no PUT was ever sent", got)
	}
}

// A worker that stops begins no PUT, and the next one need not fear that it did.
func TestPutResourceWorkerStopping(t *testing.T) {
	t.Parallel()
	w, in := putWorld(t)
	close(w.stop)
	_, err := run(w, w.acts.PutResource, in)
	if failure := applicationError(t, err); failure.Type() != errorStopping || len(w.requests()) != 0 {
		t.Errorf("error %v, requests %v", err, w.requests())
	}
	w.stop = make(chan struct{})
	got, err := run(w, w.acts.PutResource, in)
	must(t, err)
	if diff := cmp.Diff([]string{"PUT t1"}, w.requests()); diff != "" || !got.Done {
		t.Errorf("the next worker made (-want +got):\n%s", diff)
	}
}

// A connection that nobody takes carries no PUT: the next attempt need not fear
// one, nor does the next pass.
func TestPutResourceNobodyThere(t *testing.T) {
	t.Parallel()
	w, in := putWorld(t)
	w.server.Close()
	got, failures := finish(w, w.acts.PutResource, in)
	want(t, got.Verdict, resource.ActionError, resource.ReasonArmUnreachable, resource.RetrySlow, "ARM cannot be reached", "refused")
	if got.Unknown {
		t.Errorf("got %+v: nothing was ever sent", got)
	}
	wantDelays(t, "a few attempts", failures, []time.Duration{time.Second, 2 * time.Second, 4 * time.Second})
}

func TestPutResourceForce(t *testing.T) {
	t.Parallel()
	w, in := putWorld(t)
	w.put(thingText, `{"location":"westus2","properties":{"size":7,"provisioningState":"Updating"}}`)
	in.Force, in.ObservedAt = true, time.Time{}
	_, err := run(w, w.acts.PutResource, in)
	must(t, err)
	if diff := cmp.Diff([]string{"GET t1", "PUT t1"}, w.requests()); diff != "" {
		t.Errorf("a forced PUT is sent (-want +got):\n%s", diff)
	}
	w.sim.ResetCounters()
	w.later(putProgress{})
	got, err := run(w, w.acts.PutResource, in)
	must(t, err)
	if diff := cmp.Diff([]string{"GET t1"}, w.requests()); diff != "" || !strings.Contains(got.Verdict.Message, "joined") {
		t.Errorf("a forced PUT was repeated (-want +got):\n%s", diff)
	}
}
