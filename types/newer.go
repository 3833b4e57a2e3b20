package types

import (
	"slices"
	"strings"
)

// Newer is what the newest stable api-version of a type has beyond an older one.
type Newer struct {
	// Version is the newest one, "" if there is no newer one.
	Version string
	// Members are the writable properties that only Version has, without those below
	// them; nil for none. Secrets are not among them.
	Members *Paths
}

// NewerThan returns what a PUT in an api-version cannot state; the zero value if the
// version is the newest stable one, a later one, or not published.
func NewerThan(name, version string) Newer {
	all := directory()
	t, found := all.find(name)
	version = strings.ToLower(version)
	if !found || t.newest().name <= version {
		return Newer{}
	}
	at, exact := t.nearest(version)
	if !exact {
		return Newer{}
	}
	key := t.key + "@" + version
	if known, ok := all.newer.Load(key); ok {
		newer, _ := known.(Newer)
		return newer
	}
	newest := t.newest()
	newer := Newer{}
	old, next := t.provider.resource(t.versions[at].resource), t.provider.resource(newest.resource)
	if old != nil && next != nil && old.Body != next.Body {
		newer = Newer{Version: newest.name, Members: next.writableBeyond(old)}
	}
	if newer.Members == nil {
		newer = Newer{}
	}
	all.newer.Store(key, newer)
	return newer
}

// writableBeyond returns the writable properties that another shape does not have.
func (s *Shape) writableBeyond(other *Shape) *Paths {
	known, free := map[string]bool{}, []string{}
	other.Walk(func(path []string, p Property) bool {
		key := strings.Join(path, "\x00")
		known[key] = true
		if p.Type.Kind == Any {
			free = append(free, key+"\x00")
		}
		return true
	})
	beyond := &Paths{}
	s.Walk(func(path []string, p Property) bool {
		key := strings.Join(path, "\x00")
		switch {
		case p.Has(ReadOnly), p.Has(WriteOnly), p.Type.isSecret():
			return false
		case known[key]:
			return true
		case !slices.ContainsFunc(free, func(prefix string) bool { return strings.HasPrefix(key, prefix) }):
			beyond.add(path)
		}
		return false
	})
	return beyond.orNil()
}
