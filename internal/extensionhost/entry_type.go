package extensionhost

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/armature-io/armature/extensions"
	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/types"
)

// typePattern matches an ARM type: a provider with a dot, then one name for each level.
var typePattern = regexp.MustCompile(`^[A-Za-z0-9]+(\.[A-Za-z0-9]+)+(/[A-Za-z0-9._-]+)+$`)

// factPattern matches the type of an entry with facts about all types of a provider
// (Microsoft.Compute/*), or about all types with a last segment (*/snapshots).
var factPattern = regexp.MustCompile(`^([A-Za-z0-9]+(\.[A-Za-z0-9]+)+/\*|\*/[A-Za-z0-9._-]+)$`)

// isFactPattern reports whether the type of an entry stands for several types.
func isFactPattern(name string) bool { return factPattern.MatchString(name) }

// exampleType is the type that messages show.
const exampleType = "Microsoft.Kusto/clusters"

// typeIssue returns what is wrong with the type of an entry, and what is meant, "" for a
// valid type. An entry of another form would never apply.
func typeIssue(name string) string {
	trimmed := strings.TrimSpace(name)
	id, err := resource.ParseID(trimmed)
	bare, version, versioned := strings.Cut(trimmed, "@")
	switch {
	case name == extensions.AllTypes:
		return ""
	case trimmed != name:
		return fmt.Sprintf("%q has blanks around it; write %q", name, trimmed)
	case strings.HasPrefix(name, "/") && err == nil:
		return fmt.Sprintf("%q is the ID of one resource; write its type %q", name, id.Type())
	case versioned:
		return fmt.Sprintf("%q has the api-version %s; an entry is for all versions: write %q", name, version, bare)
	case strings.HasSuffix(name, "/") || strings.HasPrefix(name, "/"):
		return fmt.Sprintf("%q begins or ends with a slash; write %q", name, strings.Trim(name, "/"))
	case strings.Contains(name, "*"):
		return fmt.Sprintf("%q is a pattern; write one entry for each type, or AllTypes", name)
	case !typePattern.MatchString(name):
		return fmt.Sprintf("%q is not a resource type such as %s", name, exampleType)
	}
	return ""
}

// unknownType returns a warning about a type that is not published, with the nearest one
// that is, "" for a published type. Azure has types that it does not publish.
func unknownType(name string) string {
	if name == extensions.AllTypes || isFactPattern(name) {
		return ""
	}
	if _, known := types.Spelled(name); known {
		return ""
	}
	text := "Armature knows no type " + name
	if meant := types.Nearest(name); meant != "" {
		text += " (did you mean " + meant + "?)"
	}
	return text + "; the entry applies only if Azure has it"
}
