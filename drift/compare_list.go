package drift

import (
	"fmt"
	"slices"
	"strings"

	"github.com/armature-io/armature/internal/jsontree"
	"github.com/armature-io/armature/resource"
)

func (w *walker) compareList(p cursor, desired []any, ignore []resource.Path) {
	observed, isList := p.observed.([]any)
	list, shared := w.subject.sharing.at(p.path)
	switch {
	case p.absent():
		w.add(p, ruleAbsent)
		return
	case !isList:
		w.add(p, ruleShape)
		return
	case len(desired) == 0 && shared:
		w.compareAdded(p, w.subject.pairAt(p, desired, observed), observed, ignore)
		return
	case len(desired) == 0:
		// An empty observed list was equal by a rule.
		w.add(p, ruleNotEmpty)
		return
	}
	if !jsontree.Objects(desired) {
		w.compareOrdered(p, desired, observed, ignore)
		return
	}
	pairs := w.subject.pairAt(p, desired, observed)
	for i, item := range desired {
		if shared && w.desiredPaths != nil && resource.KeyText(item, list.Key) != "" {
			w.desiredPaths[hashPath(p.path.With(list.step(item)))] = len(p.path) + 1
		}
		at := pairs.At[i]
		rest, ignored := resource.Advance(ignore, func(s resource.Step) bool {
			return s.MatchesElement(i, item) || at >= 0 && s.Key != "" && s.MatchesElement(at, observed[at])
		})
		if ignored {
			continue
		}
		next := p.at(pairs.Step(i, item), item, nil, false)
		if at < 0 {
			w.compareMissing(next)
			continue
		}
		next.observed, next.present = observed[at], true
		w.compareLostKey(p, next)
		w.compare(next, rest)
	}
	w.compareAdded(p, pairs, observed, ignore)
	if pairs.Key == "" && len(ignore) == 0 {
		w.compareWhole(p)
	}
}

// compareWhole compares a list of elements without a key as a whole with the last
// applied list: it is unknown which element a member was removed from.
func (w *walker) compareWhole(p cursor) {
	if w.probe || w.desiredPaths == nil && w.applied == nil {
		return
	}
	whole := p.path.With(resource.Step{Name: "=" + hasher{w.subject.key}.cursor(p)})
	switch {
	case w.desiredPaths != nil:
		w.desiredPaths[hashPath(whole)] = 0 // kept as long as the list itself
	case w.applied.has(p.path) && !w.applied.has(whole):
		w.add(p, ruleListChanged)
	}
}

// compareMissing reports an element that observed does not have.
func (w *walker) compareMissing(p cursor) {
	w.noteStated(p)
	switch rule := hiddenRule(p); {
	case isUnset(p.desired):
	case rule == "":
		w.add(p, ruleItemMissing)
	case !w.probe:
		w.found = append(w.found, difference{path: slices.Clone(p.path), desired: p.desired, rule: rule, hidden: true})
	}
}

// compareAdded reports the elements that desired does not have. Without a baseline
// they belong to the server; with one, those that are not part of it were added by
// another writer.
func (w *walker) compareAdded(p cursor, pairs jsontree.Pairs, observed []any, ignore []resource.Path) {
	all := w.reportAdded || w.desiredPaths != nil
	if w.probe || !all && (w.applied == nil || !w.applied.has(p.path)) {
		return
	}
	list, shared := w.subject.sharing.at(p.path)
	extra, own := 0, pairs.Of()
	for i, item := range observed {
		if own[i] >= 0 || shared && w.keepsItem(p, list, item, pairs.Key) || w.subject.isImplied(p.path, item) {
			continue
		}
		extra++
		if _, ignored := resource.Advance(ignore, func(s resource.Step) bool { return s.MatchesElement(i, item) }); ignored {
			continue
		}
		step := pairs.Step(i, item)
		if step.IsIndex {
			// Elements without a key have no identity; their number counts.
			step = addedStep(extra)
		}
		next := p.at(step, nil, item, true)
		switch {
		case all:
			w.add(next, ruleItemAdded)
		case w.applied.has(next.path):
			w.add(next, ruleRemoved)
		case w.applied.crowded || w.applied.hasAdded(next.path):
		case isChild(next):
			w.children = append(w.children, next.path.String())
		default:
			w.add(next, ruleItemAdded)
		}
	}
}

// addedStep returns the step of an item without a key that desired does not have.
func addedStep(number int) resource.Step { return resource.Step{Name: fmt.Sprintf("+%d", number)} }

// keepsItem reports whether an item of a shared list belongs to another writer.
func (w *walker) keepsItem(p cursor, list SharedList, item any, key string) bool {
	return key != "" && list.keeps(item) && (w.applied == nil || !list.wasStated(w.applied.paths, p.path, item, key))
}

// isChild reports whether an element is a resource itself that ARM also shows in
// its parent: its ID is directly below the parent's, or a fact of the type says
// so. Another manifest may own it, and a PUT without it may delete it.
func isChild(p cursor) bool {
	if p.subject.hasProperty(p.path[:len(p.path)-1], func(f PropertyFact) bool { return f.Children }) {
		return true
	}
	item, _ := p.observed.(map[string]any)
	id := jsontree.Text(item, "id")
	own := p.subject.id.String() + "/"
	if p.subject.id.IsZero() || len(id) <= len(own) || !strings.EqualFold(id[:len(own)], own) {
		return false
	}
	return strings.Count(strings.Trim(id[len(own):], "/"), "/") == 1
}

// compareOrdered compares a list of scalars, of lists, or a mixed one: the order
// and every element count.
func (w *walker) compareOrdered(p cursor, desired, observed []any, ignore []resource.Path) {
	if len(desired) != len(observed) {
		w.add(p, ruleListLength)
		return
	}
	for i, item := range desired {
		rest, ignored := resource.Advance(ignore, func(s resource.Step) bool { return s.MatchesElement(i, item) })
		if ignored {
			continue
		}
		w.compare(p.at(resource.Step{Index: i, IsIndex: true}, item, observed[i], true), rest)
	}
}

// pairAt pairs the items of the list at a cursor with those of another list: the one way
// in which this package does so.
func (s *subject) pairAt(p cursor, own, others []any) jsontree.Pairs {
	list, _ := s.sharing.at(p.path)
	return jsontree.Pair(own, others, list.Key, func(a, b any) bool { return s.equalItems(p, a, b) })
}

// pair is pairAt for a path.
func (s *subject) pair(path resource.Path, own, others []any) jsontree.Pairs {
	return s.pairAt(cursorAt(path, nil).in(s), own, others)
}

// equalItems reports whether two list elements have no difference.
func (s *subject) equalItems(p cursor, desired, observed any) bool {
	probe := &walker{subject: s, probe: true}
	probe.compare(p.at(resource.Step{Any: true}, desired, observed, true), nil)
	return len(probe.found) == 0
}
