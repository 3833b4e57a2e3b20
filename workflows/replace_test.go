package workflows_test

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/armature-io/armature/activities"
	"github.com/armature-io/armature/activities/contents"
	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/workflows"
)

// TestReplace checks that a resource that Azure refuses to change is deleted behind the
// guards of a deletion and created again, and that a guard that blocks leaves it alone.
//
//guard:replacing-needs-a-user
func TestReplace(t *testing.T) {
	reverted := desired()
	reverted.Body = []byte(`{"location":"westus2","tags":{"a":"reverted"}}`)
	cases := map[string]struct {
		reason string
		blocks string
		// lost is set if the DELETE gets no response, deleting if the next read shows its
		// operation, and recreated if the next read shows a resource.
		lost, deleting, recreated bool
		// message is sent while the step "dependents" or "contents" runs.
		during  string
		message string
		input   any
		want    []string
	}{
		"replaced": {reason: "nothing needs it and it contains nothing", want: []string{"put", "dependents", "contents", "delete", "put approved"}},
		"needed":   {reason: "a managed resource needs it", blocks: "dependents", want: []string{"put", "dependents"}},
		"forgotten": {
			reason: "nothing is sent after a forget", during: "dependents", message: workflows.ForgetUpdate, input: workflows.ForgetInput{By: "ada@host"},
			want: []string{"put", "dependents"},
		},
		"paused": {
			reason: "a pause ends the pass", during: "contents", message: workflows.PauseUpdate, input: workflows.PauseInput{By: "ada@host"},
			want: []string{"put", "dependents", "contents"},
		},
		"reverted": {
			reason: "the approval was for another spec", during: "dependents", message: workflows.ApplyUpdate, input: workflows.ApplyInput{Desired: reverted},
			want: []string{"put", "dependents", "put"},
		},
		"created again": {
			reason: "after a lost response the resource may be that of another user", lost: true, recreated: true,
			want: []string{"put", "dependents", "contents", "delete", "put"},
		},
		"lost": {
			reason: "the next read shows that the DELETE was done", lost: true,
			want: []string{"put", "dependents", "contents", "delete", "put approved"},
		},
		"lost while it runs": {
			reason: "a read during the DELETE uses no approval up", lost: true, deleting: true,
			want: []string{"put", "dependents", "contents", "delete", "put approved"},
		},
		"contained": {reason: "it contains what nothing manages", blocks: "contents", want: []string{"put", "dependents", "contents"}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			r := newRun(t)
			var calls []string
			exists := true
			var state, read string // of the operation: now, and as the last read showed it
			block := resource.Block(resource.ReasonContainsUnmanaged, "it contains something")
			block.Class = resource.RetryVerySlow
			guard := func(name string) resource.Verdict {
				calls = append(calls, name)
				if c.during == name {
					r.duringActivity(c.message, c.input)
				}
				if c.blocks == name {
					return block
				}
				return resource.Proceed("")
			}
			r.script.get = func(activities.GetResourceInput) activities.GetResourceResult {
				got := activities.GetResourceResult{Verdict: resource.Proceed(""), Exists: exists, InFlight: state}
				if read, state = state, ""; read != "" {
					exists = false // the operation ends after this read
				}
				return got
			}
			r.script.pre = func(in activities.PreCheckInput) resource.Verdict {
				if read != "" {
					return resource.Block(resource.ReasonOperationInProgress, "it is being deleted")
				}
				return resource.Verdict{Action: resource.ActionProceed, Reason: resource.ReasonDrift, Create: !exists, Differences: []resource.Difference{{Path: "location"}}}
			}
			r.script.put = func(in activities.PutResourceInput) (activities.PutResourceResult, error) {
				if exists {
					calls = append(calls, "put")
					refused := resource.Fail("PropertyChangeNotAllowed", resource.RetryVerySlow, "Azure sets it at the creation")
					return activities.PutResourceResult{Verdict: refused, Replace: in.Approved.Replacement}, nil
				}
				name := "put"
				if in.Approved.Recreation {
					name = "put approved"
				}
				calls = append(calls, name)
				exists = true
				return activities.PutResourceResult{Verdict: resource.Proceed(""), Done: true, Sent: true}, nil
			}
			r.script.dependents = func(activities.CheckDependentsInput) resource.Verdict { return guard("dependents") }
			r.script.contents = func(contents.Request) resource.Verdict { return guard("contents") }
			r.script.delete = func(activities.DeleteResourceInput) activities.DeleteResourceResult {
				calls = append(calls, "delete")
				exists = c.lost && (c.deleting || c.recreated)
				if c.deleting {
					state = "Deleting"
				}
				if c.lost {
					return activities.DeleteResourceResult{Verdict: resource.Fail(resource.ReasonArmUnreachable, resource.RetryFast, "no response")}
				}
				return activities.DeleteResourceResult{Verdict: resource.Proceed(""), Done: true}
			}
			r.script.falling = []resource.ID{mustID(desired().ID.String() + "/parts/p")}
			r.apply(desired())
			r.at(time.Minute, workflows.ReconcileUpdate, workflows.ReconcileInput{Recreate: true})
			r.start(2 * time.Minute)
			fallen := slices.ContainsFunc(r.script.wakes, func(in activities.WakeDependentsInput) bool { return len(in.Fallen) == 1 })
			if fallen != (slices.Contains(c.want, "put approved")) {
				t.Errorf("%s: what fell with it was woken: %t", c.reason, fallen)
			}
			if len(calls) == 0 || calls[0] != "put" {
				t.Fatalf("calls %v, want the refused PUT of the apply first", calls)
			}
			if diff := cmp.Diff(c.want, calls[1:]); diff != "" {
				t.Errorf("%s: calls after the approval (-want +got):\n%s", c.reason, diff)
			}
		})
	}
}
