package workflows

import (
	"github.com/armature-io/armature/activities"
	"github.com/armature-io/armature/resource"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"
)

// The workflows of dry runs. They run beside the workflow of the resource, which they
// only query.
const (
	PlanResourceWorkflow   = "PlanResource"
	ImportResourceWorkflow = "ImportResource"
	DiagnoseWorkflow       = "Diagnose"
	MoveResourceWorkflow   = "MoveResource"
)

// Prefixes of their workflow IDs; a resource ID begins with "/".
const (
	PlanIDPrefix     = "plan:"
	ImportIDPrefix   = "import:"
	DiagnoseIDPrefix = "diagnose:"
	MoveIDPrefix     = "move:"
)

// PlanResource returns what a pass would do to one resource. It fails only when the run
// is canceled.
func PlanResource(ctx workflow.Context, in activities.PlanResourceInput) (activities.PlanResourceResult, error) {
	var a *activities.Activities
	result, err := execute(planOptions(ctx, "plan "+nameAndVersion(in.Desired)), a.PlanResource, in)
	if err != nil && ctx.Err() == nil {
		verdict := verdictOf(resource.Verdict{}, err)
		return activities.PlanResourceResult{
			Action: activities.PlanError, Reason: verdict.Reason, Severity: verdict.Severity, Message: verdict.Message,
			APIVersion: in.Desired.APIVersion,
		}, nil
	}
	return result, err
}

// ImportResource reads one resource and returns what its manifest would contain. It
// fails only when the run is canceled.
func ImportResource(ctx workflow.Context, in activities.ImportResourceInput) (activities.ImportResourceResult, error) {
	var a *activities.Activities
	result, err := execute(planOptions(ctx, "import "+in.ID.Short()), a.ImportResource, in)
	if err != nil && ctx.Err() == nil {
		return activities.ImportResourceResult{ID: in.ID, Verdict: verdictOf(resource.Verdict{}, err)}, nil
	}
	return result, err
}

// MoveResource proves that a resource was moved and returns what its new workflow takes
// over. It fails only when the run is canceled.
func MoveResource(ctx workflow.Context, in activities.MoveResourceInput) (activities.MoveResourceResult, error) {
	var a *activities.Activities
	result, err := execute(planOptions(ctx, "prove the move of "+in.Old.Short()), a.MoveResource, in)
	if err != nil && ctx.Err() == nil {
		return activities.MoveResourceResult{Verdict: verdictOf(resource.Verdict{}, err)}, nil
	}
	return result, err
}

// Diagnose checks what one worker needs. It makes one attempt, because the user wants to
// see a failure now rather than a success later.
func Diagnose(ctx workflow.Context, in activities.DiagnoseInput) (activities.DiagnoseResult, error) {
	var a *activities.Activities
	return execute(workflow.WithActivityOptions(ctx, workflow.ActivityOptions{
		StartToCloseTimeout: requestTimeout,
		RetryPolicy:         &temporal.RetryPolicy{MaximumAttempts: 1},
		Summary:             "check credentials, ARM and clock",
	}), a.Diagnose, in)
}
