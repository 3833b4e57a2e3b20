package activities

import (
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
		"Ninth":   {"still within that time", answers(403, "AuthorizationFailed"), Repeated{"AuthorizationFailed", 9}, resource.RetrySlow},
		"Tenth":   {"now a person has to act", answers(403, "AuthorizationFailed"), Repeated{"AuthorizationFailed", 10}, resource.RetryVerySlow},
		"Policy":  {"a policy too", answers(403, "RequestDisallowedByPolicy"), Repeated{"RequestDisallowedByPolicy", 25}, resource.RetryVerySlow},
		"Quota":   {"and a quota", answers(409, "CoresQuotaExceeded"), Repeated{"CoresQuotaExceeded", 10}, resource.RetryVerySlow},
		"Another": {"another denial is a first one", answers(403, "AuthorizationFailed"), Repeated{"RequestDisallowedByPolicy", 10}, resource.RetrySlow},
		"NoDenial": {
			"a reference may come at any time", answers(400, "InvalidResourceReference"), Repeated{"InvalidResourceReference", 50}, resource.RetrySlow,
		},
		"Conflict": {"a conflict is no denial", answers(409, "AnotherOperationInProgress"), Repeated{"AnotherOperationInProgress", 50}, resource.RetrySlow},
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
