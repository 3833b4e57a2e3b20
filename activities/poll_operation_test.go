package activities

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.temporal.io/sdk/temporal"

	"github.com/armature-io/armature/armsim"
	"github.com/armature-io/armature/resource"
)

// begin sends the PUT of the thing and returns the input of its poll; it clears the
// request log.
func begin(t *testing.T, w *world, in PutResourceInput) PollOperationInput {
	t.Helper()
	put, err := run(w, w.acts.PutResource, in)
	must(t, err)
	if put.Done || put.Verdict.Stops() {
		t.Fatalf("the PUT is no long-running operation: %+v", put)
	}
	w.sim.ResetCounters()
	return PollOperationInput{
		Target: in.Desired.Target(), Token: put.Token, RetryAfter: put.RetryAfter,
	}
}

func TestPollOperation(t *testing.T) {
	t.Parallel()
	w, put := putWorld(t, long(armsim.OperationSpec{Shape: armsim.ShapeAsync, Seconds: 20, RetryAfter: []float64{7, 5, 11}, StatusWord: "Running"}))
	got, failures := finish(w, w.acts.PollOperation, begin(t, w, put))
	want(t, got.Verdict, resource.ActionSuccess, "", "", "ended after 23s; polls: 3")
	wantDelays(t, "each delay is what ARM asked for last", failures, []time.Duration{7 * time.Second, 5 * time.Second, 11 * time.Second})
	for _, failure := range failures {
		if failure.Type() != ErrorNotYet || failure.Category() != temporal.ApplicationErrorCategoryBenign {
			t.Errorf("error %v is not benign", failure)
		}
	}
	if diff := cmp.Diff([]string{"POLL", "POLL", "POLL"}, w.requests()); diff != "" {
		t.Errorf("one request an attempt, none of them to the resource (-want +got):\n%s", diff)
	}
	if got.Polls != 3 || got.Duration != 23*time.Second || cmp.Diff([]string{"Running", "Succeeded"}, got.States) != "" {
		t.Errorf("got %+v", got)
	}
}

