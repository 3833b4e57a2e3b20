package author

import (
	"strings"

	"github.com/armature-io/armature/types"
)

// Entry is a type in a list. Its JSON names do not change.
type Entry struct {
	Type string `json:"type"`
	// Version is the newest version in which a PUT can create the type: stable if
	// there is one.
	Version  string   `json:"version"`
	Versions Versions `json:"versions"`
	Scopes   []string `json:"scopes"`
}

// ListTypes returns the published types that a pattern matches, ignoring case: those that
// contain it, or, if it contains "*", those that match it completely.
func ListTypes(pattern string) []Entry {
	var entries []Entry
	for _, name := range types.Names(false) {
		if !matches(strings.ToLower(pattern), strings.ToLower(name)) {
			continue
		}
		version := types.Newest(name)
		entry := Entry{Type: name, Version: version, Versions: VersionsOf(name)}
		if shape := types.Lookup(name, version); shape != nil {
			entry.Scopes = Scopes(shape.Writable)
		}
		entries = append(entries, entry)
	}
	return entries
}

// matches reports whether a name contains a pattern, or matches one with "*".
func matches(pattern, name string) bool {
	parts := strings.Split(pattern, "*")
	if len(parts) == 1 {
		return strings.Contains(name, pattern)
	}
	first, last := parts[0], parts[len(parts)-1]
	if !strings.HasPrefix(name, first) {
		return false
	}
	name = name[len(first):]
	for _, part := range parts[1 : len(parts)-1] {
		_, after, found := strings.Cut(name, part)
		if !found {
			return false
		}
		name = after
	}
	return strings.HasSuffix(name, last)
}
