package activities

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"go.temporal.io/sdk/temporal"

	"github.com/armature-io/armature/armsim"
	"github.com/armature-io/armature/resource"
)

func TestGetResource(t *testing.T) {
	t.Parallel()
	failure := func(status int, code string) armsim.Fault {
		return armsim.Fault{Status: status, Code: code, Message: "What ARM says."}
	}
	cases := map[string]struct {
		reason string
		fault  armsim.Fault
		state  string
		exists bool
		flight string
		action resource.Action
		why    resource.Reason
		class  resource.RetryClass
		part   string
		// requests is 1 when 0.
		requests int
	}{
		"Found":       {reason: "the plain case", state: "Succeeded", exists: true, action: resource.ActionProceed},
		"Changing":    {reason: "the result shows an operation in flight", state: "Updating", exists: true, flight: "Updating", action: resource.ActionProceed},
		"UnknownWord": {reason: "an unknown state is no operation in flight", state: "Ready", exists: true, action: resource.ActionProceed},
		"Absent":      {reason: "ARM's code for absence", action: resource.ActionProceed},
		"NoGroup":     {reason: "without its group the resource is absent too", fault: failure(404, "ResourceGroupNotFound"), action: resource.ActionProceed},
		"NoSubscription": {
			reason: "the state of the resource is unknown: it is neither created nor reported as deleted", fault: failure(404, "SubscriptionNotFound"),
			requests: 2, action: resource.ActionError, why: "SubscriptionNotFound", class: resource.RetryVerySlow, part: "What ARM says.",
		},
		"NoType": {
			reason: "the type does not exist in the api-version: the manifest has to change", fault: failure(404, "InvalidResourceType"),
			action: resource.ActionError, why: "InvalidResourceType", class: resource.RetryNone,
		},
		"UnknownCode": {
			reason: "an unknown 404 does not mean absent, and the owner's list cannot be read", fault: failure(404, "EntitySomethingElse"), requests: 2,
			action: resource.ActionError, why: "EntitySomethingElse", class: resource.RetrySlow,
		},
		"HTML": {
			reason: "a 404 of a gateway does not mean absent", fault: armsim.Fault{Status: 404, Body: json.RawMessage(`"<html>"`)},
			requests: 2, action: resource.ActionError, why: resource.ReasonUnknownError, class: resource.RetrySlow,
		},
		"NoBody": {
			reason: "a 404 without a body does not mean absent", fault: armsim.Fault{Status: 404, Body: json.RawMessage(`""`)},
			requests: 2, action: resource.ActionError, why: resource.ReasonUnknownError, class: resource.RetrySlow,
		},
		"Unauthorized": {
			reason: "a wrong credential", fault: failure(401, "InvalidAuthenticationToken"),
			action: resource.ActionError, why: "InvalidAuthenticationToken", class: resource.RetrySlow, part: "ARM request ID",
		},
		"Forbidden": {
			reason: "a missing role", fault: failure(403, "AuthorizationFailed"),
			action: resource.ActionError, why: "AuthorizationFailed", class: resource.RetrySlow,
		},
		"Conflict": {
			reason: "some parents refuse even a GET during an operation", fault: failure(409, "Conflict"),
			action: resource.ActionBlock, why: "Conflict", class: resource.RetrySlow,
		},
		"NoJSON": {
			reason: "a 200 without a JSON object is no observation", fault: armsim.Fault{Status: 200, Body: json.RawMessage(`"<html>"`)},
			action: resource.ActionError, why: "InvalidAnswer", class: resource.RetrySlow,
		},
		"LongOutage": {
			reason: "an error with a longer Retry-After than maxTransientDelay becomes a verdict at once",
			fault:  armsim.Fault{Status: 503, Code: "ServerBusy", Headers: map[string]string{"Retry-After": "120"}},
			action: resource.ActionError, why: "ServerBusy", class: resource.RetrySlow,
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.put(groupText, `{"location":"westus2"}`)
			if c.state != "" {
				w.put(thingText, `{"location":"westus2","properties":{"provisioningState":"`+c.state+`"}}`)
			}
			if c.fault.Status != 0 {
				w.sim.AddFault(c.fault)
			}
			got, err := run(w, w.acts.GetResource, GetResourceInput{Target: resource.Target{ID: id(t, thingText), APIVersion: "2023-08-15"}})
			must(t, err)
			want(t, got.Verdict, c.action, c.why, c.class, c.part)
			if got.Exists != c.exists || got.InFlight != c.flight || got.Exists != (got.Observed != nil) {
				t.Errorf("%s: got %+v", c.reason, got)
			}
			if n := len(w.requests()); n != max(c.requests, 1) {
				t.Errorf("%s: requests %v", c.reason, w.requests())
			}
			if c.action == resource.ActionProceed && !got.ReadAt.Equal(w.now()) {
				t.Errorf("%s: read at %s", c.reason, got.ReadAt)
			}
		})
	}
}

