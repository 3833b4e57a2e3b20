package workflows_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.temporal.io/sdk/activity"

	"github.com/armature-io/armature/activities"
	"github.com/armature-io/armature/activities/writing"
	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/workflows"
)

// TestRequestsAreRecorded checks that a worker with an audit trail gets every request of a
// user, also while the resource is paused and after the trail was away, and that PUTs carry
// their cause; other workers get neither.
func TestRequestsAreRecorded(t *testing.T) {
	for name, audits := range map[string]bool{"Audited": true, "NotAudited": false} {
		t.Run(name, func(t *testing.T) {
			r := newRun(t)
			away := 1
			var recorded []string
			r.RegisterActivityWithOptions(func(_ context.Context, in activities.RecordRequestsInput) (activities.RecordRequestsResult, error) {
				if away--; away >= 0 {
					return activities.RecordRequestsResult{}, errors.New("the audit trail is not there")
				}
				for _, request := range in.Requests {
					recorded = append(recorded, string(request.Event)+" "+request.By+" "+request.Reason)
				}
				return activities.RecordRequestsResult{Written: len(in.Requests)}, nil
			}, activity.RegisterOptions{Name: "RecordRequests"})
			r.script.owner = func(activities.CheckOwnerInput) activities.CheckOwnerResult {
				return activities.CheckOwnerResult{Verdict: resource.Proceed(""), Audits: audits}
			}
			r.script.pre = func(activities.PreCheckInput) resource.Verdict {
				return resource.Verdict{Action: resource.ActionProceed, Reason: resource.ReasonDrift}
			}
			var cause *writing.Cause
			put := r.script.put
			r.script.put = func(in activities.PutResourceInput) (activities.PutResourceResult, error) {
				cause = in.Cause
				return put(in)
			}
			r.apply(desired())
			r.at(10*time.Minute, workflows.ReconcileUpdate, workflows.ReconcileInput{By: "eve@host", Force: true, Reason: "INC-1"})
			r.at(20*time.Minute, workflows.PauseUpdate, workflows.PauseInput{By: "bob@host", Reason: "lunch"})
			r.start(30 * time.Minute)
			var want []string
			if audits {
				want = []string{"apply ada@host ", "force eve@host INC-1", "pause bob@host lunch"}
			}
			if diff := cmp.Diff(want, recorded); diff != "" {
				t.Errorf("the audit trail got (-want +got):\n%s", diff)
			}
			if (cause != nil) != audits || audits && cause.By == "" {
				t.Errorf("the PUT has the cause %+v", cause)
			}
		})
	}
}
