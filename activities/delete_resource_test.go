package activities

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/armature-io/armature/armsim"
	"github.com/armature-io/armature/extensions"
	"github.com/armature-io/armature/resource"
)

func TestDeleteResource(t *testing.T) {
	t.Parallel()
	rule := func(spec armsim.OperationSpec) func(*setup) {
		return func(s *setup) {
			s.sim.Operations = []armsim.OperationRule{{Type: "Contoso.Things/*", On: "delete", Spec: spec}}
		}
	}
	fault := func(status int, code string) armsim.Fault {
		return armsim.Fault{Method: http.MethodDelete, Status: status, Code: code, Message: "What ARM says."}
	}
	cases := map[string]struct {
		reason  string
		setup   func(*setup)
		absent  bool
		fault   armsim.Fault
		action  resource.Action
		why     resource.Reason
		class   resource.RetryClass
		message string
		done    bool
		token   bool
		wait    time.Duration
	}{
		"Sync": {reason: "200: done at once", action: resource.ActionProceed, message: "status 200", done: true},
		"Long": {
			reason: "202: an operation", setup: rule(armsim.OperationSpec{Shape: armsim.ShapeBoth, Seconds: 20, RetryAfter: []float64{10}}),
			action: resource.ActionProceed, message: "status 202", token: true, wait: 10 * time.Second,
		},
		"NothingToPoll": {
			reason: "202 and no URL: the resource is read", setup: rule(armsim.OperationSpec{Shape: armsim.ShapeState, Seconds: 20}),
			action: resource.ActionProceed, wait: 15 * time.Second,
		},
		"NoContent": {reason: "204: the resource did not exist", absent: true, action: resource.ActionProceed, done: true},
		"NotFound": {
			reason: "404 with a code for absence", fault: fault(404, "ResourceNotFound"),
			action: resource.ActionProceed, message: "no longer existed", done: true,
		},
		"NoSubscription": {
			reason: "a wrong subscription does not mean that the resource is deleted", fault: fault(404, "SubscriptionNotFound"),
			action: resource.ActionError, why: "SubscriptionNotFound", class: resource.RetryVerySlow, message: "What ARM says.",
		},
		"Unauthorized": {
			reason: "neither does a wrong credential", fault: fault(401, "InvalidAuthenticationToken"),
			action: resource.ActionError, why: "InvalidAuthenticationToken", class: resource.RetrySlow,
		},
		"NotSupported": {
			reason: "for a type without DELETE the message explains how to stop managing it", fault: fault(405, "MethodNotAllowed"),
			action: resource.ActionBlock, why: resource.ReasonDeletionNotSupported, class: resource.RetryVerySlow, message: "armature forget",
		},
		"Locked": {
			reason: "another user locked it on purpose", fault: fault(409, "ScopeLocked"),
			action: resource.ActionError, why: "ScopeLocked", class: resource.RetryVerySlow, message: "What ARM says.",
		},
		"Busy": {
			reason: "a conflict is retried", fault: fault(409, "AnotherOperationInProgress"),
			action: resource.ActionBlock, why: "AnotherOperationInProgress", class: resource.RetrySlow,
		},
		"Unreachable": {
			reason: "a transient error is a verdict: the next pass reads before it deletes again", fault: armsim.Fault{Method: http.MethodDelete, Reset: true},
			action: resource.ActionError, why: resource.ReasonArmUnreachable, class: resource.RetrySlow,
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if c.setup == nil {
				c.setup = func(*setup) {}
			}
			w, _ := putWorld(t, c.setup)
			if !c.absent {
				w.put(thingText, thingBody)
			}
			if c.fault.Method != "" {
				w.sim.AddFault(c.fault)
			}
			got, _ := finish(w, w.acts.DeleteResource, DeleteResourceInput{Desired: desired(t, thingText, thingBody)})
			want(t, got.Verdict, c.action, c.why, c.class, c.message)
			if got.Done != c.done || (got.Token != "") != c.token || got.RetryAfter != c.wait {
				t.Errorf("%s: got %+v", c.reason, got)
			}
		})
	}
}

// TestDeleteReadsBeforeItRepeats checks that no DELETE is sent twice without a read: the
// resource may have been created again meanwhile, with contents.
//
//guard:no-delete-is-repeated-blindly
func TestDeleteReadsBeforeItRepeats(t *testing.T) {
	t.Parallel()
	w, _ := putWorld(t)
	w.put(thingText, thingBody)
	in := DeleteResourceInput{Desired: desired(t, thingText, thingBody)}
	w.sim.AddFault(armsim.Fault{Method: http.MethodDelete, Reset: true, Applied: true, Count: 1})
	got, _ := finish(w, w.acts.DeleteResource, in)
	if got.Done || got.Unsent || !got.Verdict.Stops() {
		t.Errorf("after a lost response: %+v, want a verdict that makes the next pass read", got)
	}
	w.put(thingText, thingBody) // another user creates it again
	w.mu.Lock()
	w.attempt++ // and the worker of the first attempt is lost
	w.mu.Unlock()
	again, err := run(w, w.acts.DeleteResource, in)
	must(t, err)
	want(t, again.Verdict, resource.ActionBlock, resource.ReasonDeleting, resource.RetrySlow, "is read again before another one")
	if len(w.sim.Resources(thingText, "")) != 1 {
		t.Error("a repeated attempt deleted what was created again")
	}
}

func TestDeleteResourceStops(t *testing.T) {
	t.Parallel()
	w, _ := putWorld(t)
	w.put(thingText, thingBody)
	in := DeleteResourceInput{Desired: desired(t, thingText, thingBody)}
	close(w.stop)
	_, err := run(w, w.acts.DeleteResource, in)
	if failure := applicationError(t, err); failure.Type() != errorStopping {
		t.Errorf("a worker that stops sends a DELETE: %v", err)
	}
}

