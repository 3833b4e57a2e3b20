package drift

import (
	"slices"

	"github.com/armature-io/armature/internal/jsontree"
	"github.com/armature-io/armature/resource"
)

// isTextSet reports whether the scalars of a list are their own keys: by its published shape the
// order has no meaning, and no value is there twice.
func (s *subject) isTextSet(path resource.Path, lists ...[]any) bool {
	return s.marks.Sets.Contain(path) && !slices.ContainsFunc(lists, func(list []any) bool {
		for i, item := range list {
			if !isScalar(item) || slices.Contains(list[:i], item) {
				return true
			}
		}
		return false
	})
}

func isScalar(value any) bool {
	switch value.(type) {
	case nil, map[string]any, []any:
		return false
	}
	return true
}

// mixedList returns a set of texts of desired with the items that others added, in the order
// that observed has; an item that observed lacks follows the one before it. It returns false if
// observed lacks nothing, or has the items of desired in another order. found are the
// differences: Azure keeps another spelling of an item without one.
func (s *subject) mixedList(path resource.Path, desired, observed []any, found []difference) ([]any, bool) {
	if !s.isTextSet(path, desired, observed) {
		return nil, false
	}
	p, last := cursorAt(path, desired).in(s), -1
	items := keptItems{foreign: map[int]any{}, at: map[int]int{}}
	isOwn := func(other any) bool {
		return slices.ContainsFunc(desired, func(item any) bool { return s.equalItems(p, item, other) })
	}
	for i, item := range desired {
		at := slices.IndexFunc(observed, func(other any) bool { return s.equalItems(p, item, other) })
		if at < 0 && len(desired) == len(observed) && !isOwn(observed[i]) && !differsAt(found, path.With(resource.Step{Index: i, IsIndex: true})) {
			at = i
		}
		if at < 0 {
			continue
		}
		if at < last {
			return nil, false
		}
		items.at[i], last = at, at
	}
	for at, item := range observed {
		items.foreign[at] = item
	}
	for _, at := range items.at {
		delete(items.foreign, at)
	}
	return addToItems(slices.Clone(desired), items), len(items.at) < len(desired)
}

func differsAt(found []difference, path resource.Path) bool {
	return slices.ContainsFunc(found, func(d difference) bool { return slices.Equal(d.path, path) })
}

// setList sets a list that a body states.
func setList(body map[string]any, list Leaf) {
	last := len(list.Path) - 1
	if parent, isObject := valueAt(list.Path[:last], body).(map[string]any); isObject {
		name, _, _ := jsontree.Member(parent, list.Path[last].Name)
		parent[name] = list.Value
	}
}
