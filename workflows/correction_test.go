package workflows_test

import (
	"testing"
	"time"

	"github.com/armature-io/armature/activities"
	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/workflows"
)

// A PUT that nobody asked for is a correction; the first of a spec is not. What
// this workflow wrote is known as applied, also before it was Ready.
func TestCorrections(t *testing.T) {
	r := newRun(t)
	var applied, corrections []bool
	r.script.pre = func(in activities.PreCheckInput) resource.Verdict {
		applied = append(applied, in.Applied)
		return resource.Verdict{Action: resource.ActionProceed, Reason: resource.ReasonDrift, Differences: []resource.Difference{{Path: "tags.a"}}}
	}
	r.script.put = func(in activities.PutResourceInput) (activities.PutResourceResult, error) {
		corrections = append(corrections, in.Correction)
		if in.Uncompared {
			t.Error("a PUT for differences is not compared again before it is sent")
		}
		return activities.PutResourceResult{Verdict: resource.Proceed(""), Done: true, Sent: true}, nil
	}
	fails := 1
	r.script.post = func(activities.PostCheckInput) activities.PostCheckResult {
		if fails--; fails >= 0 {
			return activities.PostCheckResult{Verdict: resource.Verdict{Action: resource.ActionFailure, Reason: "NotYet", Class: resource.RetrySlow}}
		}
		return activities.PostCheckResult{Verdict: resource.Verdict{Action: resource.ActionSuccess}}
	}
	r.apply(desired())
	r.at(time.Minute, workflows.ReconcileUpdate, workflows.ReconcileInput{})
	changed := desired()
	changed.Body = []byte(`{"location":"westus2","tags":{"a":"2"}}`)
	r.at(2*time.Minute, workflows.ApplyUpdate, workflows.ApplyInput{Desired: changed})
	r.start(3 * time.Minute)
	// The first PUT, the one after a failed post-check, the one of a reconcile,
	// the one of the new spec.
	want := []bool{false, false, true, false}
	for i := range want {
		if i >= len(corrections) || corrections[i] != want[i] {
			t.Fatalf("corrections are %v, want %v", corrections, want)
		}
	}
	if applied[0] || !applied[1] || !applied[2] {
		t.Errorf("applied is %v, want it from the second pass on", applied)
	}
}

// What is adopted as it is was not asked of Azure: the differences are
// remembered, and none of them is a change that was not taken.
func TestAdoptAsIsIsRemembered(t *testing.T) {
	r := newRun(t)
	r.script.adopt = true
	r.script.pre = func(activities.PreCheckInput) resource.Verdict {
		return resource.Verdict{Action: resource.ActionSkip, Reason: resource.ReasonInSync, Differences: []resource.Difference{{Path: "tags.a"}}}
	}
	var post activities.PostCheckInput
	r.script.post = func(in activities.PostCheckInput) activities.PostCheckResult {
		post = in
		return activities.PostCheckResult{Verdict: resource.Verdict{Action: resource.ActionSuccess}}
	}
	r.apply(desired())
	r.start(time.Second)
	if !post.Put || len(post.Differences) != 0 || r.count("PutResource") != 0 {
		t.Errorf("post-check got %+v after %d PUTs, want it to remember and no PUT", post, r.count("PutResource"))
	}
}
