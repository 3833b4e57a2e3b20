package extensionhost

import (
	"github.com/armature-io/armature/extensions"
	"github.com/armature-io/armature/internal/jsontree"
	"github.com/armature-io/armature/resource"
)

// TrimAbove is the largest number of entries that such a list may have.
const TrimAbove = 2000

// Trim returns an observed body without the lists of a type's trimmers that are
// too long. It does not change its input.
func (r *Registry) Trim(resourceType string, observed map[string]any) map[string]any {
	trimmed := observed
	for _, trimmer := range implementing[extensions.ObservationTrimmer](r.links(resourceType)) {
		for _, text := range trimmer.TrimObserved() {
			path, err := resource.ParsePath(text)
			if err != nil {
				continue
			}
			value, _ := path.Get(trimmed)
			if list, ok := value.([]any); !ok || len(list) <= TrimAbove {
				continue
			}
			trimmed = jsontree.Clone(trimmed)
			remove(trimmed, path)
		}
	}
	return trimmed
}

// remove deletes the property at a path, if it exists.
func remove(body map[string]any, path resource.Path) {
	last := len(path) - 1
	parent, _ := path[:last].Get(body)
	if object, ok := parent.(map[string]any); ok {
		delete(object, path[last].Name)
	}
}
