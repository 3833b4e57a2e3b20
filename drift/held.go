package drift

import (
	"slices"

	"github.com/armature-io/armature/resource"
)

// hold returns the differences that a correction may write, and adds to the result the ones that
// wait for a user. A list waits as a whole if a PUT cannot keep an item of it. Everything waits
// if the path of a setting cannot be written as a text: a body without it would remove it.
func (result *Result) hold(found []difference, desired, observed map[string]any, opts Options) []difference {
	if !opts.Hold || len(found) == 0 {
		return found
	}
	inner, everything := opts.holding(), false
	var waiting []resource.Path
	for _, path := range dropsOf(desired, observed, inner) {
		part := heldPart(path, inner.keepItems)
		result.Held.add(path.String())
		result.carried = append(result.carried, part.String())
		waiting = append(waiting, part)
		read, err := resource.ParsePath(part.String())
		everything = everything || err != nil || !slices.Equal(read, part)
	}
	return slices.DeleteFunc(found, func(d difference) bool {
		added := inner.keepItems && d.rule == ruleItemAdded && len(d.path) > 0 && d.path[len(d.path)-1].Key != ""
		if !added && !everything && !isIgnored(d.path, waiting) {
			return false
		}
		result.HoldsItems = result.HoldsItems || added
		if added && !slices.Contains(result.Held.Paths, d.text) {
			result.Held.add(d.text)
		}
		if len(result.Waiting) < resource.MaxDifferences {
			result.Waiting = append(result.Waiting, d.show())
		}
		return true
	})
}

// holding returns options without Hold that keep items of others in lists whose items have a key,
// unless Azure refused such a mixture.
func (o Options) holding() Options {
	refused := o.Baseline.Mixture != "" && o.Baseline.Mixture == o.Baseline.Body
	o.keepItems, o.Hold = o.Hold && o.KeepOthers && !refused, false
	return o
}

// WithRefusedMixture returns the baseline after Azure refused items of others beside those of the
// manifest: corrections send such lists as Azure shows them, until the manifest changes.
func (b Baseline) WithRefusedMixture() Baseline {
	b.Mixture = b.Body
	return b
}

// carrying returns options for a body that also ignores the settings that wait for a user. carried
// are the paths of all values of the manifest that the body has as Azure shows them.
func (o Options) carrying(desired, observed map[string]any) (_ Options, carried []resource.Path) {
	carried = o.ownedPaths()
	if !o.Hold || observed == nil {
		return o, carried
	}
	held := Compare(desired, observed, o).carried
	o = o.holding()
	o.Ignore = slices.Concat(o.Ignore, held)
	return o, append(carried, resource.ParsePaths(held)...)
}

// heldPart returns the path of the part that a correction sends as Azure shows it, so that the
// value at path stays: the value itself, or the list around it if its items have no key.
func heldPart(path resource.Path, keyed bool) resource.Path {
	for i, step := range path {
		if step.Name == "" && (!keyed || step.Key == "" || i == len(path)-1) {
			return path[:i]
		}
	}
	return path
}
