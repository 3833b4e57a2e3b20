package workflows

import (
	"github.com/armature-io/armature/activities"
	"github.com/armature-io/armature/resource"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"
)

// The workflows of dry runs. They run beside the workflow of the resource, which they
// only query. Each runs the activity of its name.
const (
	PlanResourceWorkflow   = "PlanResource"
	PlanDeletionWorkflow   = "PlanDeletion"
	ImportResourceWorkflow = "ImportResource"
	TryChecksWorkflow      = "TryChecks"
	DiagnoseWorkflow       = "Diagnose"
	MoveResourceWorkflow   = "MoveResource"
)

// Prefixes of their workflow IDs; a resource ID begins with "/".
const (
	PlanIDPrefix     = "plan:"
	ImportIDPrefix   = "import:"
	TryIDPrefix      = "try:"
	DiagnoseIDPrefix = "diagnose:"
	MoveIDPrefix     = "move:"
)

// dryRunOptions returns the options of the activity of a dry run.
func dryRunOptions(name string) workflow.ActivityOptions {
	if name == DiagnoseWorkflow {
		// One attempt: the user wants to see a failure now rather than a success later.
		return workflow.ActivityOptions{StartToCloseTimeout: requestTimeout, RetryPolicy: &temporal.RetryPolicy{MaximumAttempts: 1}}
	}
	return retriedOptions(requestTimeout, planTimeout)
}

func dryRunContext(ctx workflow.Context, name, summary string) workflow.Context {
	options := dryRunOptions(name)
	options.Priority, options.Summary = workflow.GetActivityOptions(ctx).Priority, summarize(summary)
	return workflow.WithActivityOptions(ctx, options)
}

// PlanResource returns what a pass would do to one resource. It fails only when the run
// is canceled.
func PlanResource(ctx workflow.Context, in activities.PlanResourceInput) (activities.PlanResourceResult, error) {
	var a *activities.Activities
	result, err := execute(dryRunContext(ctx, PlanResourceWorkflow, "plan "+nameAndVersion(in.Desired)), a.PlanResource, in)
	if err != nil && ctx.Err() == nil {
		return planFailed(in, err), nil
	}
	return result, err
}

// planFailed returns the plan of a resource whose activity ended with an error.
func planFailed(in activities.PlanResourceInput, err error) activities.PlanResourceResult {
	verdict := verdictOf(resource.Verdict{}, err)
	return activities.PlanResourceResult{
		Action: activities.PlanError, Reason: verdict.Reason, Severity: verdict.Severity, Message: verdict.Message,
		APIVersion: in.Desired.APIVersion,
	}
}

// PlanDeletion answers what can be asked before a DELETE of one resource. It fails only when
// the run is canceled.
func PlanDeletion(ctx workflow.Context, in activities.PlanDeletionInput) (activities.PlanDeletionResult, error) {
	var a *activities.Activities
	result, err := execute(dryRunContext(ctx, PlanDeletionWorkflow, "plan the deletion of "+in.ID.Short()), a.PlanDeletion, in)
	if err != nil && ctx.Err() == nil {
		return activities.PlanDeletionResult{Unknown: []string{verdictOf(resource.Verdict{}, err).Message}}, nil
	}
	return result, err
}

// ImportResource reads one resource and returns what its manifest would contain. It
// fails only when the run is canceled.
func ImportResource(ctx workflow.Context, in activities.ImportResourceInput) (activities.ImportResourceResult, error) {
	var a *activities.Activities
	result, err := execute(dryRunContext(ctx, ImportResourceWorkflow, "import "+in.ID.Short()), a.ImportResource, in)
	if err != nil && ctx.Err() == nil {
		return importFailed(in, err), nil
	}
	return result, err
}

// importFailed returns the import of a resource whose activity ended with an error.
func importFailed(in activities.ImportResourceInput, err error) activities.ImportResourceResult {
	return activities.ImportResourceResult{ID: in.ID, Verdict: verdictOf(resource.Verdict{}, err)}
}

// TryChecks runs the checks of one resource, each by itself, and returns what they decide. It
// fails only when the run is canceled.
func TryChecks(ctx workflow.Context, in activities.TryChecksInput) (activities.TryChecksResult, error) {
	var a *activities.Activities
	result, err := execute(dryRunContext(ctx, TryChecksWorkflow, "try the checks of "+in.ID.Short()), a.TryChecks, in)
	if err != nil && ctx.Err() == nil {
		return tryFailed(in, err), nil
	}
	return result, err
}

// tryFailed returns the trial of a resource whose activity ended with an error.
func tryFailed(in activities.TryChecksInput, err error) activities.TryChecksResult {
	return activities.TryChecksResult{ID: in.ID, Verdict: verdictOf(resource.Verdict{}, err)}
}

// MoveResource proves that a resource was moved and returns what its new workflow takes
// over. It fails only when the run is canceled.
func MoveResource(ctx workflow.Context, in activities.MoveResourceInput) (activities.MoveResourceResult, error) {
	var a *activities.Activities
	result, err := execute(dryRunContext(ctx, MoveResourceWorkflow, "prove the move of "+in.Old.Short()), a.MoveResource, in)
	if err != nil && ctx.Err() == nil {
		return moveFailed(err), nil
	}
	return result, err
}

// moveFailed returns the proof of a move whose activity ended with an error.
func moveFailed(err error) activities.MoveResourceResult {
	return activities.MoveResourceResult{Verdict: verdictOf(resource.Verdict{}, err)}
}

// Diagnose checks what one worker needs.
func Diagnose(ctx workflow.Context, in activities.DiagnoseInput) (activities.DiagnoseResult, error) {
	var a *activities.Activities
	return execute(dryRunContext(ctx, DiagnoseWorkflow, "check credentials, ARM and clock"), a.Diagnose, in)
}
