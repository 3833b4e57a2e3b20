package resource

import "strings"

// Set writes a value at a path of property names into a body and creates the
// objects on the way. It reuses the name of a property that differs in case only.
func (p Path) Set(body map[string]any, value any) {
	last := len(p) - 1
	for _, step := range p[:last] {
		found, _ := step.Get(body)
		next, ok := found.(map[string]any)
		if !ok {
			next = map[string]any{}
			body[actualName(body, step.Name)] = next
		}
		body = next
	}
	body[actualName(body, p[last].Name)] = value
}

// Remove removes the property at a path from a body, and the objects around it that are empty
// then. An element of a list stays.
func (p Path) Remove(body map[string]any) {
	for at := p; len(at) > 0; at = at[:len(at)-1] {
		parent, _ := at[:len(at)-1].Get(body)
		object, isObject := parent.(map[string]any)
		if _, present := at[len(at)-1].Get(object); !isObject || !present {
			return
		}
		if delete(object, actualName(object, at[len(at)-1].Name)); len(object) > 0 {
			return
		}
	}
}

// actualName returns the name of a property in the body's own case, or name where
// the body has none.
func actualName(body map[string]any, name string) string {
	if _, ok := body[name]; ok {
		return name
	}
	found := ""
	for candidate := range body {
		if strings.EqualFold(candidate, name) && (found == "" || candidate < found) {
			found = candidate
		}
	}
	if found == "" {
		return name
	}
	return found
}
