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

// All returns a value and everything in it: an object or a list before its members or items,
// members in the order of their names.
func All(value any) iter.Seq[any] {
	return func(yield func(any) bool) { all(value, yield) }
}

func all(value any, yield func(any) bool) bool {
	if !yield(value) {
		return false
	}
	switch at := value.(type) {
	case map[string]any:
		for name := range Names(at) {
			if !all(at[name], yield) {
				return false
			}
		}
	case []any:
		return !slices.ContainsFunc(at, func(item any) bool { return !all(item, yield) })
	}
	return true
}

// Contains reports whether a value, or any value in it, matches.
func Contains(value any, match func(any) bool) bool {
	for at := range All(value) {
		if match(at) {
			return true
		}
	}
	return false
}

// Next is the result of an edit.
type Next int

// The steps after an edit: edit the members or items of the result, take the result as it is,
// or leave it out of the object or list that contains it.
const (
	Inside Next = iota
	Done
	Omit
)

// Edit returns a deep copy of a value with changes. edit is called for the value and, if it
// says Inside, for each member or item of its result; the name is "" for all but members.
func Edit(value any, edit func(name string, value any) (edited any, next Next)) any {
	edited, _ := editAt("", value, edit)
	return edited
}

func editAt(name string, value any, edit func(string, any) (any, Next)) (edited any, present bool) {
	value, next := edit(name, value)
	if next != Inside {
		return value, next != Omit
	}
	switch at := value.(type) {
	case map[string]any:
		if at == nil {
			return at, true
		}
		copied := make(map[string]any, len(at))
		for name, member := range at {
			if edited, present := editAt(name, member, edit); present {
				copied[name] = edited
			}
		}
		return copied, true
	case []any:
		copied := make([]any, 0, len(at))
		for _, item := range at {
			if edited, present := editAt("", item, edit); present {
				copied = append(copied, edited)
			}
		}
		return copied, true
	}
	return value, true
}

// Clone returns a deep copy of a value; nil stays nil.
func Clone[T any](value T) T {
	copied, _ := Edit(value, func(_ string, value any) (any, Next) { return value, Inside }).(T)
	return copied
}
