package drift

import (
	"slices"

	"github.com/armature-io/armature/internal/jsontree"
	"github.com/armature-io/armature/resource"
)

// leaveOut removes from the body for a resource that exists the values that no read shows, that
// the manifest did not change since they were recorded, and that the service keeps if a request
// omits them: another tool may have changed them since. Options.Enforce names values that are
// sent. A PATCH omits values without a fact, except in lists, which it replaces.
func leaveOut(body, desired, observed map[string]any, opts Options, patch bool) {
	view := opts.Baseline.view(desired, opts)
	isKept := func(f PropertyFact) bool { return f.Kept }
	if view.applied == nil || observed == nil || !patch && !slices.ContainsFunc(opts.Facts.Properties, isKept) {
		return
	}
	view.sameBody() // it recognizes the key
	w, enforced := &walker{subject: opts.subject(observed)}, resource.ParsePaths(opts.Enforce)
	for _, d := range w.differences(desired, observed, opts.Ignore) {
		isSecret := d.rule == hiddenSecret || d.rule == hiddenWriteOnly
		kept := patch && isSecret && !slices.ContainsFunc(d.path, func(step resource.Step) bool { return step.Name == "" }) || w.subject.hasProperty(d.path, isKept)
		if d.hidden && kept && !isIgnored(d.path, enforced) && view.proves(d) {
			d.path.Remove(body)
		}
	}
}

// proves reports whether the baseline shows that the manifest states the same hidden value as
// before. It shows nothing of the values of secrets without a key.
func (v *baselineView) proves(d difference) bool {
	entry, known := v.entries[hashPath(d.path)]
	now := d.entry(v.opts)
	refers := jsontree.Contains(d.desired, isMarker)
	return known && len(v.opts.Key) > 0 && entry.Desired == now.Desired && entry.Secret == now.Secret && (now.Secret != "" || !refers)
}
