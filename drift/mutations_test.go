package drift_test

import (
	"fmt"
	"sort"
	"strings"
	"testing"

	"github.com/armature-io/armature/drift"
	"github.com/armature-io/armature/internal/jsontree"
	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/types"
)

// scoreMutations makes one change after a good PUT, in the observed body (drift) or
// in the manifest, and checks that Compare detects it. The output has one line per
// operator; changes that no comparison can detect are counted separately, with the
// reason.
func scoreMutations(t *testing.T, pairs []recordedPair) []*score {
	total := &score{name: "mutations"}
	byName, classes := map[string]*score{}, tally{}
	var names []string
	for _, p := range pairs {
		opts := comparison(p.ID, p.Type, p.APIVersion)
		desired, observed := body(t, p.PutBody), body(t, p.GetBody)
		opts.Completed = completeLists(t, opts.Facts, desired, observed)
		opts.Baseline = drift.NewBaseline(desired, observed, afterPut(opts))
		for _, site := range sites(types.Lookup(p.Type, p.APIVersion), desired, observed) {
			for _, m := range site.mutations() {
				if m.invisible != "" {
					classes.add(m.operator + " cannot be detected: " + m.invisible)
					continue
				}
				result := drift.Compare(m.desired, m.observed, opts)
				if byName[m.operator] == nil {
					byName[m.operator] = &score{name: "mutations." + m.operator}
					names = append(names, m.operator)
				}
				seen := !result.InSync || len(result.Children) > 0 // reported, not corrected
				byName[m.operator].count(seen, "%s %s (%s)", p.Type, site.path, m.side)
				total.count(seen, "")
				if result.InSync && seen {
					classes.add(m.operator + " is reported without a PUT: a child resource")
				}
			}
		}
	}
	sort.Strings(names)
	scores := []*score{total}
	for _, name := range names {
		logMissed(t, byName[name])
		scores = append(scores, byName[name])
	}
	for _, class := range classes.top(len(classes)) {
		t.Logf("apart: %s", class)
	}
	return scores
}

// completeLists adds to a GET the lists that a worker reads with other requests (drift.Part), and
// returns their paths. The recordings have none of these requests: the items of the PUT stand
// in for the answers, so the changes prove the comparison of a completed list, not what Azure
// returns. A part that is an object, config/web, stays as the GET shows it, and unverified.
func completeLists(t *testing.T, facts drift.Facts, desired, observed map[string]any) (completed []string) {
	for _, part := range facts.StatedParts(desired) {
		path, err := resource.ParsePath(part.Path)
		if err != nil {
			t.Fatal(err)
		}
		value, _ := path.Get(desired)
		if items, isList := value.([]any); isList && part.Value != "" {
			properties := map[string]any{}
			for _, item := range items {
				properties[item.(map[string]any)["name"].(string)] = item.(map[string]any)[part.Value]
			}
			part.Complete(observed, properties)
			completed = append(completed, part.Path)
		}
	}
	return completed
}

// site is one path that desired states, with its values in both bodies.
type site struct {
	// shape is the published shape of the type, nil if there is none.
	shape *types.Shape
	path  resource.Path
	roots [2]map[string]any // desired, observed
	// at are the steps to the value in each of them: element numbers differ.
	at     [2]resource.Path
	values [2]any
	shown  bool
}

// sites walks both bodies side by side.
func sites(shape *types.Shape, desired, observed map[string]any) []site {
	var found []site
	var walk func(s site)
	walk = func(s site) {
		if len(s.path) > 0 {
			found = append(found, s)
		}
		switch d := s.values[0].(type) {
		case map[string]any:
			o, _ := s.values[1].(map[string]any)
			for _, name := range names(d) {
				other, value, shown := member(o, name)
				walk(s.below(resource.Step{Name: name}, resource.Step{Name: other}, d[name], value, shown))
			}
		case []any:
			o, _ := s.values[1].([]any)
			for i, item := range d {
				at := counterpart(d, o, i)
				next := s.below(resource.Step{Index: i, IsIndex: true}, resource.Step{Index: at, IsIndex: true}, item, nil, false)
				if at >= 0 {
					next.values[1], next.shown = o[at], true
				}
				walk(next)
			}
		}
	}
	walk(site{shape: shape, roots: [2]map[string]any{desired, observed}, values: [2]any{desired, observed}, shown: true})
	return found
}

func (s site) below(own, other resource.Step, desired, observed any, shown bool) site {
	return site{
		shape: s.shape, path: s.path.With(own), roots: s.roots, at: [2]resource.Path{s.at[0].With(own), s.at[1].With(other)},
		values: [2]any{desired, observed}, shown: shown && s.shown,
	}
}

func names(m map[string]any) []string {
	keys := make([]string, 0, len(m))
	for key := range m {
		keys = append(keys, key)
	}
	sort.Strings(keys)
	return keys
}

func member(m map[string]any, name string) (string, any, bool) {
	if value, ok := m[name]; ok {
		return name, value, true
	}
	for _, other := range names(m) {
		if strings.EqualFold(other, name) {
			return other, m[other], true
		}
	}
	return name, nil, false
}

// counterpart returns the index of the observed element that matches desired[i]: the
// one with the same name or ID, else the one at the same index of a list of the same
// length; -1 if there is none.
func counterpart(desired, observed []any, i int) int {
	object, _ := desired[i].(map[string]any)
	keyed := false
	for _, key := range append([]string{"name", "id"}, names(object)...) {
		text, ok := object[key].(string)
		if lower := strings.ToLower(key); !ok || !strings.HasSuffix(lower, "name") && !strings.HasSuffix(lower, "id") {
			continue
		}
		keyed = true
		found := -1
		for at, item := range observed {
			other, _ := item.(map[string]any)
			if named, _ := other[key].(string); strings.EqualFold(named, text) {
				if found >= 0 {
					found = -1
					break
				}
				found = at
			}
		}
		if found >= 0 {
			return found
		}
	}
	if !keyed && len(desired) == len(observed) {
		return i
	}
	return -1
}

// edited returns a copy of a root in which change replaced the value at a path. If
// the second result of change is false, the value is removed.
func edited(root map[string]any, path resource.Path, change func(any) (any, bool)) map[string]any {
	return edit(jsontree.Clone(root), path, change).(map[string]any)
}

func edit(value any, path resource.Path, change func(any) (any, bool)) any {
	step := path[0]
	var old any
	switch at := value.(type) {
	case map[string]any:
		old = at[step.Name]
	case []any:
		old = at[step.Index]
	}
	replacement, keep := any(nil), true
	if len(path) > 1 {
		replacement = edit(old, path[1:], change)
	} else {
		replacement, keep = change(old)
	}
	switch at := value.(type) {
	case map[string]any:
		at[step.Name] = replacement
		if !keep {
			delete(at, step.Name)
		}
	case []any:
		at[step.Index] = replacement
		if !keep {
			return append(at[:step.Index], at[step.Index+1:]...)
		}
	default:
		panic(fmt.Sprintf("no container at %v", path))
	}
	return value
}
