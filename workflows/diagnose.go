package workflows

import (
	"github.com/armature-io/armature/activities"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"
)

// DiagnoseWorkflow asks one worker how it stands.
const DiagnoseWorkflow = "Diagnose"

// DiagnoseIDPrefix begins the ID of such a run.
const DiagnoseIDPrefix = "diagnose:"

// Diagnose runs the activity once: whoever asks reads of a failure sooner than
// of a repetition.
func Diagnose(ctx workflow.Context, in activities.DiagnoseInput) (activities.DiagnoseResult, error) {
	var a *activities.Activities
	var result activities.DiagnoseResult
	ctx = workflow.WithActivityOptions(ctx, workflow.ActivityOptions{
		StartToCloseTimeout: requestTimeout,
		RetryPolicy:         &temporal.RetryPolicy{MaximumAttempts: 1},
		Summary:             "look at credentials, ARM and clock",
	})
	err := workflow.ExecuteActivity(ctx, a.Diagnose, in).Get(ctx, &result)
	return result, err
}
