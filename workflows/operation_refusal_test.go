package workflows_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/armature-io/armature/activities"
	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/workflows"
)

// TestOperationRefusal checks that what a failed operation refused reaches the next PUT, and
// no later one.
func TestOperationRefusal(t *testing.T) {
	r := newRun(t)
	refusal := &activities.OperationRefusal{Message: "maxSizeBytes is too large", Targets: []string{"properties.maxSizeBytes"}}
	var got []*activities.OperationRefusal
	r.script.pre = func(activities.PreCheckInput) resource.Verdict {
		return resource.Verdict{Action: resource.ActionProceed, Reason: resource.ReasonDrift, Differences: []resource.Difference{{Path: "sku.name"}}}
	}
	r.script.put = func(in activities.PutResourceInput) (activities.PutResourceResult, error) {
		got = append(got, in.OperationRefusal)
		return activities.PutResourceResult{Verdict: resource.Proceed(""), Sent: true, Token: "t"}, nil
	}
	fails := 1
	r.script.poll = func(activities.PollOperationInput) (activities.PollOperationResult, error) {
		if fails--; fails >= 0 {
			return activities.PollOperationResult{Verdict: resource.Fail("InvalidSize", resource.RetrySlow, refusal.Message), Refusal: refusal}, nil
		}
		return activities.PollOperationResult{Verdict: resource.Verdict{Action: resource.ActionSuccess}}, nil
	}
	left := 1
	r.script.post = func(activities.PostCheckInput) activities.PostCheckResult {
		if left--; left >= 0 {
			return activities.PostCheckResult{Verdict: resource.Verdict{Action: resource.ActionFailure, Reason: "NotYet", Class: resource.RetrySlow}}
		}
		return activities.PostCheckResult{Verdict: resource.Verdict{Action: resource.ActionSuccess}}
	}
	r.apply(desired())
	r.start(time.Minute)
	if len(got) < 3 {
		t.Fatalf("%d PUTs, want three: refused, sent again, and after a post-check that failed", len(got))
	}
	if diff := cmp.Diff([]*activities.OperationRefusal{nil, refusal, nil}, got[:3]); diff != "" {
		t.Errorf("refusals of the PUTs (-want +got):\n%s", diff)
	}
}

// TestOperationRefusalOfAnotherSpec checks that a new spec is sent without what the operation
// of the last one refused: another body may make the value legal.
func TestOperationRefusalOfAnotherSpec(t *testing.T) {
	r := newRun(t)
	var got []*activities.OperationRefusal
	r.script.pre = create
	r.script.put = func(in activities.PutResourceInput) (activities.PutResourceResult, error) {
		got = append(got, in.OperationRefusal)
		return activities.PutResourceResult{Verdict: resource.Proceed(""), Sent: true, Token: "t"}, nil
	}
	r.script.poll = func(activities.PollOperationInput) (activities.PollOperationResult, error) {
		return activities.PollOperationResult{
			Verdict: resource.Fail("InvalidSize", resource.RetryVerySlow, "maxSizeBytes is too large"), Refusal: &activities.OperationRefusal{Message: "maxSizeBytes is too large"},
		}, nil
	}
	r.apply(desired())
	changed := desired()
	changed.Body = []byte(`{"location":"westus2","tags":{"a":"2"}}`)
	r.at(time.Minute, workflows.ApplyUpdate, workflows.ApplyInput{Desired: changed})
	r.start(2 * time.Minute)
	if len(got) != 2 || got[1] != nil {
		t.Errorf("refusals of the PUTs %v, want none for the new spec", got)
	}
}
