package activities

import (
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/armature-io/armature/armsim"
	"github.com/armature-io/armature/resource"
)

const missing = resource.Reason("MissingSubscriptionRegistration")

func unregistered(t *testing.T, change ...func(*setup)) (*world, PutResourceInput, RegisterProviderInput) {
	t.Helper()
	w, put := putWorld(t, change...)
	w.sim.SetProvider("Contoso.Things", "NotRegistered")
	return w, put, RegisterProviderInput{ID: put.Desired.ID, Namespace: "Contoso.Things"}
}

func (w *world) posts() int {
	posts := 0
	for _, request := range w.sim.Requests() {
		if request.Method == http.MethodPost {
			posts++
		}
	}
	return posts
}

// From the refused PUT to the accepted one.
func TestRegisterProvider(t *testing.T) {
	t.Parallel()
	w, put, _ := unregistered(t)
	refused, err := run(w, w.acts.PutResource, put)
	must(t, err)
	want(t, refused.Verdict, resource.ActionError, missing, resource.RetrySlow)
	if refused.Unregistered != "Contoso.Things" {
		t.Fatalf("the refusal names provider %q", refused.Unregistered)
	}
	in := RegisterProviderInput{ID: put.Desired.ID, Namespace: refused.Unregistered}
	got, err := run(w, w.acts.RegisterProvider, in)
	must(t, err)
	want(t, got.Verdict, resource.ActionBlock, missing, resource.RetryFast, "its registration was requested", "Contoso.Things")
	if got.Verdict.RetryAfter != registrationWait {
		t.Errorf("the next try is in %s", got.Verdict.RetryAfter)
	}
	w.advance(registrationWait)
	got, err = run(w, w.acts.RegisterProvider, in)
	must(t, err)
	want(t, got.Verdict, resource.ActionProceed, "", "", "is registered")
	if n := w.posts(); n != 1 {
		t.Errorf("%d requests for registration, want 1", n)
	}
	put.ObservedAt = w.now()
	accepted, err := run(w, w.acts.PutResource, put)
	must(t, err)
	want(t, accepted.Verdict, resource.ActionProceed, "", "")
	if accepted.Unregistered != "" {
		t.Errorf("an accepted PUT names provider %q", accepted.Unregistered)
	}
}

// A hundred resources on one worker share one read; a second worker finds the
// registration that the first requested.
func TestRegisterProviderOnce(t *testing.T) {
	t.Parallel()
	w, _, in := unregistered(t)
	ctx := w.writes(t.Context())
	var all sync.WaitGroup
	for range 100 {
		all.Go(func() {
			if _, err := w.acts.register(ctx, in); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if _, err := w.acts.register(ctx, in); err != nil { // later, but soon
		t.Error(err)
	}
	if n := len(w.requests()); n != 2 {
		t.Errorf("%d requests of one worker, want GET and POST", n)
	}
	other := New(w.acts.Dependencies, w.acts.options)
	found, err := other.register(ctx, in)
	must(t, err)
	if found.state != "Registering" || found.requested || w.posts() != 1 {
		t.Errorf("the second worker got %+v with %d requests for registration in all", found, w.posts())
	}
}

func TestRegisterProviderVerdicts(t *testing.T) {
	t.Parallel()
	const command = "az provider register --namespace Contoso.Things --subscription 11111111-1111-1111-1111-111111111111"
	cases := map[string]struct {
		reason string
		state  string
		off    bool
		fault  *armsim.Fault
		in     func(*RegisterProviderInput)
		action resource.Action
		why    resource.Reason
		class  resource.RetryClass
		parts  []string
		posts  int
	}{
		"SwitchedOff": {
			reason: "the verdict names the command", state: "NotRegistered", off: true,
			action: resource.ActionError, why: missing, class: resource.RetryVerySlow, parts: []string{command, "NotRegistered"},
		},
		"SwitchedOffRegistering": {
			reason: "another user started it", state: "Registering", off: true, action: resource.ActionBlock, why: missing, class: resource.RetryFast,
		},
		"SwitchedOffRegistered": {reason: "it is registered", state: "Registered", off: true, action: resource.ActionProceed},
		"Unregistered":          {reason: "another user unregistered it", state: "Unregistered", action: resource.ActionBlock, why: missing, class: resource.RetryFast, posts: 1},
		"OwnProvider": {
			reason: "without a namespace it is the resource's provider", state: "NotRegistered", in: func(in *RegisterProviderInput) { in.Namespace = "" },
			action: resource.ActionBlock, why: missing, class: resource.RetryFast, parts: []string{"Contoso.Things"}, posts: 1,
		},
		"Forbidden": {
			reason: "the credential may not register it", state: "NotRegistered", fault: &armsim.Fault{Method: http.MethodPost, Status: 403, Code: "AuthorizationFailed"},
			action: resource.ActionError, why: "AuthorizationFailed", class: resource.RetrySlow, parts: []string{command, "may not register"}, posts: 1,
		},
		"Throttled": {
			reason: "the budget is exhausted", state: "NotRegistered", fault: &armsim.Fault{Method: http.MethodGet, Status: 429, Code: "TooManyRequests"},
			action: resource.ActionBlock, why: "TooManyRequests", class: resource.RetrySlow,
		},
		"Fault": {
			reason: "a transient error is retried", state: "NotRegistered", fault: &armsim.Fault{Method: http.MethodGet, Status: 503, Count: 2},
			action: resource.ActionBlock, why: missing, class: resource.RetryFast, posts: 1,
		},
		"Outage": {
			reason: "a persistent error is a verdict", state: "NotRegistered", fault: &armsim.Fault{Reset: true},
			action: resource.ActionError, why: resource.ReasonArmUnreachable, class: resource.RetrySlow,
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, _, in := unregistered(t, func(s *setup) { s.options.KeepUnregistered = c.off })
			w.sim.SetProvider("Contoso.Things", c.state)
			if c.fault != nil {
				w.sim.AddFault(*c.fault)
			}
			if c.in != nil {
				c.in(&in)
			}
			got, _ := finish(w, w.acts.RegisterProvider, in)
			want(t, got.Verdict, c.action, c.why, c.class, c.parts...)
			if n := w.posts(); n != c.posts {
				t.Errorf("%s: %d requests for registration, want %d", c.reason, n, c.posts)
			}
		})
	}
}

// A caller that gives up does not cancel the request of the others.
func TestRegisterProviderOutlivesTheFirstCaller(t *testing.T) {
	t.Parallel()
	w, _, in := unregistered(t)
	gate := w.sim.AddFault(armsim.Fault{Method: http.MethodGet, Gate: true})
	got, failures := finishWithin(w, 200*time.Millisecond, w.acts.RegisterProvider, in)
	if len(failures) == 0 {
		t.Fatalf("got %+v behind a gate", got)
	}
	w.sim.RemoveFault(gate)
	w.advance(time.Minute)
	got, _ = finish(w, w.acts.RegisterProvider, in)
	want(t, got.Verdict, resource.ActionBlock, missing, resource.RetryFast)
}
