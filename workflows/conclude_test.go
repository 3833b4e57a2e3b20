package workflows_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/armature-io/armature/activities"
	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/workflows"
)

// TestReadyLeaves checks the condition of a resource whose last step has something to say, and
// whether a later read that shows the values from before the PUT counts as a change.
func TestReadyLeaves(t *testing.T) {
	replaced := &activities.Replaced{Paths: []string{"properties.size"}}
	for name, c := range map[string]struct {
		reason   string
		post     resource.Verdict
		want     resource.Condition
		replaced *activities.Replaced
	}{
		"in sync": {
			reason: "the usual end", post: resource.Verdict{Action: resource.ActionSuccess, Reason: resource.ReasonInSync, Origin: "rule quiet"},
			want: resource.Condition{Ready: true, Reason: resource.ReasonSucceeded, Message: "in sync", ObservedGeneration: 1}, replaced: replaced,
		},
		"with a note": {
			reason: "who decided is of interest for a warning alone", post: resource.Verdict{Action: resource.ActionSuccess, Message: "a note", Origin: "rule quiet"},
			want: resource.Condition{Ready: true, Reason: resource.ReasonSucceeded, Message: "a note", ObservedGeneration: 1}, replaced: replaced,
		},
		"with a warning": {
			reason: "an extension warns", post: resource.Verdict{Action: resource.ActionSuccess, Reason: "Aging", Message: "renew it", Severity: resource.SeverityWarning, Origin: "rule aging"},
			want: resource.Condition{Ready: true, Reason: "Aging", Message: "renew it", Severity: resource.SeverityWarning, Origin: "rule aging", ObservedGeneration: 1}, replaced: replaced,
		},
		"change not taken": {
			reason: "Azure keeps the values from before", post: resource.Verdict{Action: resource.ActionSuccess, Reason: resource.ReasonChangeNotTaken},
			want: resource.Condition{Ready: true, Reason: resource.ReasonChangeNotTaken, Message: "in sync", ObservedGeneration: 1},
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRun(t)
			r.input = existing()
			r.script.pre = func(activities.PreCheckInput) resource.Verdict {
				return resource.Verdict{Action: resource.ActionProceed, Differences: []resource.Difference{{Path: "properties.size"}}}
			}
			r.script.put = func(activities.PutResourceInput) (activities.PutResourceResult, error) {
				return activities.PutResourceResult{Verdict: resource.Proceed(""), Sent: true, Done: true, Replaced: replaced}, nil
			}
			r.script.post = func(activities.PostCheckInput) activities.PostCheckResult {
				return activities.PostCheckResult{Verdict: c.post}
			}
			r.apply(desired())
			state := r.startUntil(30 * time.Second)
			state.Condition.LastTransitionTime = time.Time{}
			if diff := cmp.Diff(c.want, state.Condition); diff != "" {
				t.Errorf("%s (-want +got):\n%s", c.reason, diff)
			}
			if diff := cmp.Diff(workflows.LastWrite{Sent: true, At: state.Write.At, Replaced: c.replaced, Note: state.Write.Note, Accepted: state.Write.Accepted}, state.Write); diff != "" {
				t.Errorf("%s (-want +got):\n%s", c.reason, diff)
			}
		})
	}
}
