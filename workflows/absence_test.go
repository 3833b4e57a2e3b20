package workflows_test

import (
	"testing"
	"time"

	"github.com/armature-io/armature/activities"
	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/workflows"
)

// TestAcceptedPutIsRemembered: the time of an accepted PUT reaches the pre-check, unless its
// operation failed or a user approved another creation since; reads know whether an earlier one has shown the resource.
//
//guard:15-minutes-after-a-put
func TestAcceptedPutIsRemembered(t *testing.T) {
	for name, outcome := range map[string]struct {
		reason              string
		shown, failed       bool
		approved            bool
		inCheck, inLaterGet bool
	}{
		"not shown": {reason: "the post-check was Ready, so it existed", inCheck: true, inLaterGet: true},
		"shown":     {reason: "a read has shown it", shown: true, inCheck: true, inLaterGet: true},
		"failed":    {reason: "nothing is to appear", failed: true},
		"approved":  {reason: "it is created again at once", approved: true, inLaterGet: true},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRun(t)
			put := false
			r.script.get = func(activities.GetResourceInput) activities.GetResourceResult {
				if put && outcome.shown {
					return present()
				}
				return absent()
			}
			r.script.pre = func(in activities.PreCheckInput) resource.Verdict {
				if !put {
					return create(in)
				}
				return resource.Block(resource.ReasonReconciling, "wait")
			}
			r.script.put = func(activities.PutResourceInput) (activities.PutResourceResult, error) {
				put = true
				return activities.PutResourceResult{Verdict: resource.Proceed(""), Sent: true, Token: "token"}, nil
			}
			if outcome.failed {
				r.script.poll = func(activities.PollOperationInput) (activities.PollOperationResult, error) {
					return activities.PollOperationResult{Verdict: resource.Fail(resource.ReasonOperationFailed, resource.RetrySlow, "no")}, nil
				}
			}
			var get activities.GetResourceInput
			var check activities.PreCheckInput
			read, judge := r.script.get, r.script.pre
			r.script.get = func(in activities.GetResourceInput) activities.GetResourceResult { get = in; return read(in) }
			r.script.pre = func(in activities.PreCheckInput) resource.Verdict { check = in; return judge(in) }
			r.apply(desired())
			r.at(5*time.Minute, workflows.ReconcileUpdate, workflows.ReconcileInput{Recreate: outcome.approved})
			r.start(6 * time.Minute)
			if got := !check.PutAt.IsZero(); got != outcome.inCheck {
				t.Errorf("%s: the pre-check got %s", outcome.reason, check.PutAt)
			}
			if get.Existed != outcome.inLaterGet {
				t.Errorf("%s: the read got %t", outcome.reason, get.Existed)
			}
		})
	}
}

// TestReadAfterDelete: only the read after a DELETE that ended well says so.
func TestReadAfterDelete(t *testing.T) {
	for _, accepted := range []bool{true, false} {
		r := newRun(t)
		var reads []activities.GetResourceInput
		deleted := false
		r.script.get = func(in activities.GetResourceInput) activities.GetResourceResult {
			reads = append(reads, in)
			if deleted {
				return absent()
			}
			return present()
		}
		r.script.delete = func(activities.DeleteResourceInput) activities.DeleteResourceResult {
			deleted = true
			return activities.DeleteResourceResult{Verdict: resource.Proceed(""), Done: true, Accepted: accepted}
		}
		r.apply(desired())
		r.at(time.Minute, workflows.DeleteUpdate, workflows.DeleteInput{})
		r.start(2 * time.Minute)
		if last := reads[len(reads)-1]; last.Deleted != accepted || reads[0].Deleted {
			t.Errorf("accepted %t: reads %+v", accepted, reads)
		}
	}
}
