package types

import (
	"maps"
	"slices"
	"strings"
	"sync"
)

// Marks are the properties of a type that are published as write-only or as secrets in
// any of its api-versions: many marks were added to the specifications late, and a
// property does not change its nature.
type Marks struct {
	WriteOnly, Sensitive *Paths
	// Sets are lists of texts and integers whose order has no meaning.
	Sets *Paths
}

// sequences are the names of lists of texts whose order has a meaning, in lower case: a text
// more or less in the midst of a command makes another command.
var sequences = [...]string{
	"args", "arguments", "argv", "command", "commands", "dockerargslist", "entrypoint", "firstlogoncommands",
	"inline", "jvmoptions", "layers", "regionorder", "scriptlines", "scripts", "x5c",
}

// isSet reports whether a property is a list whose order has no meaning.
func (p Property) isSet() bool {
	if p.Type.Kind != List || p.Type.Item == nil || slices.Contains(sequences[:], strings.ToLower(p.Name)) {
		return false
	}
	switch p.Type.Item.Kind {
	case Text, Literal, Integer, Union:
		return true
	}
	return false
}

// MarksOf returns the marks of a type, without those below a read-only property; the
// zero value if the type is not published. The first call for a type takes up to some
// milliseconds, each further one a lookup.
func MarksOf(name string) Marks {
	all := directory()
	return derive(all, &all.marks, name, (*publishedType).marks)
}

// ReadOnlyOf returns the properties of a type that Azure sets; nil if the type is not
// published. The newest api-version that has a property decides, because earlier
// specifications lack many marks, and a property that one of several variants makes
// writable is writable.
func ReadOnlyOf(name string) *Paths {
	all := directory()
	return derive(all, &all.readOnly, name, (*publishedType).readOnly)
}

// derive returns what compute derives from a type, once per type; the zero value if
// the type is not published.
func derive[T any](all *index, cache *sync.Map, name string, compute func(*publishedType) T) (derived T) {
	t, found := all.find(name)
	if !found {
		return derived
	}
	if known, ok := cache.Load(t.key); ok {
		derived, _ = known.(T)
		return derived
	}
	derived = compute(t)
	cache.Store(t.key, derived)
	return derived
}

func (t *publishedType) marks() Marks {
	writeOnly, sensitive, sets := &Paths{}, &Paths{}, &Paths{}
	for _, shape := range t.shapes() {
		shape.Walk(func(path []string, p Property) bool {
			if p.Has(WriteOnly) {
				writeOnly.add(path)
			}
			if p.Type.isSecret() {
				sensitive.add(path)
			}
			if p.isSet() {
				sets.add(path)
			}
			return !p.Has(ReadOnly)
		})
	}
	return Marks{Sets: sets.orNil(), WriteOnly: writeOnly.orNil(), Sensitive: sensitive.orNil()}
}

// isSecret reports whether a value, or each item of a list or map, is published as a
// secret.
func (n *Node) isSecret() bool {
	return n.Sensitive || n.Item != nil && n.Item.Sensitive || n.Additional != nil && n.Additional.Sensitive
}

func (t *publishedType) readOnly() *Paths {
	marked := map[string]bool{}
	for _, shape := range slices.Backward(t.shapes()) {
		here := map[string]bool{}
		shape.Walk(func(path []string, p Property) bool {
			key := strings.Join(path, ".")
			before, known := here[key]
			here[key] = p.Has(ReadOnly) && (before || !known)
			return !p.Has(ReadOnly)
		})
		maps.Copy(here, marked) // the newer version decides
		marked = here
	}
	paths := &Paths{}
	for key, readOnly := range marked {
		if readOnly {
			paths.add(strings.Split(key, "."))
		}
	}
	return paths.orNil()
}

// shapes returns the shapes of a type with different bodies, in the order of the newest
// api-version of each.
func (t *publishedType) shapes() []*Shape {
	var shapes []*Shape
	for _, version := range t.versions {
		if shape := t.provider.resource(version.resource); shape != nil {
			shapes = slices.DeleteFunc(shapes, func(s *Shape) bool { return s.Body == shape.Body })
			shapes = append(shapes, shape)
		}
	}
	return shapes
}
