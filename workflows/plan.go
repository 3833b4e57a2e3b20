package workflows

import (
	"github.com/armature-io/armature/activities"
	"github.com/armature-io/armature/resource"
	"go.temporal.io/sdk/workflow"
)

// PlanResourceWorkflow tells what a pass would do to one resource. It stands
// beside the resource's own workflow, which it only asks.
const PlanResourceWorkflow = "PlanResource"

// PlanIDPrefix begins the ID of such a run; a resource ID begins with "/".
const PlanIDPrefix = "plan:"

// MemoryQuery answers an activities.Recollection.
const MemoryQuery = "memory"

// PlanResource runs the dry pass and ends with the plan. Its only error is that
// of a run that was ended from outside.
func PlanResource(ctx workflow.Context, in activities.PlanResourceInput) (activities.PlanResourceResult, error) {
	var a *activities.Activities
	var result activities.PlanResourceResult
	err := workflow.ExecuteActivity(planOptions(ctx, "plan "+named(in.Desired)), a.PlanResource, in).Get(ctx, &result)
	if err != nil && ctx.Err() == nil {
		verdict := verdictOf(resource.Verdict{}, err)
		return activities.PlanResourceResult{
			Action: activities.PlanError, Reason: verdict.Reason, Severity: verdict.Severity, Message: verdict.Message,
			APIVersion: in.Desired.APIVersion,
		}, nil
	}
	return result, err
}

// ImportResourceWorkflow says what a manifest of an existing resource would.
const ImportResourceWorkflow = "ImportResource"

// ImportIDPrefix begins the ID of such a run.
const ImportIDPrefix = "import:"

// ImportResource reads one resource and ends with what its manifest says.
func ImportResource(ctx workflow.Context, in activities.ImportResourceInput) (activities.ImportResourceResult, error) {
	var a *activities.Activities
	var result activities.ImportResourceResult
	err := workflow.ExecuteActivity(planOptions(ctx, "import "+in.ID.Short()), a.ImportResource, in).Get(ctx, &result)
	if err != nil && ctx.Err() == nil {
		return activities.ImportResourceResult{ID: in.ID, Verdict: verdictOf(resource.Verdict{}, err)}, nil
	}
	return result, err
}

// recollect answers MemoryQuery.
func (r *reconciler) recollect() (activities.Recollection, error) {
	state := r.state
	memory := activities.Recollection{
		Generation: state.Generation, Paused: state.Paused, Deleting: state.Delete != nil,
		Applied: state.applied(), Memory: state.Memory,
	}
	if state.Desired != nil {
		memory.Policy = state.Desired.Policy
	}
	return memory, nil
}
