package fleet

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/armature-io/armature/activities"
	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/searchattr"
	"github.com/armature-io/armature/workflows"
	workflowpb "go.temporal.io/api/workflow/v1"
)

const (
	// maxListed is how many dependents a result names: a cascade deletes those, and
	// listing thousands takes seconds.
	maxListed = 1000
	// maxCounted is where counting ends, with the page: twenty pages of the default
	// size.
	maxCounted = 5000
	// maxConfirmed is how many dependents are described one by one.
	maxConfirmed = 10
)

// Dependents returns the managed resources that need id. Concurrent calls share one list.
// The last few are described one by one, because a list lags behind and no further wake
// comes after the last dependent was deleted.
func (f *Fleet) Dependents(ctx context.Context, id resource.ID) (activities.Dependents, error) {
	found, err := f.dependents.do(ctx, id)
	if err != nil || found.Blocking > maxConfirmed {
		return found, err
	}
	return f.confirm(ctx, id, found)
}

// confirm drops the dependents that ended since the list was written, and updates those
// that were released.
func (f *Fleet) confirm(ctx context.Context, id resource.ID, listed activities.Dependents) (activities.Dependents, error) {
	found := tally{id: id}
	for _, dependent := range listed.Listed {
		if dependent.Released && activities.Contains(id, dependent.ID) {
			found.add(dependent)
			continue
		}
		now, known, err := f.Managed(ctx, dependent.ID)
		if err != nil {
			return activities.Dependents{}, err
		}
		if known {
			found.add(now)
		}
	}
	return found.result(), nil
}

func (f *Fleet) dependentsOf(ctx context.Context, ids []resource.ID) ([]activities.Dependents, error) {
	tallies := make([]tally, len(ids))
	at := map[string][]int{}
	var keys []string
	for i, id := range ids {
		tallies[i].id = id
		key := workflows.WaitingKey(id)
		if at[key] == nil {
			keys = append(keys, key)
		}
		at[key] = append(at[key], i)
	}
	var unknown error
	err := f.pages(ctx, searchattr.ReconcileNeeds, keys, func(page []*workflowpb.WorkflowExecutionInfo) bool {
		for _, info := range page {
			managed := managedOf(info)
			if managed.ID.IsZero() {
				// It may need any of them: nothing is deleted before an operator checked it.
				unknown = fmt.Errorf("read memo of %s: it names no resource", info.GetExecution().GetWorkflowId())
				continue
			}
			for _, key := range keysIn(info, searchattr.ReconcileNeeds) {
				for _, i := range at[key] {
					tallies[i].add(managed)
				}
			}
		}
		return !slices.ContainsFunc(tallies, func(t tally) bool { return t.count < maxCounted })
	})
	found := make([]activities.Dependents, len(ids))
	for i := range tallies {
		found[i] = tallies[i].result()
	}
	return found, errors.Join(err, unknown)
}

// tally counts the dependents of id.
type tally struct {
	id    resource.ID
	count int
	// kept are those within id that are to stay in Azure, holding the others that delay
	// its deletion, released those that do not.
	kept, holding, released []activities.Managed
}

// add counts one dependent. Only a dependent within id can be deleted with it. A
// dependent that is deleted, and only notifies others, delays nothing, and neither does
// id itself.
func (t *tally) add(managed activities.Managed) {
	within := activities.Contains(t.id, managed.ID)
	switch {
	case managed.Gone, managed.ID.Equal(t.id):
		return
	case managed.Released && within:
		t.released = append(t.released, managed)
		return
	}
	t.count++
	if within && managed.Policy != resource.PolicyManage {
		t.kept = append(t.kept, managed)
	} else {
		t.holding = append(t.holding, managed)
	}
}

// result returns the dependents, those first that prevent a cascade.
func (t *tally) result() activities.Dependents {
	listed := slices.Concat(t.kept, t.holding, t.released)
	return activities.Dependents{
		Blocking: t.count, More: t.count >= maxCounted, Listed: listed[:min(len(listed), maxListed)],
	}
}
