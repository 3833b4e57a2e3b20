package extensionshare

import (
	"path"
	"strings"
)

// Patterns returns the types of the entries that apply to a type, both in lower case: for all
// types, its provider (microsoft.compute/*), its last segment (*/snapshots), and itself.
func Patterns(resourceType string) []string {
	provider, _, _ := strings.Cut(resourceType, "/")
	return []string{"*", provider + "/*", "*/" + path.Base(resourceType), resourceType}
}
