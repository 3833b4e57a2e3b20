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
