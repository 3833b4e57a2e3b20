package drift

import (
	"slices"

	"github.com/armature-io/armature/internal/jsontree"
	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/types"
)

// leaveOut removes from the body for a resource that exists the values that no read shows, that
// the manifest did not change since they were recorded, and that stay if a request omits them:
// another tool may have changed them since. Options.Enforce names values that are sent. A value
// with another owner (Options.Initial) counts as unchanged.
func leaveOut(body, desired, observed map[string]any, opts Options, patch bool) {
	w, enforced := &walker{subject: opts.subject(observed)}, resource.ParsePaths(opts.Enforce)
	for _, path := range opts.hidden {
		if w.subject.staysOmitted(difference{path: path, rule: hiddenSecret}, opts.Hold, patch) {
			path.Remove(body)
		}
	}
	view := opts.Baseline.view(desired, opts)
	if view.applied == nil || observed == nil {
		return
	}
	view.sameBody() // it recognizes the key
	for _, d := range w.differences(desired, observed, opts.Ignore) {
		if d.hidden && w.subject.staysOmitted(d, opts.Hold, patch) && !isIgnored(d.path, enforced) && view.proves(d) {
			d.path.Remove(body)
		}
	}
}

// staysOmitted reports whether a hidden value stays if a request omits it: by a fact, or in a
// PATCH, which replaces lists only. A correction also counts on it for a list or a map of texts
// that is published as write-only and optional, because it would remove what others added.
func (s *subject) staysOmitted(d difference, correction, patch bool) bool {
	inList := slices.ContainsFunc(d.path, func(step resource.Step) bool { return step.Name == "" })
	switch {
	case s.hasProperty(d.path, func(f PropertyFact) bool { return f.Kept }):
		return true
	case inList || d.rule != hiddenSecret && d.rule != hiddenWriteOnly:
		return false
	case patch:
		return true
	}
	shape := types.Lookup(s.resourceType, s.apiVersion)
	if !correction || shape == nil || !s.marks.WriteOnly.Contain(d.path) {
		return false
	}
	found, _ := shape.Find(d.path)
	return slices.ContainsFunc(found, func(p types.Property) bool {
		holdsMore := p.Type.Kind == types.List || p.Type.Additional != nil && p.Type.Additional.Kind == types.Text
		return holdsMore && !p.Has(types.Required)
	})
}

// proves reports whether the baseline shows that the manifest states the same hidden value as
// before. It shows nothing of the values of secrets without a key.
func (v *baselineView) proves(d difference) bool {
	entry, known := v.entries[hashPath(d.path)]
	now := d.entry(v.opts)
	refers := jsontree.Contains(d.desired, isMarker)
	return known && len(v.opts.Key) > 0 && entry.Desired == now.Desired && entry.Secret == now.Secret && (now.Secret != "" || !refers)
}
