package drift

import (
	"slices"
	"strings"

	"github.com/armature-io/armature/internal/jsontree"
	"github.com/armature-io/armature/resource"
)

// hiddenOneShot is the rule of a value that only the creation of a resource uses: how it is
// made from another one, or brought back. What a GET shows there later is no drift.
const hiddenOneShot = "one-shot"

// isOneShot reports whether only a creation uses the value.
func isOneShot(p cursor) bool {
	return len(p.path) > 0 && (p.subject.oneShot.Cover(p.path) ||
		p.subject.hasProperty(p.path, func(f PropertyFact) bool { return f.OneShot }))
}

// compareOneShot records a value that only a creation uses. It is a difference when it is
// another one than at the last PUT.
func (w *walker) compareOneShot(p cursor) {
	if w.probe || isUnset(p.desired) {
		return
	}
	plain := *w.subject
	plain.oneShot, plain.properties = nil, nil
	probe := &walker{subject: &plain, probe: true}
	probe.compare(p.in(&plain), nil)
	w.found = append(w.found, difference{
		path: slices.Clone(p.path), desired: p.desired, observed: p.observed, present: p.present,
		rule: hiddenOneShot, hidden: true, settled: !p.absent() && len(probe.found) == 0,
	})
}

// isSettled reports whether a value that only a creation uses is no news although it is not
// in the baseline: Azure shows it.
func (d difference) isSettled(known bool) bool { return d.rule == hiddenOneShot && !known && d.settled }

// removeOneShots removes from a body for a resource that exists what only its creation
// uses, unless the manifest changed one of these values since the last PUT, or the
// creation failed. observed has the resource as Azure shows it.
func removeOneShots(body, desired, observed map[string]any, opts Options) {
	if opts.Baseline.Body == "" && isBroken(observed) {
		return
	}
	w := &walker{subject: opts.subject(observed)}
	found := slices.DeleteFunc(w.differences(desired, observed, opts.Ignore), func(d difference) bool { return d.rule != hiddenOneShot })
	var result Result
	if len(found) == 0 || len(opts.Baseline.view(desired, opts).newDifferences(slices.Clone(found), &result)) > 0 {
		return
	}
	for _, d := range found {
		parent := valueAt(d.path[:len(d.path)-1], body)
		if object, isMap := parent.(map[string]any); isMap {
			name, _, _ := jsontree.Member(object, d.path[len(d.path)-1].Name)
			delete(object, name)
		}
	}
}

// isBroken reports whether the last operation of a resource failed.
func isBroken(observed map[string]any) bool {
	state, _ := resource.Path{{Name: "properties"}, {Name: "provisioningState"}}.Get(observed)
	text, _ := state.(string)
	return resource.Broken(text)
}

// withoutOneShots removes from an observed object what only a creation uses and desired
// does not state: no PUT sends it back.
func (s *subject) withoutOneShots(observed map[string]any, of sides) {
	if s.oneShot == nil && !slices.ContainsFunc(s.properties, func(f PropertyFact) bool { return f.OneShot }) {
		return
	}
	for at := range s.inside(of) {
		members, isMap := at.value.(map[string]any)
		switch {
		case at.desired == nil && isOneShot(cursor{path: at.path, subject: s}):
			delete(observed, at.name())
		case isMap && !strings.EqualFold(at.name(), "tags"):
			s.withoutOneShots(members, at)
		}
	}
}
