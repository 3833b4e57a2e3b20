package activities

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/armature-io/armature/armsim"
	"github.com/armature-io/armature/resource"
)

// A repeated denial is retried less often; any other error is not slowed down.
func TestDenialsSlowDown(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		reason string
		fault  armsim.Fault
		before Repeated
		class  resource.RetryClass
	}{
		"First":   {"rights take minutes to spread", answers(403, "AuthorizationFailed"), Repeated{}, resource.RetrySlow},
		"Ninth":   {"still within that time", answers(403, "AuthorizationFailed"), Repeated{Reason: "AuthorizationFailed", Times: 9}, resource.RetrySlow},
		"Tenth":   {"now a person has to act", answers(403, "AuthorizationFailed"), Repeated{Reason: "AuthorizationFailed", Times: 10}, resource.RetryVerySlow},
		"Policy":  {"a policy too", answers(403, "RequestDisallowedByPolicy"), Repeated{Reason: "RequestDisallowedByPolicy", Times: 25}, resource.RetryVerySlow},
		"Quota":   {"and a quota", answers(409, "CoresQuotaExceeded"), Repeated{Reason: "CoresQuotaExceeded", Times: 10}, resource.RetryVerySlow},
		"Another": {"another denial is a first one", answers(403, "AuthorizationFailed"), Repeated{Reason: "RequestDisallowedByPolicy", Times: 10}, resource.RetrySlow},
		"NoDenial": {
			"a reference may come at any time", answers(400, "InvalidResourceReference"), Repeated{Reason: "InvalidResourceReference", Times: 50}, resource.RetrySlow,
		},
		"Conflict": {"a conflict is no denial", answers(409, "AnotherOperationInProgress"), Repeated{Reason: "AnotherOperationInProgress", Times: 50}, resource.RetrySlow},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, put := putWorld(t)
			put.Repeated = c.before
			c.fault.Method = http.MethodPut
			w.sim.AddFault(c.fault)
			got, err := run(w, w.acts.PutResource, put)
			must(t, err)
			if got.Verdict.Class != c.class {
				t.Errorf("%s: class %s (%s), want %s", c.reason, got.Verdict.Class, got.Verdict.Message, c.class)
			}
			if says := strings.Contains(got.Verdict.Message, "less frequent"); says != (c.class == resource.RetryVerySlow) {
				t.Errorf("%s: message %q", c.reason, got.Verdict.Message)
			}
			w.fresh()
			w.sim.AddFault(armsim.Fault{Status: c.fault.Status, Code: c.fault.Code})
			read, err := run(w, w.acts.GetResource, GetResourceInput{Target: resource.Target{ID: put.Desired.ID, APIVersion: "2023-08-15"}, Repeated: c.before})
			must(t, err)
			if read.Verdict.Class != c.class {
				t.Errorf("%s: class %s of a read, want %s", c.reason, read.Verdict.Class, c.class)
			}
		})
	}
}

// A request that hangs does not hide the error that ARM returned before it.
func TestNoDeadlineHidesAnError(t *testing.T) {
	t.Parallel()
	w, put := putWorld(t)
	w.sim.AddFault(armsim.Fault{Status: http.StatusServiceUnavailable, Code: "ServerBusy", Message: "Come back in spring.", Count: 2})
	w.sim.AddFault(armsim.Fault{Gate: true})
	got, failures := finishWithin(w, 300*time.Millisecond, w.acts.GetResource, GetResourceInput{Target: resource.Target{ID: put.Desired.ID, APIVersion: "2023-08-15"}})
	want(t, got.Verdict, resource.ActionError, "ServerBusy", resource.RetrySlow, "in time", "before that it answered: Come back in spring.")
	for _, failure := range failures {
		if strings.Contains(failure.Error(), "deadline exceeded") {
			t.Errorf("error %q names a deadline", failure)
		}
	}
}

func answers(status int, code string) armsim.Fault { return armsim.Fault{Status: status, Code: code} }

// The same refusal ten times in a row becomes very slow whatever its class, except
// throttling, a conflict that names an operation, and a service that cannot be read.
func TestRefusalsSlowDown(t *testing.T) {
	t.Parallel()
	const quota = "Operation could not be completed as it results in exceeding approved standardDSv3Family Cores quota. Current usage: %d."
	cases := map[string]struct {
		reason string
		fault  armsim.Fault
		class  resource.RetryClass
		actor  string
	}{
		"Quota":     {"a person has to raise it", armsim.Fault{Status: 409, Code: "OperationNotAllowed", Message: quota}, resource.RetryVerySlow, "the owner of the subscription"},
		"Reference": {"nine tries did not bring it", armsim.Fault{Status: 400, Code: "InvalidResourceReference", Message: "Resource x is missing (%d)."}, resource.RetryVerySlow, ""},
		"Operation": {"it ends by itself", armsim.Fault{Status: 409, Code: "AnotherOperationInProgress", Message: "Operation %d is in progress."}, resource.RetrySlow, ""},
		"Throttled": {"the budget refills", armsim.Fault{Status: 429, Code: "TooManyRequests", Message: "Wait %d s.", Headers: map[string]string{"Retry-After": "17"}}, resource.RetrySlow, ""},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, put := putWorld(t)
			var got PutResourceResult
			for pass := range 11 {
				fault := c.fault
				fault.Method, fault.Count, fault.Message = http.MethodPut, 1, fmt.Sprintf(c.fault.Message, pass)
				w.sim.AddFault(fault)
				var err error
				got, err = run(w, w.acts.PutResource, put)
				must(t, err)
				if pass < 10 && got.Verdict.Class != resource.RetrySlow {
					t.Fatalf("%s: class %s in pass %d", c.reason, got.Verdict.Class, pass)
				}
				put.Repeated = Repeated{Reason: got.Verdict.Reason, RefusalDigest: got.Verdict.RefusalDigest, Times: put.Repeated.Times + 1}
			}
			if got.Verdict.Class != c.class || got.Verdict.Actor != c.actor {
				t.Errorf("%s: got class %s and actor %q, want %s and %q: %s", c.reason, got.Verdict.Class, got.Verdict.Actor, c.class, c.actor, got.Verdict.Message)
			}
		})
	}
}
