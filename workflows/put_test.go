package workflows_test

import (
	"testing"
	"time"

	"github.com/armature-io/armature/activities"
	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/workflows"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"go.temporal.io/sdk/temporal"
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

// TestPutLeaves checks what a run remembers of a PUT until its post-check: whether it was accepted
// or may have been, what ARM refused, and whether an approval is used up.
func TestPutLeaves(t *testing.T) {
	earlier := activities.AcceptedPut{Generation: 1, Kept: "earlier"}
	refusal, next := &activities.OperationRefusal{Message: "earlier"}, &activities.OperationRefusal{Message: "next"}
	refused := resource.Fail("Conflict", resource.RetryVerySlow, "refused")
	differences := []resource.Difference{{Path: "properties.size"}}
	cases := map[string]struct {
		reason   string
		creates  bool
		result   activities.PutResourceResult
		err      error
		want     workflows.LastWrite
		approved bool
		baseline string
	}{
		"not sent": {
			reason: "the PUT of before may still be verified", result: activities.PutResourceResult{Verdict: refused, Refusal: next},
			want: workflows.LastWrite{Accepted: &earlier, OperationRefusal: refusal}, approved: true, baseline: "1",
		},
		"not sent, values refused": {
			reason: "the memory has what was refused before", result: activities.PutResourceResult{Verdict: refused, Memory: []byte("2"), Refusal: next},
			want: workflows.LastWrite{Accepted: &earlier, OperationRefusal: next}, approved: true, baseline: "2",
		},
		"refused": {
			reason: "nothing is to be verified", result: activities.PutResourceResult{Verdict: refused, Sent: true},
			want: workflows.LastWrite{Sent: true}, baseline: "1",
		},
		"unknown": {
			reason: "the next one reads first", result: activities.PutResourceResult{Verdict: refused, Unknown: true},
			want: workflows.LastWrite{Sent: true, Unknown: true, OperationRefusal: refusal}, approved: true, baseline: "1",
		},
		"activity failed": {
			reason: "its PUT may have been accepted", err: temporal.NewNonRetryableApplicationError("lost", "", nil),
			want: workflows.LastWrite{Sent: true, Unknown: true, OperationRefusal: refusal}, approved: true, baseline: "1",
		},
		"unknown creation": {
			reason: "the resource may be the result of the PUT", creates: true, result: activities.PutResourceResult{Verdict: refused, Unknown: true},
			want:     workflows.LastWrite{Sent: true, Unknown: true, Accepted: &activities.AcceptedPut{Generation: 1, At: startTime, Unanswered: true}, OperationRefusal: refusal},
			approved: true, baseline: "1",
		},
		"accepted": {
			reason: "a later pass verifies it", result: activities.PutResourceResult{Verdict: resource.Proceed(""), Sent: true, Done: true, Kept: "next", Refusal: next},
			want:     workflows.LastWrite{Sent: true, At: startTime, Note: workflows.WriteNote{At: startTime, Verb: workflows.VerbUpdated, Paths: 1, By: "ada@host"}, Accepted: &activities.AcceptedPut{Generation: 1, At: startTime, Differences: differences, Kept: "next"}, OperationRefusal: next},
			baseline: "1",
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			r := newRun(t)
			r.input = existing()
			accepted := earlier
			r.input.State.Write = workflows.LastWrite{Accepted: &accepted, OperationRefusal: refusal}
			r.input.State.Known.Baseline = []byte("1")
			r.input.State.Requests.Approved.Drops = true
			r.script.pre = func(activities.PreCheckInput) resource.Verdict {
				return resource.Verdict{Action: resource.ActionProceed, Create: c.creates, Differences: differences}
			}
			r.script.put = func(activities.PutResourceInput) (activities.PutResourceResult, error) { return c.result, c.err }
			r.script.post = func(activities.PostCheckInput) activities.PostCheckResult {
				return activities.PostCheckResult{Verdict: refused}
			}
			r.apply(desired())
			state := r.startUntil(time.Minute)
			if diff := cmp.Diff(c.want, state.Write, cmpopts.EquateApproxTime(30*time.Second)); diff != "" {
				t.Errorf("%s (-want +got):\n%s", c.reason, diff)
			}
			if approved, baseline := state.Requests.Approved.Drops, string(state.Known.Baseline); approved != c.approved || baseline != c.baseline {
				t.Errorf("%s: removals approved: %t, baseline %s", c.reason, approved, baseline)
			}
		})
	}
}