// purger refuses, panics or deletes.
type purger struct{ how string }

func (p purger) Delete(
	ctx context.Context, obj *resource.Object, resolver extensions.Resolver, client extensions.ARMClient, log *slog.Logger, next extensions.DeleterFunc,
) error {
	switch p.how {
	case "refuse":
		return errors.New("the vault holds keys")
	case "instead":
		return nil
	case "read":
		_, err := client.Get(ctx, obj.ID, obj.APIVersion)
		return err
	}
	return next(ctx, obj, resolver, client, log)
}

func TestDeleteResourceExtension(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		reason   string
		how      string
		action   resource.Action
		why      resource.Reason
		class    resource.RetryClass
		message  string
		requests []string
	}{
		"Refuses": {
			reason: "its own error is not ARM's", how: "refuse", message: "the vault holds keys",
			action: resource.ActionError, why: resource.ReasonCheckFailed, class: resource.RetrySlow, requests: []string{},
		},
		"AsksARM": {
			reason: "an error of ARM to it is ARM's", how: "read", message: "denied",
			action: resource.ActionError, why: "AuthorizationFailed", class: resource.RetrySlow, requests: []string{"GET t1"},
		},
		"Instead": {
			reason: "the verdict claims no response that ARM never gave", how: "instead", message: "an extension deletes the resource",
			action: resource.ActionProceed, requests: []string{},
		},
		"Passes": {reason: "the plain DELETE", action: resource.ActionProceed, requests: []string{"DELETE t1"}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, _ := putWorld(t, func(s *setup) {
				s.entries = []extensions.Entry{{Type: "Contoso.Things/things", Link: purger{how: c.how}}}
			})
			w.put(thingText, thingBody)
			w.sim.AddFault(armsim.Fault{Method: http.MethodGet, Status: 403, Code: "AuthorizationFailed", Message: "denied"})
			got, err := run(w, w.acts.DeleteResource, DeleteResourceInput{Desired: desired(t, thingText, thingBody)})
			must(t, err)
			want(t, got.Verdict, c.action, c.why, c.class, c.message)
			if diff := cmp.Diff(c.requests, w.requests()); diff != "" {
				t.Errorf("%s: requests (-want +got):\n%s", c.reason, diff)
			}
		})
	}
}

func TestDeleteResourceUnsent(t *testing.T) {
	t.Parallel()
	refusal := armsim.Fault{Method: http.MethodDelete, Status: 409, Code: "ScopeLocked", Message: "locked"}
	cases := map[string]struct {
		reason string
		// then follows the fault.
		fault, then armsim.Fault
		frozen      bool
		deleter     bool
		want        bool
	}{
		"frozen":   {reason: "nothing is sent during a freeze", frozen: true, want: true},
		"refused":  {reason: "ARM refused the only DELETE", fault: refusal, want: true},
		"accepted": {reason: "ARM accepted the DELETE"},
		"lost": {
			reason: "ARM may have accepted a DELETE whose response was lost", fault: armsim.Fault{Method: http.MethodDelete, Reset: true, Applied: true},
		},
		"refused later": {
			reason: "ARM refused the second DELETE, and may have accepted the first", then: refusal,
			fault: armsim.Fault{Method: http.MethodDelete, Reset: true, Count: 1},
		},
		"failed":   {reason: "a 5xx may come after the DELETE was accepted", fault: armsim.Fault{Method: http.MethodDelete, Status: 503, Code: "ServiceUnavailable"}},
		"extended": {reason: "an extension may have written before the DELETE", fault: refusal, deleter: true},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, _ := putWorld(t, func(s *setup) {
				if c.deleter {
					s.entries = []extensions.Entry{{Type: "Contoso.Things/things", Link: purger{how: "pass"}}}
				}
			})
			w.put(thingText, thingBody)
			if c.fault.Method != "" {
				w.sim.AddFault(c.fault)
			}
			if c.then.Method != "" {
				w.sim.AddFault(c.then)
			}
			spec := desired(t, thingText, thingBody)
			if c.frozen {
				spec.Labels, w.fleet.frozen = map[string]string{"stack": "prod"}, true
			}
			got, _ := finish(w, w.acts.DeleteResource, DeleteResourceInput{Desired: spec})
			if got.Unsent != c.want {
				t.Errorf("%s: unsent is %t after %+v", c.reason, got.Unsent, got.Verdict)
			}
		})
	}
}

func TestAbortDependents(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.fleet.aborted = Aborted{Count: 3, Sent: []resource.ID{id(t, databaseText)}, Running: []resource.ID{id(t, thingText)}}
	in := AbortDependentsInput{ID: id(t, clusterText), By: "ada@host"}
	got, err := run(w, w.acts.AbortDependents, in)
	must(t, err)
	want(t, got.Verdict, resource.ActionProceed, "", "", "took back the deletions of 3 resources in c1", "accepted the DELETE of c1/db1", "a DELETE still runs of t1 ", "`armature delete --abort`")
	if diff := cmp.Diff([]Cascade{{Owner: in.ID, By: "ada@host"}}, w.fleet.taken); diff != "" {
		t.Errorf("cascades taken back (-want +got):\n%s", diff)
	}
	w.fleet.err = errors.New("no Temporal")
	if _, err := run(w, w.acts.AbortDependents, in); applicationError(t, err).Type() != errorAbort {
		t.Errorf("got %v, want an error that Temporal retries", err)
	}
}
