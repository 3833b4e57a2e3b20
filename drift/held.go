package drift

import (
	"slices"

	"github.com/armature-io/armature/resource"
)

// holding returns the options with which a correction compares and writes: the items of others
// stay in lists whose items have a key, unless lists are held as a whole.
func (o Options) holding() Options {
	o.keepItems, o.Hold = o.Hold && o.KeepOthers && !o.HoldLists, false
	return o
}

// hold returns the differences that a correction may write, and adds to the result those
// that wait for a user: it would take them away from other tools or users. A list of which it
// cannot keep an item waits as a whole.
func (result *Result) hold(found []difference, desired, observed map[string]any, opts Options) []difference {
	if !opts.Hold || len(found) == 0 {
		return found
	}
	inner := opts.holding()
	drops := DropsOf(desired, observed, inner)
	var waiting []resource.Path
	for _, path := range resource.ParsePaths(drops.Paths) {
		waiting = append(waiting, heldPart(path, inner.keepItems))
	}
	for _, path := range waiting {
		result.carried = append(result.carried, path.String())
	}
	for _, path := range drops.Paths {
		result.Held.add(path)
	}
	result.Held.More += drops.More
	return slices.DeleteFunc(found, func(d difference) bool {
		added := inner.keepItems && d.rule == ruleItemAdded && len(d.path) > 0 && d.path[len(d.path)-1].Key != ""
		if !added && !isIgnored(d.path, waiting) {
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

// heldPart returns the part of a body that a correction sends as Azure shows it, so that a
// value at a path stays: the value, or the list around it if its items have no key.
func heldPart(path resource.Path, keyed bool) resource.Path {
	for i, step := range path {
		if step.Name == "" && (!keyed || step.Key == "" || i == len(path)-1) {
			return path[:i]
		}
	}
	return path
}

func (d *Drops) add(path string) {
	if len(d.Paths) == resource.MaxDifferences {
		d.More++
		return
	}
	d.Paths = append(d.Paths, path)
}
