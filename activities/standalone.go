package activities

import (
	"context"
	"time"

	"go.temporal.io/sdk/activity"
)

// ErrorNeedsWorkflow is the type of the error with which a worker refuses an activity that
// no workflow runs.
const ErrorNeedsWorkflow = "NeedsWorkflow"

// maxStandaloneTime bounds an attempt that no workflow runs, whatever its starter
// requested: the requestTimeout of workflows/options.go.
const maxStandaloneTime = 90 * time.Second

// RunsAlone reports whether an activity may run without a workflow. Only those do that write
// nothing: a workflow checks policy, consent and order before each other one.
func RunsAlone(name string) bool {
	switch name {
	case "PlanResource", "ImportResource", "MoveResource", "Diagnose":
		return true
	}
	return false
}

// isStandalone reports whether no workflow runs the activity.
func isStandalone(ctx context.Context) bool {
	info := activity.GetInfo(ctx)
	return !info.IsLocalActivity && info.WorkflowExecution.ID == ""
}

// refuseStandalone returns the error of an activity that needs a workflow, nil for a dry
// run.
func (e *endingActivity) refuseStandalone(ctx context.Context) error {
	if name := activityName(ctx); !RunsAlone(name) {
		e.activities.Log.WarnContext(ctx, "refused an activity that no workflow runs", "activity", name)
		return endedByWorker(ErrorNeedsWorkflow, name+" needs its workflow: only dry runs run without one")
	}
	return nil
}
