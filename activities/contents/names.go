package contents

import (
	"fmt"
	"strings"

	"github.com/armature-io/armature/resource"
)

// DisplayName returns the short name and the type of a resource.
func DisplayName(id resource.ID) string { return id.Short() + " (" + id.Type() + ")" }

// DisplayNames returns the display names of resources.
func DisplayNames(ids []resource.ID) []string {
	names := make([]string, 0, len(ids))
	for _, id := range ids {
		names = append(names, DisplayName(id))
	}
	return names
}

// NameAll names the first of the contents and counts the rest.
func NameAll(all []string) string {
	return NameFirst(all, len(all), len(all) >= maxCounted)
}

// NameFirst names the first resources of total ones and counts the rest; atLeast
// marks a count that was cut off.
func NameFirst(names []string, total int, atLeast bool) string {
	named := min(len(names), maxNamed)
	text := strings.Join(names[:named], ", ")
	switch more := total - named; {
	case atLeast:
		text += fmt.Sprintf(" and at least %d more", more)
	case more > 0:
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}
