package activities

import (
	"net/http"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/armature-io/armature/armsim"
	"github.com/armature-io/armature/resource"
)

const thingBody = `{"location":"westus2","properties":{"size":1}}`

// putWorld returns a world with the group, and the environment with one secret.
func putWorld(t *testing.T, change ...func(*setup)) (*world, PutResourceInput) {
	t.Helper()
	w := newWorld(t, change...)
	w.put(groupText, `{"location":"westus2"}`)
	return w, PutResourceInput{Desired: desired(t, thingText, thingBody), Kind: PutCreationAgain, ObservedAt: w.now()}
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
			reason: "the response has the token and the wait", setup: long(armsim.OperationSpec{Shape: armsim.ShapeAsync, Seconds: 60, RetryAfter: []float64{7}}),
			token: true, sent: true, wait: 7 * time.Second, requests: []string{"PUT t1"},
		},
		"Unpollable": {
			reason: "accepted without a usable URL: no token, not done", setup: long(armsim.OperationSpec{Shape: armsim.ShapeLocation, Seconds: 60, RelativeLocation: true}),
			sent: true, wait: 15 * time.Second, requests: []string{"PUT t1"},
		},
		"OldObservation": {
			reason: "a read older than 30s is recreated", given: func(w *world, in *PutResourceInput) { in.ObservedAt = w.now().Add(-31 * time.Second) },
			done: true, sent: true, requests: []string{"GET t1", "PUT t1"},
		},
		"OldAndInSync": {
			reason: "a difference that another user corrected meanwhile gets no PUT",
			given: func(w *world, in *PutResourceInput) {
				w.put(thingText, thingBody)
				in.ObservedAt = w.now().Add(-31 * time.Second)
			},
			message: "in sync meanwhile", done: true, requests: []string{"GET t1"},
		},
		"OldAndUncompared": {
			reason: "an extension that requests a PUT gets it",
			given: func(w *world, in *PutResourceInput) {
				w.put(thingText, thingBody)
				in.ObservedAt, in.Kind = w.now().Add(-31*time.Second), PutUncompared
			},
			done: true, sent: true, requests: []string{"GET t1", "PUT t1"},
		},
		"OldAndBusy": {
			reason: "an operation that started since the read is joined",
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
			if w.beats != 0 {
				t.Errorf("%s: %d heartbeats, want none: each is a transaction, and the result arrives as soon", c.reason, w.beats)
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
		"Conflict":  {"a conflict ends by itself", armsim.Fault{Status: 409, Code: "AnotherOperationInProgress"}, resource.ActionBlock, "AnotherOperationInProgress", resource.RetrySlow},
		"Throttled": {"the budget is exhausted", armsim.Fault{Status: 429, Code: "TooManyRequests", Headers: map[string]string{"Retry-After": "9"}}, resource.ActionBlock, "TooManyRequests", resource.RetrySlow},
		"Wrong":     {"a value that is wrong until the manifest changes", armsim.Fault{Status: 400, Code: "InvalidParameter"}, resource.ActionError, "InvalidParameter", resource.RetryVerySlow},
		"Final":     {"a body that cannot be read", armsim.Fault{Status: 400, Code: "InvalidRequestContent"}, resource.ActionError, "InvalidRequestContent", resource.RetryNone},
		"NoGroup":   {"the code for an absent resource is about its group here", armsim.Fault{Status: 404, Code: "ResourceGroupNotFound"}, resource.ActionError, "ResourceGroupNotFound", resource.RetrySlow},
		"Forbidden": {"a wrong credential creates nothing", armsim.Fault{Status: 403, Code: "AuthorizationFailed"}, resource.ActionError, "AuthorizationFailed", resource.RetrySlow},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, in := putWorld(t)
			c.fault.Method, c.fault.Message = http.MethodPut, "The message of ARM."
			w.sim.AddFault(c.fault)
			got, err := run(w, w.acts.PutResource, in)
			must(t, err)
			want(t, got.Verdict, c.action, c.why, c.class, "The message of ARM.", "ARM request ID")
			if got.Sent || got.Unknown || w.puts(thingText) != 0 {
				t.Errorf("%s: got %+v", c.reason, got)
			}
		})
	}
}
