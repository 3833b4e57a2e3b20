package resource

import "encoding/json"

// Body is a decoded body, or an object in one: the desired or observed body of an Object, a
// payload, or an item of a list. Its methods read a path such as properties.rules[name=x].priority,
// and return false for anything absent.
type Body map[string]any

// At returns the value at a path. A number is a json.Number.
func (b Body) At(path string) (any, bool) {
	if b == nil {
		return nil, false
	}
	return valueAt(b, path)
}

// StringAt returns the text at a path.
func (b Body) StringAt(path string) (string, bool) {
	value, _ := b.At(path)
	text, ok := value.(string)
	return text, ok
}

// NumberAt returns the number at a path. A number beyond 2^53 is rounded; At has its digits.
func (b Body) NumberAt(path string) (float64, bool) {
	value, _ := b.At(path)
	switch number := value.(type) {
	case json.Number:
		float, err := number.Float64()
		return float, err == nil
	case float64:
		return number, true
	}
	return 0, false
}

// ListAt returns the list at a path.
func (b Body) ListAt(path string) ([]any, bool) {
	value, _ := b.At(path)
	list, ok := value.([]any)
	return list, ok
}

// ObjectsAt returns the objects in the list at a path, none if there is no list.
func (b Body) ObjectsAt(path string) []Body {
	list, _ := b.ListAt(path)
	var objects []Body
	for _, item := range list {
		if object, ok := item.(map[string]any); ok {
			objects = append(objects, object)
		}
	}
	return objects
}
