package drift

import (
	"fmt"
	"slices"
	"strings"

	"github.com/armature-io/armature/resource"
)

func (w *walker) compareList(p place, desired []any, ignore []resource.Path) {
	observed, isList := p.observed.([]any)
	switch {
	case p.absent():
		w.differ(p, ruleAbsent)
		return
	case !isList:
		w.differ(p, ruleShape)
		return
	case len(desired) == 0:
		// An observed empty list was equal by a rule.
		w.differ(p, ruleNotEmpty)
		return
	}
	if !allObjects(desired) {
		w.compareOrdered(p, desired, observed, ignore)
		return
	}
	matched := matchItems(desired, observed, func(a, b any) bool { return w.equalItems(p, a, b) })
	for i, item := range desired {
		at := matched.observed[i]
		rest, ignored := advance(ignore, func(s resource.Step) bool {
			return s.MatchesElement(i, item) || at >= 0 && s.Key != "" && s.MatchesElement(at, observed[at])
		})
		if ignored {
			continue
		}
		next := p.at(matched.step(i, item), item, nil, false)
		if at < 0 {
			w.missing(next)
			continue
		}
		next.observed, next.present = observed[at], true
		w.lostKey(p, next)
		w.compare(next, rest)
	}
	w.addedItems(p, matched, observed, ignore)
	if matched.key == "" && len(ignore) == 0 {
		w.changedList(p)
	}
}

// changedList looks at a list whose elements have no key. Which element a member
// was taken from cannot be told, so the list as a whole is remembered, and
// another one is a difference.
func (w *walker) changedList(p place) {
	if w.probe || w.stated == nil && w.known == nil {
		return
	}
	whole := p.path.With(resource.Step{Name: "=" + hasher{w.of.key}.place(p)})
	switch {
	case w.stated != nil:
		w.stated[hashPath(whole)] = 0 // kept where the list is
	case w.known.states(p.path) && !w.known.states(whole):
		w.differ(p, ruleListChanged)
	}
}

// missing is an element that observed does not have.
func (w *walker) missing(p place) {
	w.state(p)
	switch rule := unseen(p); {
	case statesNothing(p.desired):
	case rule == "":
		w.differ(p, ruleItemMissing)
	case !w.probe:
		w.found = append(w.found, difference{path: slices.Clone(p.path), desired: p.desired, rule: rule, unseen: true})
	}
}

// addedItems reports the elements that desired does not have. Without memory
// they are the server's; with one, those that were not there after the last PUT
// are somebody's.
func (w *walker) addedItems(p place, matched matching, observed []any, ignore []resource.Path) {
	all := w.extras || w.stated != nil
	if w.probe || !all && (w.known == nil || !w.known.states(p.path)) {
		return
	}
	taken := make(map[int]bool, len(matched.observed))
	for _, at := range matched.observed {
		taken[at] = true
	}
	extra := 0
	for i, item := range observed {
		if taken[i] {
			continue
		}
		extra++
		if _, ignored := advance(ignore, func(s resource.Step) bool { return s.MatchesElement(i, item) }); ignored {
			continue
		}
		step := matched.step(i, item)
		if step.IsIndex {
			// Elements without a key have no identity: their number counts.
			step = resource.Step{Name: fmt.Sprintf("+%d", extra)}
		}
		next := p.at(step, nil, item, true)
		switch {
		case all:
			w.differ(next, ruleItemAdded)
		case w.known.states(next.path):
			w.differ(next, ruleRemoved)
		case w.known.crowded || w.known.added(next.path):
		case isChild(next):
			w.children = append(w.children, next.path.String())
		default:
			w.differ(next, ruleItemAdded)
		}
	}
}

// isChild reports whether an element is a resource of its own that ARM shows in
// its parent, too: its ID lies right below the parent's, or the type's row says
// so. It may be another manifest's, and a PUT without it may delete it.
func isChild(p place) bool {
	for _, row := range p.of.typeRows {
		if row.children && row.path == pattern(p.path[:len(p.path)-1]) {
			return true
		}
	}
	item, _ := p.observed.(map[string]any)
	_, value, _ := property(item, "id")
	id, isText := value.(string)
	own := p.of.id.String() + "/"
	if !isText || p.of.id.IsZero() || len(id) <= len(own) || !strings.EqualFold(id[:len(own)], own) {
		return false
	}
	return strings.Count(strings.Trim(id[len(own):], "/"), "/") == 1
}

// compareOrdered compares a list of scalars (or of lists, or a mixed one):
// order counts, and so does every element.
func (w *walker) compareOrdered(p place, desired, observed []any, ignore []resource.Path) {
	if len(desired) != len(observed) {
		w.differ(p, ruleListLength)
		return
	}
	for i, item := range desired {
		rest, ignored := advance(ignore, func(s resource.Step) bool { return s.MatchesElement(i, item) })
		if ignored {
			continue
		}
		w.compare(p.at(resource.Step{Index: i, IsIndex: true}, item, observed[i], true), rest)
	}
}

// equalItems compares two list elements on their own.
func (w *walker) equalItems(p place, desired, observed any) bool {
	probe := &walker{of: w.of, probe: true}
	probe.compare(p.at(resource.Step{Any: true}, desired, observed, true), nil)
	return len(probe.found) == 0
}
