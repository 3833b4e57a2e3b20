package drift

import (
	"fmt"
	"slices"
	"strings"

	"github.com/armature-io/armature/internal/jsontree"
	"github.com/armature-io/armature/internal/nearest"
	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/types"
)

// NotTaken is a path that a PUT stated and Azure did not apply.
type NotTaken struct {
	Path string
	// Absent is set if the GET does not show the property, and unset if it shows
	// another value. Nearest is then the path that was probably meant and that the GET
	// shows, or "".
	Absent  bool
	Nearest string
}

// String returns the path, with the nearest one.
func (n NotTaken) String() string {
	if n.Nearest == "" {
		return n.Path
	}
	return fmt.Sprintf("%s (did you mean %s?)", n.Path, n.Nearest)
}

// isNotTaken reports whether a difference that the GET after a PUT shows is none of the
// spellings and defaults of services: a property was dropped, an item is missing from a list
// that is shown, or the resource has another location or another value of an enumeration.
// shape is nil for a type that is not published.
func isNotTaken(shape *types.Shape, facts Facts, d difference, observed map[string]any) bool {
	switch d.rule {
	case ruleAbsent:
		return isDropped(shape, d.path, d.desired)
	case ruleItemMissing:
		list := d.path[:len(d.path)-1]
		shown, _ := valueAt(list, observed).([]any)
		return (d.path[len(d.path)-1].Key != "" || len(shown) == 0) && !slices.ContainsFunc(facts.Properties, func(f PropertyFact) bool { return f.DropsUnknown && f.is(list) })
	case ruleListLength:
		desired, _ := d.desired.([]any)
		observed, _ := d.observed.([]any)
		return len(observed) < len(desired)
	case ruleValue:
		return len(d.path) == 1 && strings.EqualFold(d.path[0].Name, "location") || isOtherMember(shape, d)
	}
	return false
}

// IsCreation reports whether a resource that was absent may be what a PUT of desired created,
// from the comparison with it: each difference is a location, a member of an enumeration or a
// read-only value, for which services are known to choose another one (isNotTaken). Any other
// difference shows that another tool created it.
func IsCreation(desired, observed map[string]any, found Result, opts Options) bool {
	reported := map[string]bool{}
	for _, d := range found.Differences {
		reported[d.Path] = true
	}
	shape, readOnly := types.Lookup(opts.Type, opts.APIVersion), types.ReadOnlyOf(opts.Type)
	w := &walker{subject: opts.subject(observed)}
	foreign := slices.ContainsFunc(w.differences(desired, observed, opts.Ignore), func(d difference) bool {
		return reported[d.text] && !readOnly.Contain(d.path) && (d.rule != ruleValue || !isNotTaken(shape, opts.Facts, d, observed))
	})
	return !foreign && found.More+len(found.Contested)+len(found.Waiting) == 0
}

// isOtherMember reports whether both values of a difference are published members of the
// same enumeration.
func isOtherMember(shape *types.Shape, d difference) bool {
	desired, ok := d.desired.(string)
	observed, isText := d.observed.(string)
	if shape == nil || !ok || !isText {
		return false
	}
	found, _ := shape.Find(d.path)
	return slices.ContainsFunc(found, func(p types.Property) bool {
		values, _ := p.Type.Values()
		has := func(text string) bool {
			return slices.ContainsFunc(values, func(value string) bool { return strings.EqualFold(value, text) })
		}
		return has(desired) && has(observed)
	})
}

// isDropped reports whether a stated value that no GET shows after the PUT was
// probably not taken: the shape of the type does not have the property, or it is true
// or a list with items. Many services do not return other values that they apply:
// defaults, SKUs, credentials. shape is nil for a type that is not published.
func isDropped(shape *types.Shape, path resource.Path, value any) bool {
	if isUnset(value) || value == "" {
		return false
	}
	if object, isMap := value.(map[string]any); isMap {
		for name, member := range object {
			if isDropped(shape, path.With(resource.Step{Name: name}), member) {
				return true
			}
		}
		return false
	}
	if shape == nil {
		return true
	}
	if found, free := shape.Find(path); len(found) == 0 && !free {
		return true
	}
	_, isList := value.([]any)
	return isList || value == true
}

// nearestShown returns the path of the property that observed shows, desired does not
// state and a path was probably meant for: one of a similar name beside it, or one of
// the same name one level up or down; "" if there is none.
func nearestShown(path resource.Path, desired, observed map[string]any) string {
	if len(path) == 0 || path[len(path)-1].Name == "" {
		return ""
	}
	parent, name := path[:len(path)-1], path[len(path)-1].Name
	beside := extraMembers(parent, desired, observed)
	if match := nearest.Match(name, beside); match != "" {
		return parent.With(resource.Step{Name: match}).String()
	}
	around := []resource.Path{}
	if len(parent) > 0 {
		around = append(around, parent[:len(parent)-1])
	}
	if shown, isMap := valueAt(parent, observed).(map[string]any); isMap {
		for member := range jsontree.Names(shown) {
			around = append(around, parent.With(resource.Step{Name: member}))
		}
	}
	for _, at := range around {
		for _, member := range extraMembers(at, desired, observed) {
			if strings.EqualFold(member, name) {
				return at.With(resource.Step{Name: member}).String()
			}
		}
	}
	return ""
}

// extraMembers returns the members of an object that observed shows and desired
// does not state.
func extraMembers(path resource.Path, desired, observed map[string]any) []string {
	shown, _ := valueAt(path, observed).(map[string]any)
	own, _ := valueAt(path, desired).(map[string]any)
	var names []string
	for name := range jsontree.Names(shown) {
		if _, _, found := jsontree.Member(own, name); !found && (len(path) > 0 || !setByARM(name)) {
			names = append(names, name)
		}
	}
	return names
}

// valueAt returns the value at a path, the whole body for an empty one.
func valueAt(path resource.Path, body map[string]any) any {
	if len(path) == 0 {
		return body
	}
	value, _ := path.Get(body)
	return value
}

// NotTakenText returns what Azure did with the paths of NotTaken, for a sentence that
// begins "Azure accepted the PUT and"; "" if there are none. It names at most three
// paths of each kind.
func (r Result) NotTakenText() string {
	var others, absent []string
	for _, n := range r.NotTaken {
		if n.Absent {
			absent = append(absent, n.String())
		} else {
			others = append(others, n.Path)
		}
	}
	var parts []string
	if len(others) > 0 {
		parts = append(parts, "kept its own value of "+firstOf(others))
	}
	if len(absent) > 0 {
		parts = append(parts, "does not show "+firstOf(absent))
	}
	return strings.Join(parts, ", and ")
}

// AcceptedText returns the first paths of Accepted and the number of the others.
func (r Result) AcceptedText() string { return firstOf(r.Accepted) }

// firstOf returns the first texts and the number of the others.
func firstOf(texts []string) string {
	const maxTexts = 3
	if len(texts) <= maxTexts {
		return strings.Join(texts, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(texts[:maxTexts], ", "), len(texts)-maxTexts)
}
