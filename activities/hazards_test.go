package activities

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/armature-io/armature/armsim"
	"github.com/armature-io/armature/extensions"
	"github.com/armature-io/armature/resource"
)

// The tests named TestHazardNN check that the known hazards of operators for ARM
// do not occur here. The others are in workflows, extensions and arm.

// Hazard 1: a poll that fails loses the operation, and the resource is written
// again.
func TestHazard01FailedPollsKeepTheOperation(t *testing.T) {
	t.Parallel()
	for name, fault := range map[string]armsim.Fault{
		"HTML":        {Status: 500, Body: json.RawMessage(`"<html>oops</html>"`)},
		"Unavailable": {Status: 503, Code: "ServerBusy"},
		"Throttled":   {Status: 429, Code: "TooManyRequests", Headers: map[string]string{"Retry-After": "20"}},
		"Token":       {Status: 401, Code: "ExpiredAuthenticationToken"},
		"Unknown":     {Status: 404, Code: "OperationNotFound"},
		"Reset":       {Reset: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, put := putWorld(t, long(armsim.OperationSpec{Shape: armsim.ShapeAsync, Seconds: 300, RetryAfter: []float64{30}}))
			in := begin(t, w, put)
			fault.On, fault.After, fault.Count = "operation", 1, 2
			w.sim.AddFault(fault)
			got, failures := finish(w, w.acts.PollOperation, in)
			want(t, got.Verdict, resource.ActionSuccess, "", "")
			if puts := w.puts(thingText); puts != 0 { // the counters begin after the first one
				t.Errorf("%d more PUTs after a poll that failed", puts)
			}
			for _, request := range w.requests() {
				if request != "POLL" {
					t.Errorf("request %q: the operation itself should be polled", request)
				}
			}
			if got.Duration < 300*time.Second || len(failures) < 9 {
				t.Errorf("it ended after %s and %d attempts, before the operation", got.Duration, len(failures))
			}
		})
	}
}

// Hazard 3: the Retry-After of a 429 is ignored.
func TestHazard03RetryAfterOfA429IsUsed(t *testing.T) {
	t.Parallel()
	asks := func(method, on string) armsim.Fault {
		return armsim.Fault{Method: method, On: on, Status: 429, Code: "TooManyRequests", Headers: map[string]string{"Retry-After": "303"}, Count: 1}
	}
	w, put := putWorld(t, long(armsim.OperationSpec{Shape: armsim.ShapeAsync, Polls: 1, RetryAfter: []float64{5}}))
	w.sim.AddFault(asks(http.MethodPut, ""))
	refused, err := run(w, w.acts.PutResource, put)
	must(t, err)
	want(t, refused.Verdict, resource.ActionBlock, "TooManyRequests", resource.RetrySlow)
	w.sim.AddFault(asks(http.MethodGet, ""))
	read, err := run(w, w.acts.GetResource, GetResourceInput{Target: resource.Target{ID: put.Desired.ID, APIVersion: put.Desired.APIVersion}})
	must(t, err)
	w.put(clusterText, `{"location":"westus2"}`)
	w.sim.AddFault(asks(http.MethodDelete, ""))
	deleted, err := run(w, w.acts.DeleteResource, DeleteResourceInput{Desired: desired(t, clusterText, `{}`)})
	must(t, err)
	for what, verdict := range map[string]resource.Verdict{"PUT": refused.Verdict, "GET": read.Verdict, "DELETE": deleted.Verdict} {
		if verdict.RetryAfter != 303*time.Second {
			t.Errorf("the verdict of the %s is retried after %s", what, verdict.RetryAfter)
		}
	}
	in := begin(t, w, put)
	w.sim.AddFault(asks(http.MethodGet, "operation"))
	_, failures := finish(w, w.acts.PollOperation, in)
	wantDelays(t, "the poll waits as long", failures, []time.Duration{5 * time.Second, 303 * time.Second, 5 * time.Second})
}

// Hazard 7: the loop waits for minutes. An attempt here makes one request and does
// not wait.
func TestHazard07NoAttemptWaits(t *testing.T) {
	t.Parallel()
	w, put := putWorld(t, long(armsim.OperationSpec{Shape: armsim.ShapeAsync, Seconds: 3000, RetryAfter: []float64{120}}))
	in := begin(t, w, put)
	attempts, longest := 0, time.Duration(0)
	for done := false; !done; attempts++ {
		before, started := len(w.requests()), time.Now()
		_, err := run(w, w.acts.PollOperation, in)
		longest = max(longest, time.Since(started))
		if made := len(w.requests()) - before; made > 1 {
			t.Fatalf("attempt %d made %d requests", attempts, made)
		}
		if done = err == nil; !done {
			w.advance(applicationError(t, err).NextRetryDelay())
		}
	}
	if attempts < 25 || longest > 2*time.Second {
		t.Errorf("an operation of 50 min took %d attempts, the longest %s of real time", attempts, longest)
	}
}

// vague blocks with a message and returns an error as well.
type vague struct{}

func (vague) PreReconcileCheck(
	context.Context, *resource.Object, *resource.Object, extensions.Resolver, extensions.ARMClient, *slog.Logger, extensions.PreReconcileCheckFunc,
) (extensions.PreReconcileCheckResult, error) {
	return extensions.BlockReconcile("the thing is being moved"), errors.New("the mover did not answer")
}

// Hazard 9: a check that returns an error loses its message.
func TestHazard09TheErrorOfACheckIsShown(t *testing.T) {
	t.Parallel()
	w, put := putWorld(t, func(s *setup) {
		s.entries = append(s.entries, extensions.Entry{Type: id(t, thingText).Type(), Link: vague{}})
	})
	got := local(w, w.acts.PreCheck, PreCheckInput{Desired: put.Desired})
	want(t, got.Verdict, resource.ActionError, resource.ReasonCheckFailed, resource.RetrySlow, "the mover did not answer")
}

// Hazard 12: the errors of a GET are not classified.
func TestHazard12ErrorsOfAGetAreClassified(t *testing.T) {
	t.Parallel()
	for code, c := range map[string]struct {
		status int
		class  resource.RetryClass
		action resource.Action
	}{
		"AuthorizationFailed":        {403, resource.RetrySlow, resource.ActionError},
		"SubscriptionNotFound":       {404, resource.RetryVerySlow, resource.ActionError},
		"InvalidResourceType":        {404, resource.RetryNone, resource.ActionError},
		"AnotherOperationInProgress": {409, resource.RetrySlow, resource.ActionBlock},
		"TooManyRequests":            {429, resource.RetrySlow, resource.ActionBlock},
	} {
		t.Run(code, func(t *testing.T) {
			t.Parallel()
			w, put := putWorld(t)
			w.sim.AddFault(armsim.Fault{Method: http.MethodGet, Status: c.status, Code: code, Message: "What ARM says."})
			got, err := run(w, w.acts.GetResource, GetResourceInput{Target: resource.Target{ID: put.Desired.ID, APIVersion: put.Desired.APIVersion}})
			must(t, err)
			want(t, got.Verdict, c.action, resource.Reason(code), c.class, "What ARM says.", "ARM request ID")
			if got.Exists || strings.Contains(string(got.Observed), "{") {
				t.Errorf("an error shows a resource: %s", got.Observed)
			}
		})
	}
}
