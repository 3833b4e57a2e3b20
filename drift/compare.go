package drift

import (
	"reflect"
	"sort"
	"strings"

	"github.com/armature-io/armature/resource"
)

// The rules that make a difference, named in resource.Difference.Rule.
const (
	ruleValue       = "value"
	ruleAbsent      = "absent"
	ruleShape       = "shape"
	ruleNotEmpty    = "not-empty"
	ruleListLength  = "list-length"
	ruleItemMissing = "item-missing"
	ruleMasked      = "masked"
)

// Compare reports where observed is not as desired. It changes neither.
func Compare(desired, observed map[string]any, opts Options) Result {
	var result Result
	for _, d := range differences(desired, observed, opts) {
		if entry, remembered := opts.Memory.holds(d, opts); remembered {
			result.Remembered = append(result.Remembered, d.path.String())
			if entry.NotTaken {
				result.NotTaken = append(result.NotTaken, d.path.String())
			}
			continue
		}
		if len(result.Differences) == resource.MaxDifferences {
			result.More++
			continue
		}
		result.Differences = append(result.Differences, d.show())
	}
	result.InSync = len(result.Differences) == 0
	return result
}

// differences are all of them, in the order of their paths, memory left aside.
func differences(desired, observed map[string]any, opts Options) []difference {
	w := &walker{id: opts.ID}
	w.compare(place{desired: desired, observed: observed, present: observed != nil}, parsePaths(opts.Ignore))
	sort.SliceStable(w.found, func(i, j int) bool { return w.found[i].path.String() < w.found[j].path.String() })
	return w.found
}

// parsePaths leaves out what is no path: the manifest has refused it.
func parsePaths(texts []string) []resource.Path {
	var paths []resource.Path
	for _, text := range texts {
		if path, err := resource.ParsePath(text); err == nil {
			paths = append(paths, path)
		}
	}
	return paths
}

// place is one place of the desired body with what stands there in observed.
type place struct {
	path     resource.Path
	desired  any
	observed any
	// present is false where observed has nothing, not even null.
	present bool
	// id is the resource's own, for relative IDs.
	id resource.ID
}

// walker collects the differences of two bodies.
type walker struct {
	id    resource.ID
	found []difference
}

// compare descends from one place. ignore are the rests of the paths that are
// not compared below it.
func (w *walker) compare(p place, ignore []resource.Path) {
	p.id = w.id
	for _, rule := range rules() {
		if rule.equal(p) {
			return
		}
	}
	switch desired := p.desired.(type) {
	case map[string]any:
		w.compareMap(p, desired, ignore)
	case []any:
		w.compareList(p, desired, ignore)
	default:
		w.compareScalar(p)
	}
}

func (w *walker) compareScalar(p place) {
	switch {
	case !p.present || p.observed == nil:
		w.differ(p, ruleAbsent)
	case resource.Masked(p.observed):
		w.differ(p, ruleMasked)
	case !reflect.DeepEqual(p.desired, p.observed):
		w.differ(p, ruleValue)
	}
}

func (w *walker) compareMap(p place, desired map[string]any, ignore []resource.Path) {
	observed, isMap := p.observed.(map[string]any)
	switch {
	case (!p.present || p.observed == nil) && len(ignore) == 0 && len(p.path) > 0:
		w.differ(p, ruleAbsent)
		return
	case p.present && p.observed != nil && !isMap:
		w.differ(p, ruleShape)
		return
	case len(desired) == 0 && len(observed) > 0:
		if !filledByServer(p) {
			w.differ(p, ruleNotEmpty)
		}
		return
	}
	for _, name := range sortedKeys(desired) {
		step := resource.Step{Name: name}
		rest, ignored := advance(ignore, func(s resource.Step) bool { return s.Name != "" && strings.EqualFold(s.Name, name) })
		if ignored {
			continue
		}
		path := p.path.With(step)
		value, present := lookup(observed, name, path)
		w.compare(place{path: path, desired: desired[name], observed: value, present: present}, rest)
	}
}

func (w *walker) compareList(p place, desired []any, ignore []resource.Path) {
	observed, isList := p.observed.([]any)
	switch {
	case !p.present || p.observed == nil:
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
	matched := matchItems(desired, observed, func(a, b any) bool { return w.equalItems(p.path, a, b) })
	for i, item := range desired {
		step := matched.step(i, item)
		at := matched.observed[i]
		rest, ignored := advance(ignore, func(s resource.Step) bool {
			return s.MatchesElement(i, item) || at >= 0 && s.Key != "" && s.MatchesElement(at, observed[at])
		})
		if ignored {
			continue
		}
		next := place{path: p.path.With(step), desired: item}
		if at < 0 {
			if !statesNothing(item) {
				w.differ(next, ruleItemMissing)
			}
			continue
		}
		next.observed, next.present = observed[at], true
		w.compare(next, rest)
	}
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
		path := p.path.With(resource.Step{Index: i, IsIndex: true})
		w.compare(place{path: path, desired: item, observed: observed[i], present: true}, rest)
	}
}

// equalItems compares two list elements on their own.
func (w *walker) equalItems(path resource.Path, desired, observed any) bool {
	probe := &walker{id: w.id}
	probe.compare(place{path: path.With(resource.Step{Any: true}), desired: desired, observed: observed, present: true}, nil)
	return len(probe.found) == 0
}

// advance follows one step down: what is left of the paths that match it, and
// whether one of them ends there.
func advance(paths []resource.Path, matches func(resource.Step) bool) (rest []resource.Path, ends bool) {
	for _, path := range paths {
		if !matches(path[0]) {
			continue
		}
		if len(path) == 1 {
			return nil, true
		}
		rest = append(rest, path[1:])
	}
	return rest, false
}

// lookup finds a property: exactly, else ignoring case where ARM does (property
// names and IDs as keys, but no keys that people choose).
func lookup(observed map[string]any, name string, path resource.Path) (any, bool) {
	if value, ok := observed[name]; ok {
		return value, true
	}
	if chosenByPeople(path) {
		return nil, false
	}
	for _, other := range sortedKeys(observed) {
		if strings.EqualFold(other, name) {
			return observed[other], true
		}
	}
	return nil, false
}

func sortedKeys(m map[string]any) []string {
	keys := make([]string, 0, len(m))
	for key := range m {
		keys = append(keys, key)
	}
	sort.Strings(keys)
	return keys
}
