package workflows_test

import (
	"testing"
	"time"

	"github.com/armature-io/armature/activities"
	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/workflows"
	"github.com/google/go-cmp/cmp"
)

// TestRegisterProvider checks that the workflow registers a missing provider and sends the
// PUT again in the same pass. While the registration is in progress, the pass ends with
// its verdict.
func TestRegisterProvider(t *testing.T) {
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
	requests := 0
	r.script.provider = func(in activities.RegisterProviderInput) resource.Verdict {
		if requests++; in.Namespace != "Microsoft.Kusto" || requests > 2 {
			t.Errorf("%d registrations, the last of %s", requests, in.Namespace)
		}
		if requests == 1 {
			return resource.Block("MissingSubscriptionRegistration", "Microsoft.Kusto is being registered")
		}
		return resource.Proceed("registered")
	}
	r.apply(desired())
	blocked, ready := r.statusAt(500*time.Millisecond), r.statusAt(10*time.Second)
	r.start(11 * time.Second)
	if blocked.Phase != workflows.PhaseBlocked || blocked.Condition.Message != "Microsoft.Kusto is being registered" {
		t.Errorf("the status during the registration is %s %+v", blocked.Phase, blocked.Condition)
	}
	if ready.Phase != workflows.PhaseReady || puts != 3 {
		t.Errorf("phase %s after %d PUTs, want Ready with the third", ready.Phase, puts)
	}
}

// TestRepeatedDenials checks that activities receive the number of passes that ended with
// the same reason, so that they retry a persistent denial less often.
func TestRepeatedDenials(t *testing.T) {
	r := newRun(t)
	r.script.pre = create
	var repeated []activities.Repeated
	r.script.put = func(in activities.PutResourceInput) (activities.PutResourceResult, error) {
		repeated = append(repeated, in.Repeated)
		reason := resource.Reason("AuthorizationFailed")
		if len(repeated) == 3 {
			reason = "RequestDisallowedByPolicy"
		}
		return activities.PutResourceResult{Verdict: resource.Fail(reason, resource.RetryFast, "no")}, nil
	}
	r.apply(desired())
	r.start(30 * time.Second)
	want := []activities.Repeated{{}, {Reason: "AuthorizationFailed", Times: 1}, {Reason: "AuthorizationFailed", Times: 2}, {Reason: "RequestDisallowedByPolicy", Times: 1}}
	for i := range want {
		if i >= len(repeated) || repeated[i] != want[i] {
			t.Fatalf("received %+v, want %+v", repeated, want)
		}
	}
}

// TestPostCheckReceivesSentSecrets checks that only the post-check of the same pass
// receives the hashes of the secrets that the PUT sent.
func TestPostCheckReceivesSentSecrets(t *testing.T) {
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
	var received []map[string]string
	r.script.post = func(in activities.PostCheckInput) activities.PostCheckResult {
		received = append(received, in.Secrets)
		return activities.PostCheckResult{Verdict: resource.Verdict{Action: resource.ActionSuccess}}
	}
	r.apply(desired())
	r.at(time.Minute, workflows.ReconcileUpdate, workflows.ReconcileInput{By: "ada@host"})
	r.start(2 * time.Minute)
	if diff := cmp.Diff([]map[string]string{sent, nil}, received); diff != "" {
		t.Errorf("secrets of the post-checks (-want +got)\n%s", diff)
	}
}
