package workflows_test

import (
	"testing"
	"time"

	"github.com/armature-io/armature/activities"
	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/workflows"
	"github.com/google/go-cmp/cmp"
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

// What the PUT sent is told to the post-check of its pass, and to no other.
func TestPostCheckKnowsTheSecretsSent(t *testing.T) {
	r := newRun(t)
	sent := map[string]string{"env:P": "a hash"}
	r.script.get = func(activities.GetResourceInput) activities.GetResourceResult {
		if r.count("PutResource") == 0 {
			return absent()
		}
		return present()
	}
	r.script.pre = func(in activities.PreCheckInput) resource.Verdict {
		if r.count("PutResource") == 0 {
			return create(in)
		}
		return resource.Verdict{Action: resource.ActionSkip}
	}
	r.script.put = func(activities.PutResourceInput) (activities.PutResourceResult, error) {
		return activities.PutResourceResult{Verdict: resource.Proceed("accepted"), Sent: true, Done: true, Secrets: sent}, nil
	}
	var told []map[string]string
	r.script.post = func(in activities.PostCheckInput) activities.PostCheckResult {
		told = append(told, in.Secrets)
		return activities.PostCheckResult{Verdict: resource.Verdict{Action: resource.ActionSuccess}}
	}
	r.apply(desired())
	r.at(time.Minute, workflows.ReconcileUpdate, workflows.ReconcileInput{By: "ada@host"})
	r.start(2 * time.Minute)
	if diff := cmp.Diff([]map[string]string{sent, nil}, told); diff != "" {
		t.Errorf("the post-checks were told (-want +got)\n%s", diff)
	}
}