func TestGetResourceThrottled(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.sim.AddFault(armsim.Fault{Status: 429, Code: "SubscriptionRequestsThrottled", Message: "Too many.", Headers: map[string]string{"Retry-After": "42"}})
	got, err := run(w, w.acts.GetResource, GetResourceInput{Target: resource.Target{ID: id(t, thingText), APIVersion: "2023-08-15"}})
	must(t, err)
	want(t, got.Verdict, resource.ActionBlock, "SubscriptionRequestsThrottled", resource.RetrySlow, "Too many.")
	if got.Verdict.RetryAfter != 42*time.Second || got.Verdict.RequestID == "" {
		t.Errorf("verdict is %+v", got.Verdict)
	}
}

func TestGetResourceTransientErrors(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		reason string
		fault  armsim.Fault
		why    resource.Reason
		delays []time.Duration
	}{
		"PassingReset": {reason: "two cut connections cost two attempts", fault: armsim.Fault{Reset: true, Count: 2}, delays: []time.Duration{time.Second, 2 * time.Second}},
		"PassingError": {reason: "a 500 is retried too", fault: armsim.Fault{Status: 500, Count: 1}, delays: []time.Duration{time.Second}},
		"AskedFor": {
			reason: "ARM's Retry-After is the delay", fault: armsim.Fault{Status: 503, Count: 1, Headers: map[string]string{"Retry-After": "7"}},
			delays: []time.Duration{7 * time.Second},
		},
		"Reset": {
			reason: "an error that persists is a verdict with a message", fault: armsim.Fault{Reset: true}, why: resource.ReasonArmUnreachable,
			delays: []time.Duration{time.Second, 2 * time.Second, 4 * time.Second},
		},
		"Error": {
			reason: "the verdict has ARM's code if there is one", fault: armsim.Fault{Status: 500, Code: "InternalServerError"}, why: "InternalServerError",
			delays: []time.Duration{time.Second, 2 * time.Second, 4 * time.Second},
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.put(thingText, `{"location":"westus2"}`)
			w.sim.AddFault(c.fault)
			got, failures := finish(w, w.acts.GetResource, GetResourceInput{Target: resource.Target{ID: id(t, thingText), APIVersion: "2023-08-15"}})
			if c.why == "" && !got.Exists || c.why != "" && (got.Verdict.Action != resource.ActionError || got.Verdict.Reason != c.why) {
				t.Errorf("%s: got %+v", c.reason, got)
			}
			wantDelays(t, c.reason, failures, c.delays)
		})
	}
}

func wantDelays(t *testing.T, reason string, failures []*temporal.ApplicationError, delays []time.Duration) {
	t.Helper()
	if len(failures) != len(delays) {
		t.Fatalf("%s: failures %v, want %d", reason, failures, len(delays))
	}
	for i, failure := range failures {
		if failure.NextRetryDelay() != delays[i] {
			t.Errorf("%s: delay %d is %s, want %s", reason, i, failure.NextRetryDelay(), delays[i])
		}
	}
}

func TestGetResourceExpects(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		reason string
		expect Expectation
		exists bool
		later  bool // the resource appears or vanishes after two reads
		reads  int
		want   bool
	}{
		"Present":       {reason: "an expected result needs one read", expect: ExpectPresent, exists: true, reads: 1, want: true},
		"PresentLater":  {reason: "reads lag behind writes", expect: ExpectPresent, later: true, reads: 3, want: true},
		"PresentNever":  {reason: "after the window the result counts", expect: ExpectPresent, reads: 5},
		"Absent":        {reason: "an expected result needs one read", expect: ExpectAbsent, reads: 1},
		"AbsentLater":   {reason: "reads lag behind a DELETE", expect: ExpectAbsent, exists: true, later: true, reads: 3},
		"AbsentNever":   {reason: "after the window the result counts", expect: ExpectAbsent, exists: true, reads: 5, want: true},
		"AnyIsBelieved": {reason: "a plain read accepts any result", reads: 1},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.put(groupText, `{"location":"westus2"}`)
			if c.exists {
				w.put(thingText, `{"location":"westus2"}`)
			}
			in := GetResourceInput{Target: resource.Target{ID: id(t, thingText), APIVersion: "2023-08-15"}, Expect: c.expect}
			if c.later {
				for range 2 {
					_, err := run(w, w.acts.GetResource, in)
					if failure := applicationError(t, err); failure.Type() != ErrorNotYet || failure.Category() != temporal.ApplicationErrorCategoryBenign {
						t.Errorf("%s: error %v is not benign", c.reason, failure)
					}
					w.advance(5 * time.Second)
				}
				if c.exists {
					w.sim.Delete(thingText)
				} else {
					w.put(thingText, `{"location":"westus2"}`)
				}
			}
			got, _ := finish(w, w.acts.GetResource, in)
			if got.Exists != c.want || len(w.requests()) != c.reads {
				t.Errorf("%s: exists %v after %v", c.reason, got.Exists, w.requests())
			}
		})
	}
}

