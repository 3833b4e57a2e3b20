package extensions

import (
	"github.com/armature-io/armature/drift"
	"github.com/armature-io/armature/resource"
)

// ObservationTrimmer names lists of a resource that no manifest states and that
// can outgrow a history (2 MB); beyond TrimAbove entries they are left out of
// what a pass sees.
type ObservationTrimmer interface {
	TrimObserved() []string
}

// TrimAbove is how many entries such a list may have.
const TrimAbove = 2000

// Trim is an observed body without the lists that a type's trimmers name, where
// they are too long. The input is not changed.
func (r *Registry) Trim(resourceType string, observed map[string]any) map[string]any {
	trimmed := observed
	for _, trimmer := range implementing[ObservationTrimmer](r.links(resourceType)) {
		for _, text := range trimmer.TrimObserved() {
			path, err := resource.ParsePath(text)
			if err != nil {
				continue
			}
			value, _ := path.Get(trimmed)
			if list, ok := value.([]any); !ok || len(list) <= TrimAbove {
				continue
			}
			trimmed = drift.Clone(trimmed)
			remove(trimmed, path)
		}
	}
	return trimmed
}

// remove deletes a property; what is not there is no fault.
func remove(body map[string]any, path resource.Path) {
	var at any = body
	for _, step := range path[:len(path)-1] {
		next, ok := step.Get(at)
		if !ok {
			return
		}
		at = next
	}
	if object, ok := at.(map[string]any); ok {
		delete(object, path[len(path)-1].Name)
	}
}
