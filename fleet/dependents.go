package fleet

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/armature-io/armature/activities"
	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/workflows"
	workflowpb "go.temporal.io/api/workflow/v1"
)

// dependentsListed is how many dependents an answer names, and where counting
// ends with the page.
const dependentsListed = 100

// Dependents are the managed resources that need id. Questions of a moment share
// one list. The last ones are asked for one by one: a list lags behind, and
// nobody tells the waiting resource again that its last dependent went.
func (f *Fleet) Dependents(ctx context.Context, id resource.ID) (activities.Dependents, error) {
	found, err := f.dependents.do(ctx, id)
	if err != nil || found.Holding > dependentsConfirmed {
		return found, err
	}
	return f.confirm(ctx, id, found)
}

// dependentsConfirmed is how many dependents are asked for one by one.
const dependentsConfirmed = 10

// confirm drops the dependents that ended, and frees those that were let go,
// since the list was written.
func (f *Fleet) confirm(ctx context.Context, id resource.ID, listed activities.Dependents) (activities.Dependents, error) {
	var found activities.Dependents
	var released []activities.Managed
	for _, dependent := range listed.Listed {
		if dependent.Released {
			released = append(released, dependent)
			continue
		}
		now, known, err := f.Managed(ctx, dependent.ID)
		if err != nil {
			return activities.Dependents{}, err
		}
		if known && !now.Gone {
			add(&found, &released, id, now)
		}
	}
	found.Listed = append(found.Listed, released...)
	return found, nil
}

func (f *Fleet) dependentsOf(ctx context.Context, ids []resource.ID) ([]activities.Dependents, error) {
	found := make([]activities.Dependents, len(ids))
	released := make([][]activities.Managed, len(ids))
	at := map[string][]int{}
	var keys []string
	for i, id := range ids {
		key := workflows.WaitingKey(id)
		if at[key] == nil {
			keys = append(keys, key)
		}
		at[key] = append(at[key], i)
	}
	var unknown error
	err := f.pages(ctx, attributeNeeds, keys, func(page []*workflowpb.WorkflowExecutionInfo) bool {
		for _, info := range page {
			managed := managedOf(info)
			if managed.ID.IsZero() {
				// It may need any of them: nothing is deleted before somebody looked.
				unknown = fmt.Errorf("read memo of %s: it names no resource", info.GetExecution().GetWorkflowId())
				continue
			}
			for _, key := range keysIn(info, attributeNeeds) {
				for _, i := range at[key] {
					add(&found[i], &released[i], ids[i], managed)
				}
			}
		}
		return !slices.ContainsFunc(found, func(d activities.Dependents) bool { return d.Holding < dependentsListed })
	})
	for i := range found {
		found[i].More = found[i].Holding >= dependentsListed
		room := dependentsListed - len(found[i].Listed)
		found[i].Listed = append(found[i].Listed, released[i][:min(room, len(released[i]))]...)
	}
	return found, errors.Join(err, unknown)
}

// add counts one dependent of id. Only what is within id may be left to it.
func add(found *activities.Dependents, released *[]activities.Managed, id resource.ID, managed activities.Managed) {
	if managed.Released && activities.Contains(id, managed.ID) {
		if len(*released) < dependentsListed {
			*released = append(*released, managed)
		}
		return
	}
	managed.Released = false
	found.Holding++
	if len(found.Listed) < dependentsListed {
		found.Listed = append(found.Listed, managed)
	}
}
