package workflows_test

import (
	"slices"
	"testing"

	"github.com/armature-io/armature/activities"
	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/workflows"
)

// TestPurge deletes resources whose manifest states a purge. It follows only a DELETE
// that ARM accepted, and the deletion ends after it.
//
//guard:purges-are-stated
func TestPurge(t *testing.T) {
	accepted := func(accepted bool) func(activities.DeleteResourceInput) activities.DeleteResourceResult {
		return func(activities.DeleteResourceInput) activities.DeleteResourceResult {
			return activities.DeleteResourceResult{Verdict: resource.Proceed(""), Done: true, Accepted: accepted}
		}
	}
	steps := []string{"CheckDependents", "CheckOwner", "GetResource", "CheckContents", "DeleteResource", "GetResource"}
	again := []string{"CheckDependents", "CheckOwner", "GetResource"}
	cases := map[string]struct {
		reason string
		stated bool
		reads  int
		delete func(activities.DeleteResourceInput) activities.DeleteResourceResult
		// passes is how many times the purge blocks.
		blocks  int
		want    []string
		message string
	}{
		"not stated":       {reason: "nothing is purged by default", reads: 1, delete: accepted(true), want: steps, message: "deleted"},
		"stated":           {reason: "the manifest says so", stated: true, reads: 1, delete: accepted(true), want: append(steps[:6:6], "PurgeResource"), message: "deleted; purged"},
		"in progress":      {reason: "the deletion ends after the purge", stated: true, reads: 1, delete: accepted(true), blocks: 1, want: append(append(append(steps[:6:6], "PurgeResource"), again...), "PurgeResource"), message: "the resource does not exist; purged"},
		"twice":            {reason: "it was sent once", stated: true, reads: 1, delete: accepted(true), blocks: 2, want: slices.Concat(steps, []string{"PurgeResource"}, again, []string{"PurgeResource"}, again, []string{"PurgeResource"}), message: "the resource does not exist; purged"},
		"absent":           {reason: "another tool deleted it, and may restore it", stated: true, delete: accepted(true), want: again, message: "the resource does not exist"},
		"absent meanwhile": {reason: "the DELETE found nothing", stated: true, reads: 1, delete: accepted(false), want: steps, message: "deleted"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			r := newRun(t)
			spec := desired()
			spec.Deletion.Purge = c.stated
			r.script.get, r.script.delete = absentAfter(c.reads), c.delete
			var inputs []activities.PurgeResourceInput
			r.script.purge = func(in activities.PurgeResourceInput) activities.PurgeResourceResult {
				if inputs = append(inputs, in); len(inputs) <= c.blocks {
					return activities.PurgeResourceResult{Verdict: resource.Block(resource.ReasonDeleting, "the purge is in progress"), Sent: len(inputs) == 1}
				}
				return activities.PurgeResourceResult{Verdict: resource.Proceed("purged")}
			}
			r.at(0, workflows.DeleteUpdate, workflows.DeleteInput{Desired: &spec})
			r.start(0)
			r.wantCalls(c.want...)
			var status workflows.Status
			if err := r.GetWorkflowResult(&status); err != nil || !status.Deleted || status.Condition.Message != c.message || (status.Deletion != nil) != c.stated {
				t.Errorf("%s: %q, deletion %+v, %v; want %q", c.reason, status.Condition.Message, status.Deletion, err, c.message)
			}
			for i, in := range inputs {
				if in.Since.IsZero() || in.Sent != (i > 0) {
					t.Errorf("%s: purge %d has %+v", c.reason, i, in)
				}
			}
		})
	}
}
