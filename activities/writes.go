package activities

import (
	"cmp"
	"context"
	"time"

	"go.temporal.io/sdk/activity"

	"github.com/armature-io/armature/activities/writing"
	"github.com/armature-io/armature/resource"
)

// checks returns the checks of the writes of this worker.
func (a *Activities) checks() writing.Checks {
	return writing.Checks{
		Freezer: a.Freezer, ReadOnly: a.options.ReadOnly, Observed: a.options.Observed, Signatures: a.Signatures, WarnOnly: a.options.WarnOfSignatures,
		Records: a.options.Records, Budgets: a.Budgets, PutBudget: a.options.PutBudget, Managed: a.states.desiredOf,
		Attempts: a.Attempts, Audit: a.Audit, Clock: a.clock, Log: a.Log,
	}
}

// forWrites returns the context of a step that may write. The caller states in step what
// distinguishes it from others.
func (a *Activities) forWrites(ctx context.Context, desired resource.Desired, facts PassFacts, step writing.Step) context.Context {
	step.Checks, step.Activity, step.Desired = a.checks(), activityOf(ctx), desired
	step.Generation, step.StatedAt, step.Unrequested, step.Cause = facts.Generation, facts.StatedAt, facts.Unrequested(), facts.Cause
	return writing.WithStep(ctx, step)
}

// activityOf returns the running activity.
func activityOf(ctx context.Context) writing.Activity {
	info := activity.GetInfo(ctx)
	return writing.Activity{
		WorkflowID: info.WorkflowExecution.ID, RunID: info.WorkflowExecution.RunID,
		Name: info.ActivityType.Name, ID: info.ActivityID, Attempt: int(info.Attempt),
		Local: info.IsLocalActivity, Started: info.StartedTime, TaskToken: info.TaskToken,
	}
}

// desiredOf returns the ID, policy and labels of a resource that Armature manages. A workflow
// that cannot be read is an error: its policy is not known.
func (m *managedStates) desiredOf(ctx context.Context, id resource.ID) (resource.Desired, bool, error) {
	managed, known, err := m.of(ctx, id, time.Time{})
	return resource.Desired{ID: id, Policy: managed.Policy, Labels: managed.Labels}, known, cmp.Or(err, managed.Unreadable)
}
