package types

import (
	"iter"
	"slices"
	"strings"
	"sync"

	"github.com/armature-io/armature/internal/azuretypes"
	"github.com/armature-io/armature/internal/nearest"
)

// directory has the types of all providers; it is decoded at the first use.
var directory = sync.OnceValue(func() *index {
	x, err := readIndex(azuretypes.Packed())
	if err != nil {
		return &index{} // a test excludes it
	}
	return x
})

// index is the decoded directory of the data.
type index struct {
	providers []*provider
	// types are sorted by key.
	types []publishedType
	// marks, readOnly, oneShot and newer are derived from types at the first use, by key.
	marks, readOnly, oneShot, newer sync.Map
}

// publishedType is a type with its versions in ascending order.
type publishedType struct {
	key      string // lower case
	name     string // as published in the newest version
	provider *provider
	versions []publishedVersion
}

type publishedVersion struct {
	name     string
	writable bool
	// resource is the position in the resources of the provider's frame.
	resource int
}

// find returns a type by its name, ignoring case.
func (x *index) find(name string) (*publishedType, bool) {
	i, found := slices.BinarySearchFunc(x.types, strings.ToLower(name), func(t publishedType, key string) int { return strings.Compare(t.key, key) })
	if !found {
		return nil, false
	}
	return &x.types[i], true
}

// Lookup returns the shape of a type in an api-version, ignoring case. If the version
// is not published it returns the nearest earlier one, else the first one, and Exact is
// false. It returns nil if the type is not published.
func Lookup(name, version string) *Shape {
	t, found := directory().find(name)
	if !found {
		return nil
	}
	at, exact := t.nearest(strings.ToLower(version))
	shape := t.provider.resource(t.versions[at].resource)
	if shape != nil {
		shape.Exact = exact
	}
	return shape
}

// nearest returns the position of a version, or of the nearest earlier one.
func (t *publishedType) nearest(version string) (at int, exact bool) {
	at, exact = slices.BinarySearchFunc(t.versions, version, func(v publishedVersion, version string) int { return strings.Compare(v.name, version) })
	if !exact && at > 0 {
		at--
	}
	return at, exact
}

// Versions returns the published api-versions of a type, oldest first; none if the
// type is not published.
func Versions(name string) []string {
	t, found := directory().find(name)
	if !found {
		return nil
	}
	names := make([]string, len(t.versions))
	for i, v := range t.versions {
		names[i] = v.name
	}
	return names
}

// Newest returns the newest stable api-version in which a PUT can create the type,
// else the newest preview of that kind, else the newest version; "" if the type is not
// published.
func Newest(name string) string {
	t, found := directory().find(name)
	if !found {
		return ""
	}
	return t.newest().name
}

// newest returns the version that Newest names.
func (t *publishedType) newest() publishedVersion {
	preview := t.versions[len(t.versions)-1]
	for _, v := range slices.Backward(t.versions) {
		switch {
		case !v.writable:
		case !Preview(v.name):
			return v
		case !preview.writable:
			preview = v
		}
	}
	return preview
}

// Preview reports whether an api-version is not a stable one.
func Preview(version string) bool { return len(version) > len("2006-01-02") }

// Spelled returns the name of a type as published, ignoring the case of name; false if
// the type is not published.
func Spelled(name string) (string, bool) {
	t, found := directory().find(name)
	if !found {
		return "", false
	}
	return t.name, true
}

// writable reports whether a PUT can create the type in some version.
func (t *publishedType) writable() bool {
	return slices.ContainsFunc(t.versions, func(v publishedVersion) bool { return v.writable })
}

// Names returns the published types, sorted ignoring case. If writable is set it leaves
// out those that a PUT cannot create in any version.
func Names(writable bool) []string {
	var names []string
	for _, t := range directory().types {
		if !writable || t.writable() {
			names = append(names, t.name)
		}
	}
	return names
}

