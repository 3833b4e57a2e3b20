package types

import (
	"slices"
	"strings"
)

// createMode is the last word of the names of properties that select how a resource is
// made: new, or from a backup, a deleted or another resource.
const createMode = "createmode"

// restoreWords begin the names of the properties beside a createMode that name a backup or
// a deleted resource; sourceWord begins those that name the resource to copy, where
// createMode has one of the copyWords among its values.
var (
	restoreWords = [...]string{"restor", "recoverable", "recoveryservices", "recoverypoint", "pointintime", "longtermretention", "replicaparameters"}
	copyWords    = [...]string{"copy", "pointintime", "replica"}
)

const sourceWord = "source"

// OneShotOf returns the properties of a type that only its creation uses, in the form of
// Walk: a createMode with what it needs beside it, and the flag restore, with which some
// services ignore everything else. A service refuses them for a resource that exists, or
// makes it again. A property that the api-version requires is none. It returns nil if the
// type is not published.
func OneShotOf(name, version string) *Paths {
	all := directory()
	t, found := all.find(name)
	if !found {
		return nil
	}
	at, _ := t.nearest(strings.ToLower(version))
	key := t.key + "@" + t.versions[at].name
	if known, ok := all.oneShot.Load(key); ok {
		paths, _ := known.(*Paths)
		return paths
	}
	var paths *Paths
	if shape := t.provider.resource(t.versions[at].resource); shape != nil {
		paths = shape.oneShot()
	}
	all.oneShot.Store(key, paths)
	return paths
}

func (s *Shape) oneShot() *Paths {
	paths := &Paths{}
	beside := map[string][][]string{}
	modes := map[string]Property{}
	s.Walk(func(path []string, p Property) bool {
		parent, name := strings.Join(path[:len(path)-1], "\x00"), path[len(path)-1]
		switch {
		case p.Has(ReadOnly):
			return false
		case p.Has(Required):
		case name == "restore" && p.Type.Kind == Boolean:
			paths.add(path)
		case strings.HasSuffix(name, createMode):
			paths.add(path)
			modes[parent] = p
		case strings.HasPrefix(name, sourceWord), slices.ContainsFunc(restoreWords[:], func(word string) bool { return strings.HasPrefix(name, word) }):
			beside[parent] = append(beside[parent], slices.Clone(path))
		}
		return true
	})
	for parent, found := range beside {
		mode, has := modes[parent]
		for _, path := range found {
			if has && (!strings.HasPrefix(path[len(path)-1], sourceWord) || mode.copies()) {
				paths.add(path)
			}
		}
	}
	return paths.orNil()
}

// copies reports whether a value of a createMode makes a resource from another one.
func (p Property) copies() bool {
	values, _ := p.Type.Values()
	return slices.ContainsFunc(values, func(value string) bool {
		return slices.ContainsFunc(copyWords[:], func(word string) bool { return strings.Contains(strings.ToLower(value), word) })
	})
}
