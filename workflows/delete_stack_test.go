package workflows_test

import (
	"context"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/temporal"

	"github.com/armature-io/armature/activities"
	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/workflows"
)

// TestDeleteStack checks how long the deletion of a stack is watched, and when what remains of it
// is taken back.
func TestDeleteStack(t *testing.T) {
	stack := activities.Stack{Resources: []resource.ID{desired().ID}, Locks: []activities.StackLock{{}}}
	locks, gone := activities.Stack{Locks: stack.Locks}, activities.Stack{}
	refused := activities.WatchDeletionsResult{Stack: stack, Refused: desired().ID, Reason: resource.ReasonProtected, Message: "not this one"}
	failed := temporal.NewNonRetryableApplicationError("Temporal is away", "", errors.New("x"))
	cases := map[string]struct {
		reason   string
		watched  []activities.WatchDeletionsResult
		watchErr error
		endErr   error
		ends     int
		want     workflows.DeleteStackResult
		err      bool
	}{
		"all deleted":     {reason: "the locks too", watched: []activities.WatchDeletionsResult{{Stack: stack}, {Stack: gone}}, want: workflows.DeleteStackResult{Message: "the deletions of 2 resources have ended"}},
		"locks remain":    {reason: "they are put back", watched: []activities.WatchDeletionsResult{{Stack: locks}}, ends: 1, want: workflows.DeleteStackResult{Message: "the deletions of 2 resources have ended; put back 1"}},
		"refused":         {reason: "the rest is taken back", watched: []activities.WatchDeletionsResult{refused}, ends: 1, want: workflows.DeleteStackResult{Refused: desired().ID, Message: "c1: Protected: not this one; put back 1"}},
		"refused, no end": {reason: "a user has to look", watched: []activities.WatchDeletionsResult{refused}, endErr: failed, ends: 1, err: true},
		"not watched":     {reason: "nothing is known", watchErr: failed, err: true},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			r := newRun(t)
			watches, ends := 0, 0
			r.RegisterActivityWithOptions(func(_ context.Context, _ activities.Stack) (activities.WatchDeletionsResult, error) {
				if watches++; c.watchErr != nil {
					return activities.WatchDeletionsResult{}, c.watchErr
				}
				return c.watched[watches-1], nil
			}, activity.RegisterOptions{Name: "WatchDeletions"})
			r.RegisterActivityWithOptions(func(context.Context, activities.Stack) (activities.EndDeletionsResult, error) {
				ends++
				return activities.EndDeletionsResult{Verdict: resource.Proceed("put back 1")}, c.endErr
			}, activity.RegisterOptions{Name: "EndDeletions"})
			r.ExecuteWorkflow(workflows.DeleteStackWorkflow, stack)
			var got workflows.DeleteStackResult
			if err := r.GetWorkflowError(); (err != nil) != c.err {
				t.Fatalf("%s: ended with %v", c.reason, err)
			} else if err == nil && r.GetWorkflowResult(&got) != nil {
				t.Fatal("the result does not decode")
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", c.reason, diff)
			}
			if ends != c.ends || watches != max(1, len(c.watched)) {
				t.Errorf("%s: watched %d times, ended %d times", c.reason, watches, ends)
			}
		})
	}
}
