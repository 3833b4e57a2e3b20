package drift

import (
	"slices"

	"github.com/armature-io/armature/resource"
)

// Foreign returns the values of observed that desired does not state and that changed since the
// last PUT: another tool or user set them, and no manifest contains them. It also returns
// items that were added to lists of the manifest. Values are shown as in differences, at most
// resource.MaxDifferences; more counts the others. Before the first PUT nothing is known, and
// nothing is foreign; so it is with a part that was not read after the PUT. A value that was
// removed since is not found.
func Foreign(desired, observed map[string]any, opts Options) (found []resource.Difference, more int) {
	if observed == nil || !opts.Baseline.Sent && opts.Baseline.ServiceValues == "" {
		return nil, 0
	}
	others, _ := Leaves(writableOf(desired, observed, opts), desired, opts)
	known, applied, ignored := opts.Baseline.Added.decode(), opts.Baseline.Applied.decode(), resource.ParsePaths(opts.Ignore)
	s := opts.sender(observed)
	for _, leaf := range others {
		list, part := leaf.Path[:len(leaf.Path)-1], s.parts.of(leaf.Path)
		switch {
		case s.isImplied(list, leaf.Value), part != nil && (!part.verified || !slices.Contains(opts.Baseline.Parts, part.name)):
		case leaf.Own, isEmpty(leaf.Value) && !isFullID(leaf.Path[len(leaf.Path)-1].Name), isIgnored(leaf.Path, ignored), known.has(leaf.Path), applied.has(leaf.Path):
		case len(found) == resource.MaxDifferences:
			more++
		default:
			shown := difference{path: leaf.Path, observed: leaf.Value, present: true, rule: ruleItemAdded}.show()
			if part != nil && part.whole {
				shown.Observed = maskedText // a setting may be a secret under any name
			}
			found = append(found, shown)
		}
	}
	return found, more
}
