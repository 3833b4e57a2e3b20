package workflows_test

import (
	"slices"
	"testing"
	"time"

	"github.com/armature-io/armature/activities"
	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/workflows"
)

// TestCorrections checks that the first PUT of a spec is no correction and that a later PUT
// without a request is one, and that a written spec counts as applied before it is Ready.
func TestCorrections(t *testing.T) {
	r := newRun(t)
	var applied, corrections, requested []bool
	r.script.pre = func(in activities.PreCheckInput) resource.Verdict {
		applied = append(applied, in.Applied)
		return resource.Verdict{Action: resource.ActionProceed, Reason: resource.ReasonDrift, Differences: []resource.Difference{{Path: "tags.a"}}}
	}
	r.script.put = func(in activities.PutResourceInput) (activities.PutResourceResult, error) {
		corrections, requested = append(corrections, in.Correction), append(requested, in.Requested())
		if in.Kind == activities.PutUncompared {
			t.Error("a PUT for differences must compare again before it sends")
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
	// The first PUT, the PUTs after a failed post-check and of a reconcile, and the PUT of
	// the new spec.
	want := []bool{false, false, true, false}
	for i := range want {
		if i >= len(corrections) || corrections[i] != want[i] {
			t.Fatalf("corrections are %v, want %v", corrections, want)
		}
	}
	// The second one is a retry by itself.
	if !slices.Equal(requested, []bool{true, false, true, true}) {
		t.Errorf("requested is %v, want it for apply and reconcile, not for a retry", requested)
	}
	if applied[0] || !applied[1] || !applied[2] {
		t.Errorf("applied is %v, want it from the second pass on", applied)
	}
}

// TestAdoptAsIsUpdatesBaseline checks that adopting a resource unchanged adds its
// differences to the baseline. Armature requested none of them, so none of them is a
// change that Azure did not take.
func TestAdoptAsIsUpdatesBaseline(t *testing.T) {
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
		t.Errorf("post-check got %+v after %d PUTs, want a new baseline and no PUT", post, r.count("PutResource"))
	}
}
