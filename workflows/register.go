package workflows

import (
	"github.com/armature-io/armature/activities"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/workflow"
)

// Registry is what a worker and a replayer have in common.
type Registry interface {
	RegisterWorkflowWithOptions(w any, options workflow.RegisterOptions)
}

// ActivityRegistry is the part of a worker that takes activities.
type ActivityRegistry interface {
	RegisterActivityWithOptions(a any, options activity.RegisterOptions)
}

// Register registers the workflows. A run is pinned to the worker version that
// started it, and moves to the newest at continue-as-new.
func Register(registry Registry) {
	registry.RegisterWorkflowWithOptions(ReconcileResource, workflow.RegisterOptions{
		Name:               ReconcileResourceWorkflow,
		VersioningBehavior: workflow.VersioningBehaviorPinned,
	})
	registry.RegisterWorkflowWithOptions(HoldFreeze, workflow.RegisterOptions{
		Name:               HoldFreezeWorkflow,
		VersioningBehavior: workflow.VersioningBehaviorPinned,
	})
	registry.RegisterWorkflowWithOptions(SerializeSiblings, workflow.RegisterOptions{
		Name:               SerializeSiblingsWorkflow,
		VersioningBehavior: workflow.VersioningBehaviorPinned,
	})
	registry.RegisterWorkflowWithOptions(PlanResource, workflow.RegisterOptions{
		Name:               PlanResourceWorkflow,
		VersioningBehavior: workflow.VersioningBehaviorPinned,
	})
	registry.RegisterWorkflowWithOptions(ImportResource, workflow.RegisterOptions{
		Name:               ImportResourceWorkflow,
		VersioningBehavior: workflow.VersioningBehaviorPinned,
	})
	registry.RegisterWorkflowWithOptions(Diagnose, workflow.RegisterOptions{
		Name:               DiagnoseWorkflow,
		VersioningBehavior: workflow.VersioningBehaviorPinned,
	})
}

// Names are the workflows that Register registers.
func Names() []string {
	return []string{
		ReconcileResourceWorkflow, HoldFreezeWorkflow, SerializeSiblingsWorkflow, PlanResourceWorkflow, ImportResourceWorkflow, DiagnoseWorkflow,
	}
}

// RegisterActivities registers every activity.
func RegisterActivities(registry ActivityRegistry, a *activities.Activities) {
	registry.RegisterActivityWithOptions(a, activity.RegisterOptions{})
}
