package workflows_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/armature-io/armature/activities"
	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/workflows"
	"github.com/google/go-cmp/cmp"
	"go.temporal.io/sdk/temporal"
)

// acceptedRun is a run with a first pass that sends a PUT because of one difference, and ends
// before the post-check. It records the inputs of the pre-checks and post-checks.
func acceptedRun(t *testing.T) (r *run, pres *[]activities.PreCheckInput, posts *[]activities.PostCheckInput) {
	t.Helper()
	r = newRun(t)
	pres, posts = &[]activities.PreCheckInput{}, &[]activities.PostCheckInput{}
	r.script.pre = func(in activities.PreCheckInput) resource.Verdict {
		*pres = append(*pres, in)
		if len(*pres) == 1 {
			return resource.Verdict{Action: resource.ActionProceed, Differences: []resource.Difference{{Path: "properties.size"}}}
		}
		return resource.Verdict{Action: resource.ActionSkip}
	}
	r.script.verify = func(in activities.PreCheckInput) bool { return !in.AcceptedAt.IsZero() }
	r.script.put = func(activities.PutResourceInput) (activities.PutResourceResult, error) {
		return activities.PutResourceResult{
			Verdict: resource.Proceed("accepted"), Sent: true, Token: "t", Kept: "kept", Secrets: map[string]string{"env:P": "hash"},
		}, nil
	}
	r.script.get = func(activities.GetResourceInput) activities.GetResourceResult {
		if r.count("PutResource") == 1 && r.count("GetResource") == 2 {
			return activities.GetResourceResult{Verdict: resource.Block(resource.ReasonThrottled, "later")}
		}
		return present()
	}
	r.script.post = func(in activities.PostCheckInput) activities.PostCheckResult {
		*posts = append(*posts, in)
		return activities.PostCheckResult{Verdict: resource.Verdict{Action: resource.ActionSuccess}, Memory: json.RawMessage(`{"m":1}`)}
	}
	r.apply(desired())
	return r, pres, posts
}

// TestAcceptedPutIsVerifiedLater checks that a pass which ends between the PUT and the
// post-check leaves the PUT to the next pass, with the reasons, secrets and kept paths
// that it was sent with, and only until a post-check has compared it.
//
//guard:accepted-puts-are-verified
func TestAcceptedPutIsVerifiedLater(t *testing.T) {
	cases := map[string]func(*run){
		"read throttled": func(*run) {},
		"poll lost": func(r *run) {
			r.script.poll = func(activities.PollOperationInput) (activities.PollOperationResult, error) {
				return activities.PollOperationResult{}, temporal.NewNonRetryableApplicationError("lost", "Lost", nil)
			}
		},
		"paused": func(r *run) {
			r.script.poll = func(activities.PollOperationInput) (activities.PollOperationResult, error) {
				r.duringActivity(workflows.PauseUpdate, workflows.PauseInput{By: "ada@host"})
				return activities.PollOperationResult{Verdict: resource.Verdict{Action: resource.ActionSuccess}}, nil
			}
			r.script.get = func(activities.GetResourceInput) activities.GetResourceResult { return present() }
			r.at(time.Minute, workflows.ResumeUpdate, workflows.PauseInput{By: "ada@host"})
		},
		"other labels applied": func(r *run) {
			spec := desired()
			spec.Labels = map[string]string{"stack": "prod"}
			r.at(500*time.Millisecond, workflows.ApplyUpdate, workflows.ApplyInput{Desired: spec, By: "ada@host"})
		},
	}
	for name, prepare := range cases {
		t.Run(name, func(t *testing.T) {
			r, pres, posts := acceptedRun(t)
			prepare(r)
			r.at(10*time.Minute, workflows.ReconcileUpdate, workflows.ReconcileInput{By: "ada@host"})
			r.start(11 * time.Minute)
			if puts := r.count("PutResource"); puts != 1 || len(*posts) < 2 {
				t.Fatalf("%d PUTs and %d post-checks, want 1 and at least 2: %v", puts, len(*posts), r.script.calls)
			}
			verified := (*posts)[0]
			want := activities.PostCheckInput{
				Desired: verified.Desired, PassFacts: activities.PassFacts{Generation: verified.Generation, StatedAt: verified.StatedAt, Changes: verified.Changes, Repeated: verified.Repeated, Mandate: verified.Mandate}, Now: verified.Now, Observed: verified.Observed, Put: true, Sent: true, Kept: "kept",
				Secrets: map[string]string{"env:P": "hash"}, Differences: []resource.Difference{{Path: "properties.size"}},
			}
			if diff := cmp.Diff(want, verified); diff != "" {
				t.Errorf("the post-check that verifies the PUT (-want, +got):\n%s", diff)
			}
			if last, pre := (*posts)[len(*posts)-1], (*pres)[len(*pres)-1]; last.Put || !pre.AcceptedAt.IsZero() {
				t.Errorf("a verified PUT is verified again: %+v", last)
			}
		})
	}
}

