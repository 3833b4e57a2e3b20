// Package jsontree reads decoded JSON: it finds members of objects, pairs the items of two
// lists, and walks and copies values. It knows how ARM compares names, IDs and keys of
// items, and nothing about types of resources.
package jsontree

import (
	"iter"
	"maps"
	"slices"
	"strings"
)

// Member returns a member of an object by name, and its own spelling: the exact name, else
// the first one in order that differs only in case, as in ARM.
func Member(object map[string]any, name string) (own string, value any, present bool) {
	if value, ok := object[name]; ok {
		return name, value, true
	}
	for other := range object {
		if strings.EqualFold(other, name) && (!present || other < own) {
			own, present = other, true
		}
	}
	return own, object[own], present
}

// Value returns a member by name as Member does, nil if it is absent.
func Value(object map[string]any, name string) any {
	_, value, _ := Member(object, name)
	return value
}

// Object returns a member that is an object, else nil.
func Object(object map[string]any, name string) map[string]any {
	value, _ := Value(object, name).(map[string]any)
	return value
}

// Text returns a member that is a text, else "".
func Text(object map[string]any, name string) string {
	value, _ := Value(object, name).(string)
	return value
}

// namesCapacity is the number of names that are sorted without an allocation.
const namesCapacity = 24

// Names returns the names of the members of an object, sorted.
func Names(object map[string]any) iter.Seq[string] {
	return func(yield func(string) bool) {
		var buffer [namesCapacity]string
		names := slices.AppendSeq(buffer[:0], maps.Keys(object))
		slices.Sort(names)
		for _, name := range names {
			if !yield(name) {
				return
			}
		}
	}
}

// Clone returns a deep copy of a value; nil stays nil.
func Clone[T any](value T) T {
	copied, _ := clone(value).(T)
	return copied
}

func clone(value any) any {
	switch at := value.(type) {
	case map[string]any:
		if at == nil {
			return at
		}
		copied := make(map[string]any, len(at))
		for name, member := range at {
			copied[name] = clone(member)
		}
		return copied
	case []any:
		copied := make([]any, len(at))
		for i, item := range at {
			copied[i] = clone(item)
		}
		return copied
	}
	return value
}
