package passtest

import (
	"context"
	"strings"

	"github.com/armature-io/armature/activities"
	"github.com/armature-io/armature/activities/writing"
	"github.com/armature-io/armature/resource"
)

// alone is a Temporal without freezes and budgets, in which others are managed as the
// script states.
type alone struct{ run *run }

func (alone) Dependents(context.Context, resource.ID) (activities.Dependents, error) {
	return activities.Dependents{}, nil
}

func (a alone) Managed(_ context.Context, id resource.ID) (activities.Managed, bool, error) {
	a.run.mu.Lock()
	defer a.run.mu.Unlock()
	managed, known := a.run.managed[strings.ToLower(id.String())]
	return activities.Managed{
		ID: id, Policy: resource.PolicyManage, Ready: managed.Ready, Reason: managed.Reason, Since: managed.Since,
	}, known, nil
}

func (alone) Delete(context.Context, resource.ID, activities.Cascade) error { return nil }

func (alone) Abort(context.Context, activities.Cascade) (activities.Aborted, error) {
	return activities.Aborted{}, nil
}

func (alone) Release(context.Context, resource.ID, string, string) error { return nil }

func (alone) Apply(context.Context, resource.Desired, string) error { return nil }

func (alone) Wake(context.Context, activities.Change) (int, error) { return 0, nil }

func (alone) WakeDeleting(context.Context, activities.Change, []resource.ID) (int, error) {
	return 0, nil
}

func (alone) WakeFallen(context.Context, activities.Change, []resource.ID) (int, error) {
	return 0, nil
}
func (alone) Awaited(context.Context, resource.ID) (bool, error) { return true, nil }

func (alone) Take(context.Context, activities.Turn) (activities.Position, error) {
	return activities.Position{Granted: true}, nil
}

func (alone) KnownFreeze(map[string]string) (writing.Freeze, bool) { return writing.Freeze{}, false }

func (alone) Frozen(context.Context, map[string]string) (writing.Freeze, bool, error) {
	return writing.Freeze{}, false, nil
}

func (alone) Spend(context.Context, writing.Expense) (writing.Grant, error) {
	return writing.Grant{Granted: true}, nil
}

func (alone) Spent(context.Context, string) (int, error) { return 0, nil }

func (alone) ReadMemory(context.Context, resource.ID) (activities.WorkflowMemory, bool, error) {
	return activities.WorkflowMemory{}, false, nil
}

func (alone) Confirm(context.Context, writing.Attempt) (writing.Standing, error) {
	return writing.Standing{}, nil
}