func TestPollOperationEnds(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		reason string
		spec   armsim.OperationSpec
		given  func(*world)
		action resource.Action
		why    resource.Reason
		class  resource.RetryClass
		parts  []string
		kinds  string // of the requests, P for POLL, G for GET
	}{
		"Failed": {
			reason: "code and message of the failure are ARM's", action: resource.ActionError, why: "AllocationFailed", class: resource.RetrySlow,
			spec:  armsim.OperationSpec{Shape: armsim.ShapeAsync, Polls: 1, RetryAfter: []float64{5}, Outcome: "Failed", ErrorCode: "AllocationFailed", ErrorMessage: "No room."},
			parts: []string{"ended as Failed", "No room."}, kinds: "PP",
		},
		"Canceled": {
			reason: "the operation was canceled", action: resource.ActionError, why: "OperationPreempted", class: resource.RetrySlow,
			spec:  armsim.OperationSpec{Shape: armsim.ShapeAsync, Polls: 1, RetryAfter: []float64{5}, Outcome: "Canceled", ErrorCode: "OperationPreempted", ErrorMessage: "Another user."},
			parts: []string{"ended as Canceled"}, kinds: "PP",
		},
		"FailedByLocation": {
			reason: "a 4xx of a Location is a poll that cannot be read: the resource is read", action: resource.ActionError, why: "InternalServerError", class: resource.RetrySlow,
			spec:  armsim.OperationSpec{Shape: armsim.ShapeLocation, Polls: 1, RetryAfter: []float64{5}, Outcome: "Failed"},
			parts: []string{`provisioning state "Failed"`, "did not succeed"}, kinds: "PPG",
		},
		"RefusedByLocation": {
			reason: "the response of the Location is the reason", action: resource.ActionError, why: "SkuNotAvailable", class: resource.RetryVerySlow,
			spec: armsim.OperationSpec{Shape: armsim.ShapeLocation, Polls: 1, RetryAfter: []float64{5}, Outcome: "Failed"},
			given: func(w *world) {
				w.sim.AddFault(armsim.Fault{On: "operation", After: 1, Status: 409, Code: "SkuNotAvailable", Message: "No such SKU here."})
			},
			parts: []string{`provisioning state "Failed"`, "No such SKU here."}, kinds: "PPG",
		},
		"ByState": {
			reason: "without a header the provisioningState is polled", action: resource.ActionSuccess,
			spec: armsim.OperationSpec{Shape: armsim.ShapeState, Polls: 2, RetryAfter: []float64{5}}, kinds: "GGG",
		},
		"NoURL": {
			reason: "a relative Location cannot be polled: the resource is read", action: resource.ActionSuccess,
			spec: armsim.OperationSpec{Shape: armsim.ShapeLocation, Polls: 2, RelativeLocation: true}, kinds: "GGG",
		},
		"Hidden": {
			reason: "accepted, but 404 for a while", action: resource.ActionSuccess,
			spec: armsim.OperationSpec{Shape: armsim.ShapeLocation, Seconds: 40, RelativeLocation: true, HiddenUntilDone: true}, kinds: "GGG",
		},
		"HiddenForEver": {
			reason: "accepted, and never visible", action: resource.ActionError, why: resource.ReasonOperationFailed, class: resource.RetrySlow,
			spec:  armsim.OperationSpec{Shape: armsim.ShapeLocation, Seconds: 4000, RelativeLocation: true, HiddenUntilDone: true},
			parts: []string{"does not show the resource", "1m"}, kinds: "GGGGG",
		},
		"PollRefused": {
			reason: "operation URLs need other rights than the resource, which is read instead", action: resource.ActionSuccess,
			spec: armsim.OperationSpec{Shape: armsim.ShapeAsync, Polls: 3, RetryAfter: []float64{5}},
			given: func(w *world) {
				w.sim.AddFault(armsim.Fault{On: "operation", Status: 403, Code: "AuthorizationFailed"})
			}, kinds: "PGGGG",
		},
		"PollGone": {
			reason: "a 404 of an operation does not mean that the resource is absent", action: resource.ActionSuccess,
			spec:  armsim.OperationSpec{Shape: armsim.ShapeAsync, Polls: 1, RetryAfter: []float64{5}},
			given: func(w *world) { w.sim.AddFault(armsim.Fault{On: "operation", Status: 404, Code: "OperationNotFound"}) }, kinds: "PPPGG",
		},
		"PollNotKnownYet": {
			reason: "one replica lags: the polls of the operation continue", action: resource.ActionSuccess,
			spec: armsim.OperationSpec{Shape: armsim.ShapeAsync, Polls: 1, RetryAfter: []float64{5}},
			given: func(w *world) {
				w.sim.AddFault(armsim.Fault{On: "operation", Status: 404, Code: "OperationNotFound", Count: 2})
			}, kinds: "PPPP",
		},
		"TokenExpired": {
			reason: "the credential gets a new token", action: resource.ActionSuccess,
			spec: armsim.OperationSpec{Shape: armsim.ShapeAsync, Polls: 1, RetryAfter: []float64{5}},
			given: func(w *world) {
				w.sim.AddFault(armsim.Fault{On: "operation", Status: 401, Code: "ExpiredAuthenticationToken", Count: 3})
			}, kinds: "PPPPP",
		},
		"ThrottledForLong": {
			reason: "an exhausted budget does not make the operation unreadable", action: resource.ActionSuccess,
			spec: armsim.OperationSpec{Shape: armsim.ShapeAsync, Polls: 1, RetryAfter: []float64{5}},
			given: func(w *world) {
				w.sim.AddFault(armsim.Fault{On: "operation", Status: 429, Count: 12})
			}, kinds: strings.Repeat("P", 14),
		},
		"Faults": {
			reason: "a few errors cost time only", action: resource.ActionSuccess,
			spec: armsim.OperationSpec{Shape: armsim.ShapeAsync, Polls: 1, RetryAfter: []float64{5}},
			given: func(w *world) {
				w.sim.AddFault(armsim.Fault{On: "operation", Status: 500, Count: 1})
				w.sim.AddFault(armsim.Fault{On: "operation", Status: 408, Count: 1})
				w.sim.AddFault(armsim.Fault{On: "operation", Status: 429, Count: 1, Headers: map[string]string{"Retry-After": "30"}})
			}, kinds: "PPPPP",
		},
		"FaultsForEver": {
			reason: "after ten errors the resource is read", action: resource.ActionSuccess,
			spec:  armsim.OperationSpec{Shape: armsim.ShapeAsync, Seconds: 5, RetryAfter: []float64{5}},
			given: func(w *world) { w.sim.AddFault(armsim.Fault{On: "operation", Status: 500}) }, kinds: "PPPPPPPPPPG",
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, put := putWorld(t, long(c.spec))
			in := begin(t, w, put)
			if c.given != nil {
				c.given(w)
			}
			got, _ := finish(w, w.acts.PollOperation, in)
			want(t, got.Verdict, c.action, c.why, c.class, c.parts...)
			kinds := ""
			for _, request := range w.requests() {
				kinds += request[:1]
			}
			if kinds != c.kinds {
				t.Errorf("%s: requests %s, want %s", c.reason, kinds, c.kinds)
			}
			if got.Polls != len(kinds) {
				t.Errorf("%s: %d polls reported, %d made", c.reason, got.Polls, len(kinds))
			}
		})
	}
}

