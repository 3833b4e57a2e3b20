package drift

import (
	"slices"
	"strings"

	"github.com/armature-io/armature/resource"
)

// The bounds of Baseline.Immutable.
const (
	maxImmutable      = 20
	maxImmutableBytes = 256
)

// Immutable returns the differences that Azure refuses to correct, because it sets these values
// only when it creates a resource: its location, the values that the facts about its type name,
// and those of an earlier refusal. A value that Azure does not show may still be set.
func Immutable(differences []resource.Difference, opts Options) []resource.Difference {
	facts := &subject{properties: opts.Facts.Properties}
	return slices.DeleteFunc(slices.Clone(differences), func(d resource.Difference) bool {
		path, err := resource.ParsePath(d.Path)
		if err != nil || d.Observed == absentText || d.Rule == ruleRemoved || d.Rule == ruleItemAdded {
			return true
		}
		if isLocation := len(path) == 1 && strings.EqualFold(path[0].Name, "location"); isLocation {
			return false
		}
		for end := range path {
			if facts.hasProperty(path[:end+1], func(f PropertyFact) bool { return f.Immutable }) {
				return false
			}
		}
		return !slices.ContainsFunc(opts.Baseline.Immutable, func(refused string) bool { return isAtOrIn(d.Path, refused) })
	})
}

// isAtOrIn reports whether the text of a path is another one or leads into its value.
func isAtOrIn(path, outer string) bool {
	rest, within := strings.CutPrefix(path, outer)
	return within && (rest == "" || rest[0] == '.' || rest[0] == '[')
}

// WithImmutable returns the baseline with paths of values that Azure refused to change.
func (b Baseline) WithImmutable(paths []string) Baseline {
	known := slices.Clone(b.Immutable)
	for _, path := range paths {
		if len(path) <= maxImmutableBytes && len(known) < maxImmutable && !slices.Contains(known, path) {
			known = append(known, path)
		}
	}
	slices.Sort(known)
	b.Immutable = known
	return b
}
