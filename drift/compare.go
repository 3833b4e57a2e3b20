package drift

import (
	"reflect"
	"slices"
	"sort"
	"strings"

	"github.com/armature-io/armature/internal/jsontree"
	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/types"
)

// The rules of differences, the values of resource.Difference.Rule.
const (
	ruleValue       = "value"
	ruleAbsent      = "absent"
	ruleShape       = "shape"
	ruleNotEmpty    = "not-empty"
	ruleListLength  = "list-length"
	ruleListChanged = "list-changed"
	ruleItemMissing = "item-missing"
	ruleItemAdded   = "item-added"
	ruleRemoved     = "removed"
	ruleMasked      = "masked"
	ruleRotated     = "rotated"
	ruleNull        = "null"
)

// subject is the compared resource.
type subject struct {
	resourceType, apiVersion string

	id resource.ID
	// key of the hashes.
	key []byte
	// read is set when observed is the body of a GET, which names the resource.
	read       bool
	properties []PropertyFact
	// marks are the published marks of the type.
	marks types.Marks
	// oneShot are the published properties that only a creation uses.
	oneShot *types.Paths
	// parts are what other requests than the GET return.
	parts partList
	// sharing are the lists in which a PUT keeps the items of other writers.
	sharing sharing
}

// walker collects the differences of two bodies.
type walker struct {
	subject *subject
	found   []difference
	// applied is nil for a resource that was never applied.
	applied *appliedPaths
	// desiredPaths, if not nil, collects the paths of desired with their
	// depths; every added list item is then a difference.
	desiredPaths map[pathHash]int
	// reportAdded makes a difference of every list item and every user-defined key
	// that desired does not have.
	reportAdded bool
	// probe stops at the first difference: only its existence counts.
	probe bool
	// children are list elements that appeared after the last PUT and are resources
	// themselves.
	children []string
}

// differences returns all differences and all hidden paths, sorted by path.
func (w *walker) differences(desired, observed map[string]any, ignore []string) []difference {
	p := root(desired)
	p.observed, p.present, p.subject = observed, observed != nil, w.subject
	w.compare(p, resource.ParsePaths(ignore))
	for i := range w.found {
		w.found[i].text = w.found[i].path.String()
	}
	sort.SliceStable(w.found, func(i, j int) bool { return w.found[i].text < w.found[j].text })
	return w.found
}

// compare descends from one cursor. ignore are the remainders of the ignored paths.
func (w *walker) compare(p cursor, ignore []resource.Path) {
	if w.probe && len(w.found) > 0 {
		return
	}
	w.noteStated(p)
	if isOneShot(p) {
		w.compareOneShot(p)
		return
	}
	if equal(p) {
		w.compareRemoved(p)
		return
	}
	if rule := hiddenRule(p); rule != "" {
		if w.probe {
			return
		}
		w.found = append(w.found, difference{path: slices.Clone(p.path), desired: p.desired, rule: rule, hidden: true, masked: resource.Masked(p.observed)})
		return
	}
	switch desired := p.desired.(type) {
	case nil:
		w.compareNull(p)
	case map[string]any:
		w.compareMap(p, desired, ignore)
	case []any:
		w.compareList(p, desired, ignore)
	default:
		w.compareScalar(p)
	}
}

// noteStated records a path that desired states.
func (w *walker) noteStated(p cursor) {
	if w.desiredPaths != nil && len(p.path) > 0 && !isUnset(p.desired) {
		w.desiredPaths[hashPath(p.path)] = len(p.path)
	}
}

func (w *walker) compareScalar(p cursor) {
	switch {
	case p.absent():
		w.add(p, ruleAbsent)
	case resource.Masked(p.observed):
		w.add(p, ruleMasked)
	case !reflect.DeepEqual(p.desired, p.observed):
		w.add(p, ruleValue)
	}
}

// compareNull reports a value where desired is null: it is to be absent. Services fill in
// values by themselves, so that without a baseline only a reference to another resource
// counts.
func (w *walker) compareNull(p cursor) {
	certain := isReference(p.observed)
	if w.probe && !certain {
		return
	}
	w.add(p, ruleNull)
	w.found[len(w.found)-1].uncertain = !certain
}

func (w *walker) compareMap(p cursor, desired map[string]any, ignore []resource.Path) {
	observed, isMap := p.observed.(map[string]any)
	switch {
	case p.absent() && len(ignore) == 0 && len(p.path) > 0 && !w.subject.parts.around(p.path):
		w.add(p, ruleAbsent)
		return
	case !p.absent() && !isMap:
		w.add(p, ruleShape)
		return
	case len(desired) == 0 && len(observed) > 0:
		if !w.compareExtraMembers(p, nil, observed, ignore) && !filledByServer(p) {
			w.add(p, ruleNotEmpty)
		}
		return
	}
	members := memberIndex{members: observed, userDefined: p.userDefined}
	for name := range jsontree.Names(desired) {
		rest, ignored := resource.Advance(ignore, func(s resource.Step) bool { return s.Name != "" && strings.EqualFold(s.Name, name) })
		if ignored {
			continue
		}
		next := p.at(resource.Step{Name: name}, desired[name], nil, false)
		members.userDefined = next.userDefined
		next.observed, next.present = members.get(name)
		w.compare(next, rest)
	}
	w.compareExtraMembers(p, desired, observed, ignore)
}

// memberIndex finds a property by its exact name, else ignoring case where ARM
// does: property names and IDs as keys, not user-defined keys.
type memberIndex struct {
	members     map[string]any
	folded      map[string]string
	userDefined bool
}

func (m *memberIndex) get(name string) (any, bool) {
	if value, ok := m.members[name]; ok {
		return value, true
	}
	if m.userDefined || len(m.members) == 0 {
		return nil, false
	}
	if m.folded == nil {
		m.folded = make(map[string]string, len(m.members))
		for other := range jsontree.Names(m.members) {
			lower := strings.ToLower(other)
			if _, taken := m.folded[lower]; !taken {
				m.folded[lower] = other
			}
		}
	}
	other, ok := m.folded[strings.ToLower(name)]
	if !ok {
		return nil, false
	}
	return m.members[other], true
}