func TestPollOperationUsesRetryAfterOfErrors(t *testing.T) {
	t.Parallel()
	w, put := putWorld(t, long(armsim.OperationSpec{Shape: armsim.ShapeAsync, Polls: 1, RetryAfter: []float64{5}}))
	in := begin(t, w, put)
	w.sim.AddFault(armsim.Fault{On: "operation", Status: 503, Count: 2})
	w.sim.AddFault(armsim.Fault{On: "operation", Status: 429, Count: 1, Headers: map[string]string{"Retry-After": "300"}})
	_, failures := finish(w, w.acts.PollOperation, in)
	wantDelays(t, "its own delay doubles, ARM's counts", failures,
		[]time.Duration{5 * time.Second, 5 * time.Second, 10 * time.Second, 5 * time.Minute, 5 * time.Second})
}

// A poll that fails does not end the operation: neither many errors nor a resource
// that cannot be read do.
func TestPollOperationErrorsNeverEndIt(t *testing.T) {
	t.Parallel()
	for name, fault := range map[string]armsim.Fault{
		"Reset": {On: "any", Reset: true}, "Error": {On: "any", Status: 500}, "Unauthorized": {On: "any", Status: 401, Code: "InvalidAuthenticationToken"},
		"NoSubscription": {On: "any", Status: 404, Code: "SubscriptionNotFound"}, "HTML": {On: "any", Status: 200, Body: json.RawMessage(`"<html>"`)},
		"Conflict": {On: "any", Status: 409, Code: "Conflict"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, put := putWorld(t, long(armsim.OperationSpec{Shape: armsim.ShapeAsync, Seconds: 3600, RetryAfter: []float64{5}}))
			in := begin(t, w, put)
			w.sim.AddFault(fault)
			longest := time.Duration(0)
			for range 40 {
				_, err := run(w, w.acts.PollOperation, in)
				failure := applicationError(t, err)
				longest = max(longest, failure.NextRetryDelay())
				w.advance(failure.NextRetryDelay())
			}
			if longest != maxPollErrorDelay {
				t.Errorf("the longest wait between errors is %s", longest)
			}
			w.sim.RemoveFault("")
			w.advance(time.Hour)
			got, _ := finish(w, w.acts.PollOperation, in)
			want(t, got.Verdict, resource.ActionSuccess, "", "")
		})
	}
}

// A worker that dies loses one poll at most: the token before it is still good.
func TestPollOperationSurvivesALostWorker(t *testing.T) {
	t.Parallel()
	w, put := putWorld(t, long(armsim.OperationSpec{Shape: armsim.ShapeAsync, Polls: 3, RetryAfter: []float64{5}}))
	in := begin(t, w, put)
	for range 3 {
		_, err := run(w, w.acts.PollOperation, in)
		w.killed()
		w.advance(applicationError(t, err).NextRetryDelay())
	}
	if n := len(w.requests()); n != 0 {
		t.Fatalf("an attempt after a lost heartbeat starts over; %d requests", n)
	}
	got, _ := finish(w, w.acts.PollOperation, in)
	want(t, got.Verdict, resource.ActionSuccess, "", "")
	if w.puts(thingText) != 0 {
		t.Error("a poll sent a write")
	}
}

