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
			var causes []*writing.Cause
			put := r.script.put
			r.script.put = func(in activities.PutResourceInput) (activities.PutResourceResult, error) {
				causes = append(causes, in.Cause)
				return put(in)
			}
			spec := desired()
			spec.Interval = 5 * time.Minute
			r.apply(spec)
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
			reasons := map[string]bool{}
			for i, cause := range causes {
				switch {
				case (cause != nil) != audits || audits && cause.By == "":
					t.Errorf("PUT %d has the cause %+v", i, cause)
				case audits:
					reasons[cause.Message] = true
				}
			}
			if audits && (causes[0].Message != "" || !reasons["correction of drift"] || !reasons["forced: INC-1"]) {
				t.Errorf("the PUTs have the reasons %v, the first %q", reasons, causes[0].Message)
			}
		})
	}
}

// TestRecordedTexts checks what the audit trail and the decisions say of messages.
func TestRecordedTexts(t *testing.T) {
	const by = "ben@host"
	owner := desired().Owner
	unsigned := resource.Desired{ID: desired().ID, APIVersion: desired().APIVersion}
	cases := map[string]struct {
		reason string
		spec   resource.Desired
		// held is set if the first pass held a PUT that removes something.
		held     bool
		messages []any
		recorded []string
		decided  []string
		// states is what the record needs of the spec.
		states resource.Desired
	}{
		"deletion": {
			reason: "repeated, it is the same request", spec: desired(), messages: []any{workflows.DeleteInput{By: by}, workflows.DeleteInput{By: by}},
			recorded: []string{"delete: "}, decided: []string{"delete: by ben@host", "delete: by ben@host"}, states: unsigned,
		},
		"wider deletion": {
			reason: "what it deletes", spec: desired(), messages: []any{workflows.DeleteInput{By: by, Cascade: true, WithData: true, From: owner}},
			recorded: []string{"delete: with everything in it; with data; with the deletion of " + group},
			decided:  []string{"delete: by ben@host, with everything in it, with data"}, states: unsigned,
		},
		"data later": {
			reason: "a second request deletes more", spec: desired(),
			messages: []any{workflows.DeleteInput{By: by}, workflows.DeleteInput{By: by, WithData: true}, workflows.DeleteInput{By: by, WithData: true}},
			recorded: []string{"delete: ", "delete: with data"}, decided: []string{"delete: by ben@host", "delete: by ben@host, with data", "delete: by ben@host, with data"}, states: unsigned,
		},
		"taken back": {
			reason: "an apply ends a deletion", spec: signedAt(1), messages: []any{workflows.DeleteInput{By: by}, workflows.ApplyInput{By: by, Desired: signedAt(1)}},
			recorded: []string{"delete: ", "apply: generation 1; takes back the deletion"}, decided: []string{"delete: by ben@host", "apply: generation 1 by ben@host"}, states: signedAt(1),
		},
		"removals approved": {
			reason: "a repeated apply approves what a pass held", spec: desired(), held: true, messages: []any{workflows.ApplyInput{By: by, Desired: desired()}},
			recorded: []string{"apply: generation 1", "approval: removals approved"}, decided: []string{"apply: generation 1 by ben@host"}, states: unsigned,
		},
		"all approved": {
			reason: "a request of a pass may approve more", spec: desired(), held: true, messages: []any{workflows.ReconcileInput{By: by, Recreate: true, DropBaseline: true}},
			recorded: []string{"approval: recreation approved; removals approved; baseline dropped"},
			decided:  []string{"reconcile: by ben@host; baseline dropped; recreation approved; removals approved"}, states: unsigned,
		},
		"nothing approved": {reason: "a plain request has no effect but a pass", spec: desired(), messages: []any{workflows.ReconcileInput{By: by}}, decided: []string{"reconcile: by ben@host"}, states: unsigned},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			r := newRun(t)
			var recorded []string
			stated := c.states
			r.RegisterActivityWithOptions(func(_ context.Context, in activities.RecordRequestsInput) (activities.RecordRequestsResult, error) {
				for _, request := range in.Requests {
					if request.By == by {
						recorded = append(recorded, string(request.Event)+": "+request.Text)
					}
				}
				stated = *in.Desired
				return activities.RecordRequestsResult{Written: len(in.Requests)}, nil
			}, activity.RegisterOptions{Name: "RecordRequests"})
			r.script.owner = func(activities.CheckOwnerInput) activities.CheckOwnerResult {
				return activities.CheckOwnerResult{Verdict: resource.Proceed(""), Audits: true}
			}
			r.script.dependents, r.script.audits = needed, true
			r.script.pre = func(activities.PreCheckInput) resource.Verdict {
				if !c.held {
					return resource.Verdict{Action: resource.ActionSkip}
				}
				held := resource.Block(resource.ReasonHeld, "it would remove a tag")
				held.Drops = []string{"tags.team"}
				return held
			}
			r.apply(c.spec)
			for i, message := range c.messages {
				update := workflows.ReconcileUpdate
				switch message.(type) {
				case workflows.ApplyInput:
					update = workflows.ApplyUpdate
				case workflows.DeleteInput:
					update = workflows.DeleteUpdate
				}
				r.at(time.Minute+time.Duration(i)*100*time.Millisecond, update, message)
			}
			status := r.statusAt(3 * time.Minute)
			r.start(4 * time.Minute)
			if diff := cmp.Diff(c.recorded, recorded); diff != "" {
				t.Errorf("%s: the audit trail got (-want +got):\n%s", c.reason, diff)
			}
			if diff := cmp.Diff(c.states, stated); diff != "" {
				t.Errorf("%s: the records have the spec (-want +got):\n%s", c.reason, diff)
			}
			var decided []string
			for _, d := range status.Decisions[1:] { // after the apply
				if d.Action == "" {
					decided = append(decided, d.Step+": "+d.Message)
				}
			}
			if diff := cmp.Diff(c.decided, decided); diff != "" {
				t.Errorf("%s: the decisions are (-want +got):\n%s", c.reason, diff)
			}
		})
	}
}
