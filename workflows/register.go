package workflows

import (
	"maps"
	"slices"
	"strings"

	"github.com/armature-io/armature/activities"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/workflow"
)

// Registry is the part of a worker or replayer that registers workflows.
type Registry interface {
	RegisterWorkflowWithOptions(w any, options workflow.RegisterOptions)
}

// ActivityRegistry is the part of a worker that registers activities.
type ActivityRegistry interface {
	RegisterActivityWithOptions(a any, options activity.RegisterOptions)
}

// functions returns every workflow function by name.
func functions() map[string]any {
	return map[string]any{
		ReconcileResourceWorkflow: ReconcileResource,
		HoldFreezeWorkflow:        HoldFreeze,
		HoldBudgetsWorkflow:       HoldBudgets,
		SerializeSiblingsWorkflow: SerializeSiblings,
		PlanResourceWorkflow:      PlanResource,
		PlanDeletionWorkflow:      PlanDeletion,
		DeleteStackWorkflow:       DeleteStack,
		ImportResourceWorkflow:    ImportResource,
		TryChecksWorkflow:         TryChecks,
		DiagnoseWorkflow:          Diagnose,
		MoveResourceWorkflow:      MoveResource,
		FollowChangesWorkflow:     FollowChanges,
	}
}

// Register registers every workflow. A run is pinned to the worker version that
// started it, and moves to the newest version at continue-as-new.
func Register(registry Registry) {
	for name, function := range functions() {
		registry.RegisterWorkflowWithOptions(function, workflow.RegisterOptions{
			Name: name, VersioningBehavior: workflow.VersioningBehaviorPinned,
		})
	}
}

// Names returns the names of the workflows that Register registers, sorted.
func Names() []string { return slices.Sorted(maps.Keys(functions())) }

// Signals returns the names of the signals that the workflow handles.
func Signals(workflow string) []string {
	switch workflow {
	case ReconcileResourceWorkflow:
		return []string{WakeSignal, ReportSignal, MoveVersionSignal}
	case SerializeSiblingsWorkflow:
		return []string{EndTurnSignal}
	case HoldFreezeWorkflow, HoldBudgetsWorkflow, FollowChangesWorkflow:
		return []string{MoveVersionSignal}
	}
	return nil
}

// RunningQuery returns the visibility query for every running workflow of Armature.
func RunningQuery() string {
	return "WorkflowType IN ('" + strings.Join(Names(), "', '") + "') AND ExecutionStatus = 'Running'"
}

// RegisterActivities registers every activity.
func RegisterActivities(registry ActivityRegistry, a *activities.Activities) {
	registry.RegisterActivityWithOptions(a, activity.RegisterOptions{})
}