func TestPollOperationDelete(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		reason string
		spec   armsim.OperationSpec
		action resource.Action
		part   string
		reads  bool
	}{
		"ByOperation": {reason: "the operation succeeds", spec: armsim.OperationSpec{Shape: armsim.ShapeBoth, Seconds: 20, RetryAfter: []float64{10}}, action: resource.ActionSuccess},
		"ByState":     {reason: "read until it is absent", spec: armsim.OperationSpec{Shape: armsim.ShapeState, Seconds: 20}, action: resource.ActionSuccess, reads: true},
		"Unchanged": {
			reason: "an accepted DELETE is not done while the resource shows", action: resource.ActionError, part: "still shows the resource",
			spec: armsim.OperationSpec{Shape: armsim.ShapeState, Seconds: 4000, State: "Succeeded"}, reads: true,
		},
		"Failed": {
			reason: "a delete that failed", action: resource.ActionError, part: `provisioning state "Failed"`,
			spec: armsim.OperationSpec{Shape: armsim.ShapeState, Seconds: 20, Outcome: "Failed"}, reads: true,
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, _ := putWorld(t, func(s *setup) {
				s.sim.Operations = []armsim.OperationRule{{Type: "Contoso.Things/*", On: "delete", Spec: c.spec}}
			})
			w.put(thingText, thingBody)
			deleted, err := run(w, w.acts.DeleteResource, DeleteResourceInput{Desired: desired(t, thingText, thingBody)})
			must(t, err)
			if deleted.Done || (deleted.Token == "") != c.reads {
				t.Fatalf("%s: the DELETE returned %+v", c.reason, deleted)
			}
			got, _ := finish(w, w.acts.PollOperation, PollOperationInput{
				Target: resource.Target{ID: id(t, thingText), APIVersion: "2023-08-15"}, Token: deleted.Token, RetryAfter: deleted.RetryAfter, Delete: true,
			})
			if got.Verdict.Action != c.action || !strings.Contains(got.Verdict.Message, c.part) {
				t.Errorf("%s: got %+v", c.reason, got)
			}
		})
	}
}

func TestPollOperationOfADisappearingResource(t *testing.T) {
	t.Parallel()
	w, _ := putWorld(t)
	w.put(thingText, `{"location":"westus2","properties":{"provisioningState":"Deleting"}}`)
	in := PollOperationInput{Target: resource.Target{ID: id(t, thingText), APIVersion: "2023-08-15"}}
	for range 2 {
		_, err := run(w, w.acts.PollOperation, in)
		w.advance(applicationError(t, err).NextRetryDelay())
	}
	w.sim.Delete(thingText)
	got, err := run(w, w.acts.PollOperation, in)
	must(t, err)
	want(t, got.Verdict, resource.ActionError, resource.ReasonOperationFailed, resource.RetrySlow, "was deleted")
}

// ARM's message about a failed operation may repeat values of the PUT.
func TestPollOperationHidesSecrets(t *testing.T) {
	t.Parallel()
	w, put := putWorld(t, long(armsim.OperationSpec{
		Shape: armsim.ShapeAsync, Polls: 1, RetryAfter: []float64{5}, Outcome: "Failed", ErrorCode: "BadPassword", ErrorMessage: "The password " + planted + " is known.",
	}))
	put.Desired.Body = json.RawMessage(secretBody)
	put.Desired.SecretRefs = []string{"env:ARMATURE_SECRET_ACTIVITIES"}
	in := begin(t, w, put)
	got, _ := finish(w, w.acts.PollOperation, in)
	want(t, got.Verdict, resource.ActionError, "BadPassword", resource.RetryVerySlow, "The password (masked) is known.")
	w.leaks(planted, got, w.verdicts)
	in.SecretRefs = []string{"env:ARMATURE_SECRET_GONE"}
	got, _ = finish(w, w.acts.PollOperation, in)
	want(t, got.Verdict, resource.ActionError, "BadPassword", resource.RetryVerySlow, "not shown")
	w.leaks(planted, got, w.verdicts)
}

// A connection that is cut during a poll costs one attempt.
func TestPollOperationHangs(t *testing.T) {
	t.Parallel()
	w, put := putWorld(t, long(armsim.OperationSpec{Shape: armsim.ShapeAsync, Polls: 1, RetryAfter: []float64{5}}))
	in := begin(t, w, put)
	w.sim.AddFault(armsim.Fault{On: "operation", Method: http.MethodGet, Gate: true, Count: 1})
	got, failures := finishWithin(w, 300*time.Millisecond, w.acts.PollOperation, in)
	want(t, got.Verdict, resource.ActionSuccess, "", "")
	if !strings.Contains(failures[1].Error(), "did not answer") {
		t.Errorf("failures %v", failures)
	}
}
