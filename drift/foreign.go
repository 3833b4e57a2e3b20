package drift

import (
	"slices"

	"github.com/armature-io/armature/resource"
)

// removedText stands for a value that was removed.
const removedText = "removed"

// Foreign returns the values outside of the manifest that another tool or user set or removed since
// the last PUT, and items added to lists of the manifest: at most resource.MaxDifferences, as
// messages show them; more counts the others. A removed value (Baseline.Others) has only its
// path. It returns none before the first PUT, none of a part that was not read after the PUT,
// and no scalars of a body that has too many.
func Foreign(desired, observed map[string]any, opts Options) (found []resource.Difference, more int) {
	before := opts.Baseline
	if observed == nil || !before.Sent && before.ServiceValues == "" {
		return nil, 0
	}
	if before.Answer != "" && opts.Answer != nil && before.Answer == (hasher{opts.Key}).bytes(opts.Answer) {
		return nil, 0
	}
	f := foreignFinder{opts: opts, subject: opts.sender(observed), ignored: resource.ParsePaths(opts.Ignore)}
	for _, text := range before.Others {
		path, err := resource.ParsePath(text)
		if err != nil || f.leavesOut(path) || holds(desired, path) || holds(observed, path) {
			continue
		}
		f.found = append(f.found, resource.Difference{Path: text, Observed: removedText})
	}
	others, _ := Leaves(writableOf(desired, observed, opts), desired, opts)
	known, applied, own := before.Added.decode(), before.Applied.decode(), before.ServiceValues.decode()
	crowded := len(own) >= maxServiceValues*len(pathHash{})
	for _, leaf := range others {
		switch list := leaf.Path[:len(leaf.Path)-1]; {
		case leaf.Own, f.leavesOut(leaf.Path), f.subject.isImplied(list, leaf.Value), leaf.item && before.Crowded, !leaf.item && crowded:
		case isEmpty(leaf.Value) && !isFullID(leaf.Path[len(leaf.Path)-1].Name), known.has(leaf.Path), applied.has(leaf.Path):
		default:
			shown := difference{path: leaf.Path, observed: leaf.Value, present: true, rule: ruleItemAdded}.show()
			if part := f.subject.parts.of(leaf.Path); part != nil && part.whole {
				shown.Observed = maskedText // a setting may be a secret under any name
			}
			f.found = append(f.found, shown)
		}
	}
	first := f.found[:min(len(f.found), resource.MaxDifferences)]
	return first, len(f.found) - len(first)
}

type foreignFinder struct {
	opts    Options
	subject *subject
	ignored []resource.Path
	found   []resource.Difference
}

// leavesOut reports whether values at a path are ignored, or in a part without a read after the
// PUT.
func (f foreignFinder) leavesOut(path resource.Path) bool {
	part := f.subject.parts.of(path)
	return isIgnored(path, f.ignored) || part != nil && (!part.verified || !slices.Contains(f.opts.Baseline.Parts, part.name))
}

// holds reports whether a body has a value at a path. An empty value counts only below a resource
// ID, as in identity.userAssignedIdentities.
func holds(body map[string]any, path resource.Path) bool {
	value, found := path.Get(body)
	return found && (!isEmpty(value) || isFullID(path[len(path)-1].Name))
}
