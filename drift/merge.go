package drift

import (
	"maps"
	"slices"
	"strings"

	"github.com/armature-io/armature/internal/jsontree"
	"github.com/armature-io/armature/resource"
)

// Merge returns observed, which must be unmasked, overlaid with desired. Values
// that desired does not state remain, as far as the published shape of the type in the
// api-version has them as writable. Objects are merged by property. Lists with items
// identified by a key are merged by item; any other list is replaced.
func Merge(desired, observed map[string]any, opts Options) map[string]any {
	merged := jsontree.Clone(observed)
	if merged == nil {
		merged = map[string]any{}
	}
	opts = Options{Type: opts.Type, APIVersion: opts.APIVersion, Facts: opts.Facts}
	merged = echoes(desired, merged, opts)
	for name, value := range merged {
		if properties, ok := value.(map[string]any); ok && strings.EqualFold(name, "properties") {
			maps.DeleteFunc(properties, func(name string, _ any) bool { return slices.Contains(setByARMEverywhere, strings.ToLower(name)) })
		}
		if setByARM(name) {
			delete(merged, name)
		}
	}
	m := merger{opts.sender(observed)}
	m.overlay(merged, desired, nil)
	return merged
}

// merger lays values over others.
type merger struct{ *subject }

func (m merger) overlay(onto, desired map[string]any, path resource.Path) {
	for name, value := range desired {
		below := path.With(resource.Step{Name: name})
		base, found := onto[name]
		if !found && !isUserDefined(path) {
			var own string
			own, base, _ = jsontree.Member(onto, name)
			delete(onto, own)
		}
		onto[name] = m.value(base, value, below)
	}
}

func (m merger) value(onto, desired any, path resource.Path) any {
	switch value := desired.(type) {
	case map[string]any:
		if base, ok := onto.(map[string]any); ok {
			m.overlay(base, value, path)
			return base
		}
	case []any:
		if base, ok := onto.([]any); ok {
			if pairs := m.pair(path, value, base); pairs.Key != "" {
				return m.items(base, value, pairs, path)
			}
		}
	}
	return jsontree.Clone(desired)
}

// items merges the items with equal keys and appends the others.
func (m merger) items(base, desired []any, pairs jsontree.Pairs, path resource.Path) []any {
	merged := append([]any(nil), base...)
	for i, at := range pairs.At {
		if at >= 0 {
			merged[at] = m.value(merged[at], desired[i], path.With(pairs.Step(at, merged[at])))
		} else {
			merged = append(merged, jsontree.Clone(desired[i]))
		}
	}
	return merged
}
