package workflows_test

import (
	"testing"
	"time"

	"github.com/armature-io/armature/activities"
	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/workflows"
)

// TestCreatedAgain checks which reads of a deletion are compared, and when the next DELETE is
// sent after one whose outcome is unknown or that failed.
func TestCreatedAgain(t *testing.T) {
	failed := func(activities.DeleteResourceInput) activities.DeleteResourceResult {
		return activities.DeleteResourceResult{Verdict: resource.Block(resource.ReasonDeleting, "an earlier attempt may have sent the DELETE")}
	}
	cases := map[string]struct {
		reason string
		// again is set if another resource has the ID after the first DELETE.
		again bool
		// later is a message after that.
		update  string
		input   any
		deletes int
		want    resource.Reason
	}{
		"our own failed DELETE": {reason: "it is the same resource", deletes: 2, want: resource.ReasonDeleted},
		"created again":         {reason: "the new one stays", again: true, deletes: 1, want: resource.ReasonCreatedAgain},
		"repeated by the user": {
			reason: "the user means the new one", again: true, update: workflows.DeleteUpdate, input: workflows.DeleteInput{By: "ben@host"}, deletes: 2, want: resource.ReasonDeleted,
		},
		"continued by a stack": {
			reason: "no user has repeated it", again: true, update: workflows.DeleteUpdate,
			input: workflows.DeleteInput{By: "ben@host", Continue: true, Stack: "delete:1"}, deletes: 1, want: resource.ReasonCreatedAgain,
		},
		"requested by a cascade": {
			reason: "no user has repeated it", again: true, update: workflows.DeleteUpdate,
			input: workflows.DeleteInput{By: "ben@host", From: mustID("/subscriptions/11111111-1111-1111-1111-111111111111/resourceGroups/rg")}, deletes: 1, want: resource.ReasonCreatedAgain,
		},
		"forgotten": {reason: "the user leaves it", again: true, update: workflows.ForgetUpdate, input: workflows.ForgetInput{By: "ben@host", Reason: "r"}, deletes: 1, want: resource.ReasonDetached},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			r := newRun(t)
			now := resource.Identity{"properties.resourceGuid": "a"}
			r.script.get = func(in activities.GetResourceInput) activities.GetResourceResult {
				got := present()
				got.Identity = now
				switch {
				case now == nil:
					return absent()
				case in.WithoutBody && in.Identity.Differs(now) != "":
					got.Verdict = resource.Block(resource.ReasonCreatedAgain, "created again")
				}
				return got
			}
			r.script.delete = func(in activities.DeleteResourceInput) activities.DeleteResourceResult {
				if r.count("DeleteResource") > 1 {
					now = nil
					return activities.DeleteResourceResult{Verdict: resource.Proceed(""), Done: true}
				}
				if c.again {
					now = resource.Identity{"properties.resourceGuid": "b"}
				}
				return failed(in)
			}
			r.apply(desired())
			r.at(time.Minute, workflows.DeleteUpdate, workflows.DeleteInput{By: "ana@host", Stack: "delete:1"})
			if c.update != "" {
				r.at(30*time.Minute, c.update, c.input)
			}
			last := r.statusAt(40 * time.Minute)
			r.start(41 * time.Minute)
			var ended workflows.Status
			condition := last.Condition
			if c.want == resource.ReasonDeleted || c.want == resource.ReasonDetached {
				if err := r.GetWorkflowResult(&ended); err != nil {
					t.Fatalf("%s: %v", c.reason, err)
				}
				condition = ended.Condition
			}
			if got := r.count("DeleteResource"); got != c.deletes || condition.Reason != c.want {
				t.Errorf("%s: %d DELETEs and %s, want %d and %s", c.reason, got, condition.Reason, c.deletes, c.want)
			}
		})
	}
}
