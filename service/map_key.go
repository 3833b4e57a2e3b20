package service

import (
	"slices"
	"strings"
)

// mapKey is one string for a map, the same in whatever order the map has its
// entries.
func mapKey[T string | []byte](entries map[string]T) string {
	names := make([]string, 0, len(entries))
	size := 0
	for name, value := range entries {
		names = append(names, name)
		size += len(name) + len(value) + 2
	}
	slices.Sort(names)
	var key strings.Builder
	key.Grow(size)
	for _, name := range names {
		key.WriteString(name)
		key.WriteByte(0)
		key.WriteString(string(entries[name]))
		key.WriteByte(0)
	}
	return key.String()
}
