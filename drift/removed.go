package drift

import (
	"strings"

	"github.com/armature-io/armature/resource"
)

// notStatedAnyMore finds what the last applied body stated at a place that
// states nothing now.
func (w *walker) notStatedAnyMore(p place) {
	if w.known != nil && p.desired == nil && len(p.path) > 0 && !isEmpty(p.observed) && !isIdentity(p) && w.known.states(p.path) {
		w.differ(p, ruleRemoved)
	}
}

// unstatedMembers looks at the members that observed has and desired has not,
// and reports whether any made a difference. That a key went from the manifest
// is seen by the last applied body alone.
func (w *walker) unstatedMembers(p place, desired, observed map[string]any, ignore []resource.Path) bool {
	if w.probe || w.known == nil && !w.extras {
		return false
	}
	stated := memberIndex{members: desired}
	before := len(w.found)
	for name := range inOrder(observed) {
		if _, is := stated.get(name); is || isEmpty(observed[name]) {
			continue
		}
		next := p.at(resource.Step{Name: name}, nil, observed[name], true)
		_, ignored := advance(ignore, func(s resource.Step) bool { return s.Name != "" && strings.EqualFold(s.Name, name) })
		switch {
		case ignored || isIdentity(next):
		case w.known != nil && w.known.states(next.path):
			w.differ(next, ruleRemoved)
		case w.extras && (p.free || isFullID(name)):
			w.differ(next, ruleItemAdded)
		}
	}
	return len(w.found) > before
}

// lostKey finds an element that was remembered by a key which it does not state
// any more.
func (w *walker) lostKey(list, p place) {
	if w.known == nil || w.probe {
		return
	}
	observed, _ := p.observed.(map[string]any)
	desired, _ := p.desired.(map[string]any)
	for name := range inOrder(observed) {
		value, isText := observed[name].(string)
		if keyRank(name) == len(keyWords) || !isText {
			continue
		}
		if _, _, stated := property(desired, name); !stated && w.known.states(list.path.With(resource.Step{Key: name, Value: value})) {
			w.differ(p.at(resource.Step{Name: name}, nil, value, true), ruleRemoved)
		}
	}
}
