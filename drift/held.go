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
	var waiting, mixed []resource.Path
	for _, path := range dropsOf(desired, observed, inner) {
		part := heldPart(path, inner.keepItems)
		result.Held.add(dropText(path, observed))
		if result.mix(path, part, found, desired, observed, inner) {
			mixed = append(mixed, part)
			continue
		}
		result.carried = append(result.carried, part.String())
		waiting = append(waiting, part)
		read, err := resource.ParsePath(part.String())
		everything = everything || err != nil || !slices.Equal(read, part)
	}
	return slices.DeleteFunc(found, func(d difference) bool {
		added := inner.keepItems && d.rule == ruleItemAdded && len(d.path) > 0 && d.path[len(d.path)-1].Key != ""
		if !added && !everything && (!isIgnored(d.path, waiting) || isIgnored(d.path, mixed)) {
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

// mix adds the list around a scalar of others to the lists that a correction sends with them,
// and the scalar to what waits. It reports whether the list is one.
func (result *Result) mix(path, list resource.Path, found []difference, desired, observed map[string]any, opts Options) bool {
	own, _ := valueAt(list, desired).([]any)
	shown, _ := valueAt(list, observed).([]any)
	if len(path) != len(list)+1 || !opts.keepItems {
		return false
	}
	merged, ok := opts.subject(observed).mixedList(list, own, shown, found)
	if !ok {
		return false
	}
	if !slices.ContainsFunc(result.mixed, func(other Leaf) bool { return slices.Equal(other.Path, list) }) {
		result.mixed = append(result.mixed, Leaf{Path: list, Value: merged})
	}
	result.HoldsItems = true
	if len(result.Waiting) < resource.MaxDifferences {
		result.Waiting = append(result.Waiting, difference{path: path, observed: valueAt(path, observed), present: true, rule: ruleItemAdded}.show())
	}
	return true
}

// holding returns options without Hold that keep items of others in lists whose items have a key,
// unless Azure refused such a mixture.
func (o Options) holding() Options {
	refused := o.Baseline.Mixture != "" && o.Baseline.Mixture == o.Baseline.Body
	o.holds, o.keepItems, o.Hold = o.Hold, o.Hold && o.KeepOthers && !refused, false
	return o
}

// WithRefusedMixture returns the baseline after Azure refused items of others beside those of the
// manifest: corrections send such lists as Azure shows them, until the manifest changes.
func (b Baseline) WithRefusedMixture() Baseline {
	b.Mixture = b.Body
	return b
}

// carrying returns options for a body that also ignores the settings that wait for a user. carried
// are the paths of all values of the manifest that the body has as Azure shows them, and of the
// mixed lists, which it has with the items of others.
func (o Options) carrying(desired, observed map[string]any) (_ Options, carried []resource.Path, mixed []Leaf) {
	carried = o.ownedPaths()
	if !o.Hold || observed == nil {
		return o, carried, nil
	}
	found := Compare(desired, observed, o)
	o = o.holding()
	o.Ignore = slices.Concat(o.Ignore, found.carried)
	carried = append(carried, resource.ParsePaths(found.carried)...)
	for _, list := range found.mixed {
		carried = append(carried, list.Path)
	}
	return o, carried, found.mixed
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
