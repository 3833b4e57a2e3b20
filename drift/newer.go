package drift

import (
	"slices"
	"strings"

	"github.com/armature-io/armature/internal/jsontree"
	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/types"
)

// NewerValues are hashes of the values that only a newer api-version shows, after a PUT:
// what the service had set by itself.
type NewerValues struct {
	Version string  `json:"version"`
	Values  PathSet `json:"values"`
}

// NewNewerValues returns the values of observed, a body in the newer version.
func NewNewerValues(desired, observed map[string]any, newer types.Newer, opts Options) *NewerValues {
	values := map[pathHash]int{}
	opts.sender(observed).newerLeaves(newer.Members, sides{value: observed, desired: desired}, func(path resource.Path, value any) {
		values[hasher{opts.Key}.leaf(value, path)] = len(path)
	})
	return &NewerValues{Version: newer.Version, Values: newPathSet(values, maxServiceValues)}
}

// NewerDrops returns the values of observed, a body in the newer version, that others set
// since the last PUT and that a PUT in the manifest's version may remove. Where the
// baseline has none of that version, only references to other resources count: services
// fill in other values by themselves.
func NewerDrops(desired, observed map[string]any, newer types.Newer, opts Options) Drops {
	f := dropFinder{}
	before := opts.Baseline.Newer
	known := before != nil && before.Version == newer.Version
	var values decodedSet
	if known {
		values = before.Values.decode()
	}
	opts.sender(observed).newerLeaves(newer.Members, sides{value: observed, desired: desired}, func(path resource.Path, value any) {
		switch {
		case known && !values.hasHash(hasher{opts.Key}.leaf(value, path)), !known && refers(value):
			f.add(path)
		}
	})
	return boundedDrops(f.drops, observed)
}

// refers reports whether a value is a reference to another resource, or a list with one.
func refers(value any) bool {
	items, _ := value.([]any)
	return isReference(value) || slices.ContainsFunc(items, isReference)
}

// newerLeaves visits the values of a body below the members of a newer version that desired
// does not state. A value is a scalar, a reference, or a whole list.
func (s *subject) newerLeaves(members *types.Paths, of sides, visit func(resource.Path, any)) {
	for at := range s.inside(of) {
		below := members.Below(at.path[len(at.path)-1])
		switch {
		case below == nil:
		case below.Ends() && !at.isStated:
			visitLeaves(at.value, at.path, visit)
		default:
			s.newerLeaves(below, at, visit)
		}
	}
}

// visitLeaves visits the values below one that only a newer version shows.
func visitLeaves(value any, path resource.Path, visit func(resource.Path, any)) {
	members, isMap := value.(map[string]any)
	switch {
	case isEmpty(value) || value == "" || slices.Contains(neverEchoed, strings.ToLower(lastName(path))):
	case isMap && !isReference(value):
		for name := range jsontree.Names(members) {
			visitLeaves(members[name], path.With(resource.Step{Name: name}), visit)
		}
	default:
		visit(path, value)
	}
}
