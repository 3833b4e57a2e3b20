package extensionhost

import (
	"slices"

	"github.com/armature-io/armature/extensions"
)

// ExtensionLists returns the entries with a list at one of the scopes, in their order.
func (r *Registry) ExtensionLists(at ...extensions.ListScope) []extensions.Entry {
	var entries []extensions.Entry
	for _, entry := range r.entries {
		if slices.Contains(at, entry.Facts.List.At) {
			entries = append(entries, entry)
		}
	}
	return entries
}
