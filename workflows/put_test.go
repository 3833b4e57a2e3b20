package workflows_test

import (
	"testing"
	"time"

	"github.com/armature-io/armature/activities"
	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/workflows"
)

// A provider that is not registered is registered, and the PUT is sent again in
// the same pass; while the registration goes on, the pass ends with its verdict.
func TestProviderIsRegistered(t *testing.T) {
	r := newRun(t)
	r.script.pre = create
	puts := 0
	r.script.put = func(activities.PutResourceInput) (activities.PutResourceResult, error) {
		if puts++; puts < 3 {
			return activities.PutResourceResult{
				Verdict:      resource.Fail("MissingSubscriptionRegistration", resource.RetrySlow, "not registered"),
				Unregistered: "Microsoft.Kusto",
			}, nil
		}
		return activities.PutResourceResult{Verdict: resource.Proceed(""), Done: true, Sent: true}, nil
	}
	asked := 0
	r.script.provider = func(in activities.RegisterProviderInput) resource.Verdict {
		if asked++; in.Namespace != "Microsoft.Kusto" || asked > 2 {
			t.Errorf("asked %d times, for %s", asked, in.Namespace)
		}
		if asked == 1 {
			return resource.Block("MissingSubscriptionRegistration", "Microsoft.Kusto is being registered")
		}
		return resource.Proceed("registered")
	}
	r.apply(desired())
	blocked, ready := r.look(500*time.Millisecond), r.look(10*time.Second)
	r.start(11 * time.Second)
	if blocked.Phase != workflows.PhaseBlocked || blocked.Condition.Message != "Microsoft.Kusto is being registered" {
		t.Errorf("while it is being registered the status is %s %+v", blocked.Phase, blocked.Condition)
	}
	if ready.Phase != workflows.PhaseReady || puts != 3 {
		t.Errorf("phase %s after %d PUTs, want Ready with the third", ready.Phase, puts)
	}
}

// The activities are told how often a pass has ended with the same reason: they
// ask less often for what is denied again and again.
func TestDenialsAreCounted(t *testing.T) {
	r := newRun(t)
	r.script.pre = create
	var told []activities.Repeated
	r.script.put = func(in activities.PutResourceInput) (activities.PutResourceResult, error) {
		told = append(told, in.Repeated)
		reason := resource.Reason("AuthorizationFailed")
		if len(told) == 3 {
			reason = "RequestDisallowedByPolicy"
		}
		return activities.PutResourceResult{Verdict: resource.Fail(reason, resource.RetryFast, "no")}, nil
	}
	r.apply(desired())
	r.start(30 * time.Second)
	want := []activities.Repeated{{}, {Reason: "AuthorizationFailed", Times: 1}, {Reason: "AuthorizationFailed", Times: 2}, {Reason: "RequestDisallowedByPolicy", Times: 1}}
	for i := range want {
		if i >= len(told) || told[i] != want[i] {
			t.Fatalf("told %+v, want %+v", told, want)
		}
	}
}
