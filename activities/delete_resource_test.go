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
			action: resource.ActionBlock, why: resource.ReasonDeletionNotSupported, class: resource.RetryVerySlow, message: "cancel its workflow",
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
			reason: "after some attempts a transient error is a verdict", fault: armsim.Fault{Method: http.MethodDelete, Reset: true},
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

func TestDeleteResourceIsRepeatable(t *testing.T) {
	t.Parallel()
	w, _ := putWorld(t)
	w.put(thingText, thingBody)
	in := DeleteResourceInput{Desired: desired(t, thingText, thingBody)}
	w.sim.AddFault(armsim.Fault{Method: http.MethodDelete, Reset: true, Applied: true, Count: 1})
	got, _ := finish(w, w.acts.DeleteResource, in)
	if !got.Done || len(w.sim.Resources(thingText, "")) != 0 {
		t.Errorf("after a lost response: %+v", got)
	}
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
