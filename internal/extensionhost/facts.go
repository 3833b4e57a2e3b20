package extensionhost

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/armature-io/armature/extensions"
	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/types"
)

// isZero reports whether no fact is stated.
func isZero(f extensions.Facts) bool { return reflect.ValueOf(f).IsZero() }

// aboutOneType reports whether a fact is stated that AllTypes cannot have.
func aboutOneType(f extensions.Facts) bool {
	f.Stopped, f.Busy, f.BlocksChildren, f.Comparison.Switches = nil, nil, nil, nil
	return !isZero(f)
}

// linksOf returns the links by which the facts of an entry take part in the chains of its
// type, or an error for facts that would never apply.
func linksOf(f extensions.Facts, resourceType string) (links []any, err error) {
	var paths []string
	for _, list := range f.InlineLists {
		paths = append(paths, list.Path)
	}
	for _, state := range f.Stopped {
		paths = append(paths, state.Path)
	}
	for _, state := range slices.Concat(f.BlocksChildren, f.Busy) {
		paths = append(paths, state.Path)
	}
	for _, check := range f.Checks {
		paths = append(paths, check.Path)
	}
	for _, list := range f.Comparison.SharedLists {
		paths = append(paths, list.Paths...)
	}
	for _, property := range f.Comparison.Properties {
		paths = append(paths, property.Path)
	}
	for _, part := range f.Comparison.Parts {
		paths = append(paths, part.Path)
		if strings.Count(part.Child, "/") != 1 {
			return nil, fmt.Errorf("part %s: the child %q is no type and name", part.Path, part.Child)
		}
	}
	for _, sw := range f.Comparison.Switches {
		if paths = append(paths, sw.Values...); sw.Path != "" {
			paths = append(paths, sw.Path)
		}
	}
	for _, text := range paths {
		if _, err := resource.ParsePath(text); err != nil {
			return nil, err
		}
	}
	for _, check := range f.Checks {
		links = append(links, stateCheckLink(check, resourceType))
	}
	if f.Fixed.Names != nil || f.Fixed.NoDelete {
		links = append(links, fixedChild{resourceType: resourceType, fixed: f.Fixed})
	}
	var classes errorClasses
	for _, class := range f.Errors {
		compiled, err := compile(class)
		if err != nil {
			return nil, err
		}
		classes = append(classes, compiled)
	}
	if classes != nil {
		links = append(links, classes)
	}
	return links, nil
}

// misspeltStates returns what is probably misspelt in the states of an entry for one type: a path
// that the published type lacks, and words that it nearly has.
func misspeltStates(e extensions.Entry) []string {
	var found []string
	add := func(fact, text string, words ...string) {
		path, err := resource.ParsePath(text)
		if err != nil {
			return // New has refused it
		}
		if missing := types.Missing(e.Type, path); missing != "" {
			if strings.Contains(missing, "did you mean") {
				found = append(found, fmt.Sprintf("%s: the type has no %s", fact, missing))
			}
			return
		}
		known := types.Words(e.Type, path)
		for _, word := range words {
			if match := types.NearWord(word, known); match != "" {
				found = append(found, fmt.Sprintf("%s: %q is no published value of %s (did you mean %s?)", fact, word, text, match))
			}
		}
	}
	for _, state := range e.Facts.Busy {
		add("Busy", state.Path, slices.Concat(state.States, state.Settled)...)
	}
	for _, state := range e.Facts.BlocksChildren {
		add("BlocksChildren", state.Path, slices.Concat(state.States, state.Settled)...)
	}
	for _, state := range e.Facts.Stopped {
		add("Stopped", state.Path, state.State)
	}
	for _, check := range e.Facts.Checks {
		if !check.Owner {
			add("Checks", check.Path, slices.Concat(check.States, check.Settled)...)
		}
	}
	return found
}

// factNames returns the names of the stated facts.
func factNames(f extensions.Facts) []string {
	var names []string
	value := reflect.ValueOf(f)
	for i := range value.NumField() {
		if !value.Field(i).IsZero() {
			names = append(names, value.Type().Field(i).Name)
		}
	}
	slices.Sort(names)
	return names
}

// Facts returns the facts about a type: of the entries, and of sources that may change.
func (r *Registry) Facts(resourceType string) extensions.Facts {
	facts := r.entryFacts(resourceType)
	for _, entry := range r.sources {
		if source, ok := entry.Link.(FactSource); ok && (entry.Type == extensions.AllTypes || strings.EqualFold(entry.Type, resourceType)) {
			facts = facts.With(source.Facts(resourceType))
		}
	}
	return facts
}