// TestAcceptedPutIsForgotten checks when a PUT is not left to a later pass: its operation
// failed, another body was applied, or the user dropped the baseline.
//
//guard:accepted-puts-are-verified
func TestAcceptedPutIsForgotten(t *testing.T) {
	cases := map[string]func(*run){
		"operation failed": func(r *run) {
			r.script.poll = func(activities.PollOperationInput) (activities.PollOperationResult, error) {
				return activities.PollOperationResult{Verdict: resource.Fail("AllocationFailed", resource.RetrySlow, "no capacity")}, nil
			}
		},
		"other body applied": func(r *run) {
			spec := desired()
			spec.Body = json.RawMessage(`{"location":"westus2","properties":{"size":2}}`)
			r.at(500*time.Millisecond, workflows.ApplyUpdate, workflows.ApplyInput{Desired: spec, By: "ada@host"})
		},
		"baseline dropped": func(r *run) {
			r.at(500*time.Millisecond, workflows.ReconcileUpdate, workflows.ReconcileInput{By: "ada@host", DropBaseline: true})
		},
	}
	for name, prepare := range cases {
		t.Run(name, func(t *testing.T) {
			r, pres, posts := acceptedRun(t)
			prepare(r)
			r.start(30 * time.Second)
			if len(*pres) < 2 || !(*pres)[1].AcceptedAt.IsZero() || len(*posts) == 0 || (*posts)[0].Put {
				t.Errorf("the pre-checks received %+v, the post-checks %+v", *pres, *posts)
			}
		})
	}
}

// TestAcceptedPutAfterALongOperation checks that the age of an accepted PUT counts from
// the end of its operation, also where only reads showed the end.
func TestAcceptedPutAfterALongOperation(t *testing.T) {
	r, pres, _ := acceptedRun(t)
	start := r.Now()
	r.script.poll = func(activities.PollOperationInput) (activities.PollOperationResult, error) {
		return activities.PollOperationResult{}, temporal.NewNonRetryableApplicationError("lost", "Lost", nil)
	}
	r.script.get = func(activities.GetResourceInput) activities.GetResourceResult {
		got := present()
		if r.Now().Sub(start) < 5*time.Hour {
			got.InFlight = "Updating"
		}
		return got
	}
	pre := r.script.pre
	r.script.pre = func(in activities.PreCheckInput) resource.Verdict {
		if got := pre(in); r.Now().Sub(start) >= 5*time.Hour || len(*pres) == 1 {
			return got
		}
		return resource.Block(resource.ReasonOperationInProgress, "Updating")
	}
	var age time.Duration
	r.script.verify = func(in activities.PreCheckInput) bool {
		if r.Now().Sub(start) < 5*time.Hour {
			return false
		}
		if age == 0 {
			age = r.Now().Sub(in.AcceptedAt)
		}
		return true
	}
	r.start(6 * time.Hour)
	if age == 0 || age > 10*time.Minute {
		t.Errorf("after an operation of five hours the PUT counts as %s old, want some minutes", age)
	}
}

// TestRefusedPutIsRemembered checks that the memory that a refused PUT returns is the one
// of the next pass.
//
//guard:refused-values
func TestRefusedPutIsRemembered(t *testing.T) {
	r := newRun(t)
	r.script.pre = func(activities.PreCheckInput) resource.Verdict {
		return resource.Verdict{Action: resource.ActionProceed, Differences: []resource.Difference{{Path: "properties.size"}}}
	}
	var memories []string
	r.script.put = func(in activities.PutResourceInput) (activities.PutResourceResult, error) {
		memories = append(memories, string(in.Memory))
		return activities.PutResourceResult{Verdict: resource.Block(resource.ReasonHeld, "refused"), Memory: json.RawMessage(`{"refused":{}}`)}, nil
	}
	r.apply(desired())
	r.at(time.Minute, workflows.ReconcileUpdate, workflows.ReconcileInput{By: "ada@host"})
	r.start(2 * time.Minute)
	if len(memories) < 2 || memories[0] != "" || memories[1] != `{"refused":{}}` {
		t.Errorf("the PUTs received the memories %q", memories)
	}
}
