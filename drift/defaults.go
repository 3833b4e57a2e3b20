package drift

import (
	_ "embed"
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/types"
)

// defaultsText has a line for each default: type, path and JSON value, separated by blanks.
// TestDefaultsTable generates it from recorded traffic: in at least three independent
// recordings the service set the value of a property that a PUT did not state, and in none
// another one.
//
//go:embed defaults.txt
var defaultsText string

// defaults returns the defaults of services: JSON values by type and path, in lower case.
var defaults = sync.OnceValue(func() map[string]map[string]string {
	all := map[string]map[string]string{}
	for line := range strings.Lines(defaultsText) {
		resourceType, rest, found := strings.Cut(strings.TrimSpace(line), " ")
		path, value, complete := strings.Cut(rest, " ")
		if !found || !complete || strings.HasPrefix(line, "#") {
			continue
		}
		if all[resourceType] == nil {
			all[resourceType] = map[string]string{}
		}
		all[resourceType][path] = value
	}
	return all
})

// WithoutDefaults returns a body without the values that the service sets by itself where a
// PUT states none, and the paths of those left out, sorted. What is published as required
// stays, and so does everything in lists. body is not modified.
func WithoutDefaults(id resource.ID, apiVersion string, body map[string]any) (rest map[string]any, left []string) {
	known := defaults()[strings.ToLower(id.Type())]
	if len(known) == 0 {
		return body, nil
	}
	d := defaultDropper{known: known, shape: types.Lookup(id.Type(), apiVersion)}
	rest = d.object(nil, body)
	slices.Sort(d.left)
	return rest, d.left
}

type defaultDropper struct {
	known map[string]string
	shape *types.Shape
	left  []string
}

func (d *defaultDropper) object(path resource.Path, object map[string]any) map[string]any {
	others := maps.Clone(object)
	for name, value := range object {
		at := path.With(resource.Step{Name: name})
		if below, isObject := value.(map[string]any); isObject {
			// An object that had members and has none any more says nothing.
			if rest := d.object(at, below); len(rest) > 0 || len(below) == 0 {
				others[name] = rest
			} else {
				delete(others, name)
			}
			continue
		}
		if known, found := d.known[pattern(at)]; found && known == jsonText(value) && !d.isRequired(at) {
			delete(others, name)
			d.left = append(d.left, at.String())
		}
	}
	return others
}

func (d *defaultDropper) isRequired(path resource.Path) bool {
	if d.shape == nil {
		return false
	}
	found, _ := d.shape.Find(path)
	return slices.ContainsFunc(found, func(p types.Property) bool { return p.Has(types.Required) })
}

func jsonText(value any) string {
	text, err := json.Marshal(value)
	if err != nil {
		return ""
	}
	return string(text)
}