// Nearest returns the published type that a misspelled name stands for, or "": first
// among the types of the same provider, then among the same types of other providers.
func Nearest(name string) string {
	provider, rest, _ := strings.Cut(name, "/")
	all := directory()
	var siblings, namespaces []string
	for _, p := range all.providers {
		namespaces = append(namespaces, p.name)
	}
	known := slices.ContainsFunc(namespaces, func(n string) bool { return strings.EqualFold(n, provider) })
	if !known {
		provider = nearest.Match(provider, namespaces)
	}
	if provider == "" {
		return ""
	}
	if t, found := all.find(provider + "/" + rest); found {
		return t.name
	}
	prefix := strings.ToLower(provider) + "/"
	for _, t := range all.types {
		if strings.HasPrefix(t.key, prefix) {
			siblings = append(siblings, t.name[len(prefix):])
		}
	}
	if match := nearest.Match(rest, siblings); match != "" {
		return provider + "/" + match
	}
	return ""
}

// Child is a type that is nested in another one.
type Child struct {
	Type string
	// Names are the published names of such a child, for example "default"; none if
	// a resource has the name that its creator gives it.
	Names []string
	// Open is true if other names than Names are legal too.
	Open bool
	// Writable is true if a PUT can create it in some version.
	Writable bool
	// PathOnly is true for a type that is not published itself, and only a part of the
	// paths of others.
	PathOnly bool
}

// Children returns the types that are nested directly in a type, in their newest
// versions, sorted by type.
func Children(name string) []Child {
	var children []Child
	for t := range directory().children(name) {
		child := Child{Type: t.name, Open: true, Writable: t.writable()}
		if shape := t.provider.resource(t.versions[len(t.versions)-1].resource); shape != nil {
			child.Names, child.Open = shape.PublishedNames()
		}
		children = append(children, child)
	}
	return children
}

// Nested returns the children of a type, and those types nested in it that are only a part
// of the paths of published ones, sorted by type.
func Nested(name string) []Child {
	children := Children(name)
	prefix := strings.ToLower(name) + "/"
	for t := range directory().below(prefix) {
		segment, _, deeper := strings.Cut(t.name[len(prefix):], "/")
		part := t.name[:len(prefix)] + segment
		known := func(c Child) bool { return strings.EqualFold(c.Type, part) }
		if deeper && !slices.ContainsFunc(children, known) {
			children = append(children, Child{Type: part, PathOnly: true})
		}
	}
	slices.SortFunc(children, func(a, b Child) int { return strings.Compare(strings.ToLower(a.Type), strings.ToLower(b.Type)) })
	return children
}

// HasWritable reports whether a PUT can create a type that is nested in a type, at any
// depth.
func HasWritable(name string) bool {
	for t := range directory().below(strings.ToLower(name) + "/") {
		if t.writable() {
			return true
		}
	}
	return false
}

// IsParent reports whether types are nested in a type, at any depth. A type that is not
// published may be one.
func IsParent(name string) bool {
	all := directory()
	_, published := all.find(name)
	return !published || all.hasDescendants(name)
}

// IsPath reports whether a type is only a part of the paths of other types, without a
// resource that a GET could show: a location, and a type that is not published, or
// without a GET in any scope, while types that are nested in it are published.
func IsPath(name string) bool {
	if name = strings.ToLower(name); strings.HasSuffix(name, "/locations") {
		return true
	}
	if shape := Lookup(name, Newest(name)); shape != nil {
		return shape.Readable == 0 && IsParent(name)
	}
	return directory().hasDescendants(name)
}

// hasDescendants reports whether types are nested in a type, at any depth.
func (x *index) hasDescendants(name string) bool {
	prefix := strings.ToLower(name) + "/"
	at, _ := slices.BinarySearchFunc(x.types, prefix, func(t publishedType, key string) int { return strings.Compare(t.key, key) })
	return at < len(x.types) && strings.HasPrefix(x.types[at].key, prefix)
}

// children visits the types that are nested directly in a type.
func (x *index) children(name string) iter.Seq[*publishedType] {
	prefix := strings.ToLower(name) + "/"
	return func(yield func(*publishedType) bool) {
		for t := range x.below(prefix) {
			if !strings.Contains(t.key[len(prefix):], "/") && !yield(t) {
				return
			}
		}
	}
}

// below visits the types whose keys begin with a prefix.
func (x *index) below(prefix string) iter.Seq[*publishedType] {
	first, _ := slices.BinarySearchFunc(x.types, prefix, func(t publishedType, key string) int { return strings.Compare(t.key, key) })
	return func(yield func(*publishedType) bool) {
		for i := first; i < len(x.types) && strings.HasPrefix(x.types[i].key, prefix) && yield(&x.types[i]); i++ {
		}
	}
}
