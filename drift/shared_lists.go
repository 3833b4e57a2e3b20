package drift

import (
	"slices"
	"strings"

	"github.com/armature-io/armature/internal/jsontree"
	"github.com/armature-io/armature/resource"
)

// sharing are the shared lists of one resource.
type sharing []SharedList

// sharingOf returns the shared lists of a resource as Azure shows it.
func (f Facts) sharingOf(observed map[string]any) sharing {
	var lists sharing
	for _, list := range f.SharedLists {
		if list.isMarked(observed) {
			lists = append(lists, list)
		}
	}
	return lists
}

// isMarked reports whether the resource has the tag of the controller.
func (l SharedList) isMarked(observed map[string]any) bool {
	if l.Tag == "" {
		return true
	}
	_, _, marked := jsontree.Member(jsontree.Object(observed, "tags"), l.Tag)
	return marked
}

// at returns the row of the list at a path.
func (s sharing) at(path resource.Path) (SharedList, bool) {
	if len(s) == 0 {
		return SharedList{}, false
	}
	at := pattern(path)
	is := func(other string) bool { return isPattern(other, at) }
	i := slices.IndexFunc(s, func(l SharedList) bool { return slices.ContainsFunc(l.Paths, is) })
	if i < 0 {
		return SharedList{}, false
	}
	return s[i], true
}

// keeps reports whether the list keeps an item that the manifest does not state.
func (l SharedList) keeps(item any) bool {
	value := resource.KeyText(item, l.Key)
	return value != "" && strings.Contains(strings.ToLower(value), l.Item)
}

// wasStated reports whether the last applied body stated an item, by the key of the list
// or by the one that identified its items then.
func (l SharedList) wasStated(applied decodedSet, list resource.Path, item any, key string) bool {
	return applied.has(list.With(l.step(item))) || applied.has(list.With(resource.Step{Key: key, Value: resource.KeyText(item, key)}))
}

// step returns the path step of an item.
func (l SharedList) step(item any) resource.Step {
	return resource.Step{Key: l.Key, Value: resource.KeyText(item, l.Key)}
}