func TestGetResourceMasks(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(s *setup) {
		s.sim.Secrets = []armsim.SecretRule{{Type: "Contoso.Things/*", Properties: []string{"primaryKey"}}}
	})
	w.put(thingText, `{"location":"westus2","tags":{"sortKey":"plain tag","apiKey":"stated","otherKey":"`+planted+`"},
		"properties":{"note":"`+planted+`","publicKey":"ssh-rsa AAAA","connection":"Server=x;Password=`+planted+`"}}`)
	got, err := run(w, w.acts.GetResource, GetResourceInput{
		Target: resource.Target{ID: id(t, thingText), APIVersion: "2023-08-15", Plain: []string{"tags.apiKey"}, Secret: []string{"properties.note"}},
	})
	must(t, err)
	made := w.sim.Secrets()
	if len(made) == 0 {
		t.Fatal("the simulator returned no key, so the test proves nothing")
	}
	for _, secret := range append(made, planted) {
		w.leaks(secret, got, w.verdicts)
	}
	object := resource.Object{}
	object.Observed, err = resource.DecodeBody(got.Observed)
	must(t, err)
	for path, value := range map[string]string{"tags.apiKey": "stated", "tags.sortKey": "plain tag", "properties.publicKey": "ssh-rsa AAAA", "location": "westus2"} {
		if text, _ := object.StringAt(path); text != value {
			t.Errorf("%s is %q, want %q: it is no secret", path, text, value)
		}
	}
	for _, path := range []string{"properties.primaryKey", "properties.note", "tags.otherKey"} {
		if text, _ := object.StringAt(path); !resource.Masked(text) {
			t.Errorf("%s is %q, want a mask", path, text)
		}
	}
}

func TestGetResourceEndsBeforeItsActivity(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	if long, short := requestMargin(90*time.Second), requestMargin(4*time.Second); long != 5*time.Second || short != time.Second {
		t.Errorf("the margins are %s and %s", long, short)
	}
	w.sim.AddFault(armsim.Fault{Gate: true})
	got, failures := finishWithin(w, 400*time.Millisecond, w.acts.GetResource, GetResourceInput{Target: resource.Target{ID: id(t, thingText), APIVersion: "2023-08-15"}})
	want(t, got.Verdict, resource.ActionError, resource.ReasonArmUnreachable, resource.RetrySlow, "did not answer")
	if len(failures) != maxTransientErrors-1 {
		t.Errorf("a request that hangs took %d attempts", len(failures)+1)
	}
}

func TestMessagesContainNoCredentials(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.sim.AddFault(armsim.Fault{Status: 400, Code: "BadThing", Message: "Cannot use Server=x;Password=" + planted + ";"})
	got, err := run(w, w.acts.GetResource, GetResourceInput{Target: resource.Target{ID: id(t, thingText), APIVersion: "2023-08-15"}})
	must(t, err)
	if !strings.Contains(got.Verdict.Message, "Cannot use") {
		t.Errorf("message is %q", got.Verdict.Message)
	}
	w.leaks(planted, got, fmt.Sprint(w.verdicts))
}

func TestGetResourceEchoedSecret(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.put(groupText, `{"location":"westus2"}`)
	w.put(thingText, `{"location":"westus2","properties":{"copy":"`+planted+`","statusMessage":"the value `+planted+` is weak"}}`)
	in := GetResourceInput{Target: resource.Target{ID: id(t, thingText), APIVersion: "2023-08-15"}}
	open, err := run(w, w.acts.GetResource, in)
	must(t, err)
	if !strings.Contains(string(open.Observed), planted) {
		t.Fatal("the response does not contain the value: the test proves nothing")
	}
	in.SecretRefs = []string{"env:ARMATURE_SECRET_ACTIVITIES"}
	got, err := run(w, w.acts.GetResource, in)
	must(t, err)
	w.leaks(planted, got)
}

func TestGetResourceErrorHidesTheSecret(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.sim.AddFault(armsim.Fault{Status: 403, Code: "AuthorizationFailed", Message: "no role; " + planted})
	got, err := run(w, w.acts.GetResource, GetResourceInput{
		Target: resource.Target{ID: id(t, thingText), APIVersion: "2023-08-15", SecretRefs: []string{"env:ARMATURE_SECRET_GONE", "env:ARMATURE_SECRET_ACTIVITIES"}},
	})
	must(t, err)
	want(t, got.Verdict, resource.ActionError, "AuthorizationFailed", resource.RetrySlow, "no role")
	w.leaks(planted, got)
}

// TestReadWithoutBody checks that a read for a deletion returns what the resource is, and
// not its body, which may be larger than Temporal stores.
func TestReadWithoutBody(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.put(thingText, `{"location":"westus2","properties":{"size":1,"provisioningState":"Updating"}}`)
	target := desired(t, thingText, thingBody)
	for without, want := range map[bool]bool{false: true, true: false} {
		got, _ := finish(w, w.acts.GetResource, GetResourceInput{Target: target.Target(), WithoutBody: without})
		if got.Verdict.Stops() || !got.Exists || got.InFlight != "Updating" || (got.Observed != nil) != want {
			t.Errorf("without body %t: %+v", without, got)
		}
	}
}
