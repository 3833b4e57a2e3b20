package fleet

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/armature-io/armature/activities"
	"github.com/armature-io/armature/internal/searchattr"
	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/types"
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
	// maxBelow is how many resources below the resources of a batch are visited, in forty pages.
	maxBelow = 10_000
	// maxConfirmed is how many dependents are described one by one.
	maxConfirmed = 10
)

// Dependents returns the managed resources that need id, or are below it. Concurrent calls share one list.
// The last few are described one by one, because a list lags behind and no further wake
// comes after the last dependent was deleted.
func (f *Fleet) Dependents(ctx context.Context, id resource.ID) (activities.Dependents, error) {
	found, err := f.dependents.Do(ctx, id)
	if err == nil && found.Blocking <= maxConfirmed {
		found, err = f.confirm(ctx, id, found)
	}
	return found, activities.TemporalError(err)
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

// dependentsOf counts the dependents of each resource: the resources that name it as owner
// or reference, and those below it. The second list finds what is below an unmanaged
// child, which names only that child.
func (f *Fleet) dependentsOf(ctx context.Context, ids []resource.ID) ([]activities.Dependents, error) {
	all := newTallies(ids)
	err := f.pages(ctx, keysQuery(searchattr.ReconcileNeeds, all.keys), func(page []*workflowpb.WorkflowExecutionInfo) bool {
		for _, info := range page {
			if managed, known := f.read(all, info); known {
				for _, key := range keysIn(info, searchattr.ReconcileNeeds) {
					for _, i := range all.at[key] {
						all.tallies[i].add(managed)
					}
				}
			}
		}
		return !slices.ContainsFunc(all.tallies, func(t tally) bool { return t.count < maxCounted })
	})
	if err == nil {
		err = f.below(ctx, all)
	}
	found := make([]activities.Dependents, len(ids))
	for i := range all.tallies {
		found[i] = all.tallies[i].result()
	}
	return found, errors.Join(err, all.unknown)
}

// below counts what is below the resources and below no dependent that was counted: that
// one holds back its own deletion. A type in which no other is nested has nothing below
// that does not name it.
func (f *Fleet) below(ctx context.Context, all *tallies) error {
	var parents []resource.ID
	var counting []*tally
	for i := range all.tallies {
		if t := &all.tallies[i]; t.count < maxCounted && (t.id.IsContainer() || types.IsParent(t.id.Type())) {
			parents, counting = append(parents, t.id), append(counting, t)
		}
	}
	if len(parents) == 0 {
		return nil
	}
	if err := f.awaitList(ctx); err != nil {
		return fmt.Errorf("list workflows: %w", err)
	}
	visited := 0
	hidden := make([][]activities.Managed, len(counting))
	err := f.pages(ctx, belowQuery(parents), func(page []*workflowpb.WorkflowExecutionInfo) bool {
		visited += len(page)
		for _, info := range page {
			managed, known := f.read(all, info)
			for i, t := range counting {
				if known && activities.Contains(t.id, managed.ID) && !t.covers(managed.ID) {
					hidden[i] = append(hidden[i], managed)
				}
			}
		}
		return visited >= maxBelow
	})
	for i, t := range counting {
		slices.SortFunc(hidden[i], func(x, y activities.Managed) int { return len(x.ID.Key()) - len(y.ID.Key()) })
		for _, managed := range hidden[i] {
			if !t.covers(managed.ID) {
				t.add(managed)
			}
		}
		if visited >= maxBelow && t.count == 0 {
			all.unknown = fmt.Errorf("list what is in %s: more than %d resources are in it and in what is deleted at the same time", t.id, maxBelow)
		}
	}
	return err
}

// tallies are the tallies of one batch.
type tallies struct {
	tallies []tally
	// keys are the keys of the resources, at their positions.
	keys []string
	at   map[string][]int
	// unknown is the error of a workflow that names no resource: it may need any of them,
	// so nothing is deleted before an operator checked it.
	unknown error
}

func newTallies(ids []resource.ID) *tallies {
	all := &tallies{tallies: make([]tally, len(ids)), at: map[string][]int{}}
	for i, id := range ids {
		all.tallies[i].id = id
		key := workflows.WaitingKey(id)
		if all.at[key] == nil {
			all.keys = append(all.keys, key)
		}
		all.at[key] = append(all.at[key], i)
	}
	return all
}

// read returns what a list shows of a workflow.
func (f *Fleet) read(all *tallies, info *workflowpb.WorkflowExecutionInfo) (activities.Managed, bool) {
	managed := f.managedOf(info)
	if managed.ID.IsZero() {
		all.unknown = cmp.Or(managed.Unreadable, fmt.Errorf("read memo of %s: it names no resource", info.GetExecution().GetWorkflowId()))
	}
	return managed, !managed.ID.IsZero()
}

// tally counts the dependents of id.
type tally struct {
	id    resource.ID
	count int
	// kept are those within id that are to stay in Azure, holding the others that delay
	// its deletion, released those that do not.
	kept, holding, released []activities.Managed
	// counted are the keys of the dependents: two lists show the same ones.
	counted map[string]bool
}

// covers reports whether a resource below id, or one above it, was counted.
func (t *tally) covers(below resource.ID) bool {
	for at := below; activities.Contains(t.id, at); at = at.Owner() {
		if t.counted[at.Key()] {
			return true
		}
	}
	return false
}

// add counts one dependent. Only a dependent within id can be deleted with it. A
// dependent that is deleted, and only notifies others, delays nothing, and neither does
// id itself.
func (t *tally) add(managed activities.Managed) {
	key := managed.ID.Key()
	if t.counted[key] {
		return
	}
	if t.counted == nil {
		t.counted = map[string]bool{}
	}
	t.counted[key] = true
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
