package drift

import (
	"strings"

	"github.com/armature-io/armature/internal/jsontree"
	"github.com/armature-io/armature/resource"
)

// compareRemoved reports a value that the last applied body stated and desired no
// longer states.
func (w *walker) compareRemoved(p cursor) {
	if w.applied != nil && p.desired == nil && len(p.path) > 0 && !isEmpty(p.observed) && !isIdentity(p) && w.applied.has(p.path) {
		w.add(p, ruleRemoved)
	}
}

// compareExtraMembers compares the members that observed has and desired has not, and
// reports whether it found a difference. The removal of a key from the manifest is
// visible only in the baseline.
func (w *walker) compareExtraMembers(p cursor, desired, observed map[string]any, ignore []resource.Path) bool {
	if w.probe || w.applied == nil && !w.reportAdded {
		return false
	}
	own := memberIndex{members: desired}
	before := len(w.found)
	for name := range jsontree.Names(observed) {
		if _, is := own.get(name); is || isEmpty(observed[name]) {
			continue
		}
		next := p.at(resource.Step{Name: name}, nil, observed[name], true)
		_, ignored := resource.Advance(ignore, func(s resource.Step) bool { return s.Name != "" && strings.EqualFold(s.Name, name) })
		switch {
		case ignored || isIdentity(next) || isOneShot(next):
		case w.applied != nil && w.applied.has(next.path):
			w.add(next, ruleRemoved)
		case w.reportAdded && (p.userDefined || isFullID(name)):
			w.add(next, ruleItemAdded)
		}
	}
	return len(w.found) > before
}

// compareLostKey reports the key of a list element if the last applied body stated
// the element by that key and desired no longer states it.
func (w *walker) compareLostKey(list, p cursor) {
	if w.applied == nil || w.probe {
		return
	}
	observed, _ := p.observed.(map[string]any)
	desired, _ := p.desired.(map[string]any)
	for name := range jsontree.Names(observed) {
		value, isText := observed[name].(string)
		if !jsontree.KeyName(name) || !isText {
			continue
		}
		if _, _, isStated := jsontree.Member(desired, name); !isStated && w.applied.has(list.path.With(resource.Step{Key: name, Value: value})) {
			w.add(p.at(resource.Step{Name: name}, nil, value, true), ruleRemoved)
		}
	}
}
