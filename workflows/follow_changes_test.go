package workflows_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/armature-io/armature/activities"
	"github.com/armature-io/armature/activities/feed"
	"github.com/armature-io/armature/workflows"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/testsuite"
	"go.temporal.io/sdk/workflow"
)

// TestFollowChanges runs the workflow of a feed: each attempt continues the progress of the last,
// a feed that stops to follow is told once, and one without a source ends.
func TestFollowChanges(t *testing.T) {
	var suite testsuite.WorkflowTestSuite
	env := suite.NewTestWorkflowEnvironment()
	begin := time.Date(2026, 1, 2, 3, 0, 0, 0, time.UTC)
	results := []activities.FollowChangesResult{
		{State: activities.FeedState{Source: "s", Following: true}},
		{State: activities.FeedState{Source: "s", Refused: "no right"}, Unfollowed: true},
		{State: activities.FeedState{Source: "s", Refused: "no right"}},
		{State: activities.FeedState{Source: "s", Following: true}, Off: true},
	}
	calls, told := 0, 0
	env.RegisterActivityWithOptions(func(_ context.Context, in activities.FollowChangesInput) (activities.FollowChangesResult, error) {
		if want := begin.Add(time.Duration(calls) * time.Minute); calls > 0 && !in.Progress.Through.Equal(want) {
			t.Errorf("attempt %d begins at %s, want %s", calls, in.Progress.Through, want)
		}
		if calls > 0 && in.State != results[calls-1].State {
			t.Errorf("attempt %d knows %+v", calls, in.State)
		}
		result := results[calls]
		calls++
		result.Progress = feed.Progress{Through: begin.Add(time.Duration(calls) * time.Minute)}
		return result, nil
	}, activity.RegisterOptions{Name: "FollowChanges"})
	env.RegisterActivityWithOptions(func(_ context.Context, in activities.ReportUnfollowedInput) (activities.ReportUnfollowedResult, error) {
		told++
		if in.Credential != "prod" {
			t.Errorf("credential %q", in.Credential)
		}
		return activities.ReportUnfollowedResult{}, nil
	}, activity.RegisterOptions{Name: "ReportUnfollowed"})
	env.ExecuteWorkflow(workflows.FollowChanges, activities.FollowChangesInput{Credential: "prod"})
	if err := env.GetWorkflowError(); err != nil || calls != len(results) || told != 1 {
		t.Errorf("%d attempts, told %d times, error %v; want %d, once and none", calls, told, err, len(results))
	}
}

// A new worker version, and a history of 500 events, begin a new run with what is known.
func TestFollowChangesContinues(t *testing.T) {
	var suite testsuite.WorkflowTestSuite
	env := suite.NewTestWorkflowEnvironment()
	env.RegisterActivityWithOptions(func(context.Context, activities.FollowChangesInput) (activities.FollowChangesResult, error) {
		env.SignalWorkflow(workflows.MoveVersionSignal, nil)
		return activities.FollowChangesResult{Progress: feed.Progress{Seen: []string{"a"}}}, nil
	}, activity.RegisterOptions{Name: "FollowChanges"})
	env.ExecuteWorkflow(workflows.FollowChanges, activities.FollowChangesInput{Credential: "prod"})
	if next, ok := errors.AsType[*workflow.ContinueAsNewError](env.GetWorkflowError()); !ok || next.WorkflowType.Name != workflows.FollowChangesWorkflow {
		t.Errorf("error %v, want a new run", env.GetWorkflowError())
	}
}
