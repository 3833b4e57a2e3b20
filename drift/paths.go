package drift

import (
	"slices"
	"strings"

	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/types"
)

// lastName returns the last property name of a path: for an element, the name of
// its list.
func lastName(path resource.Path) string {
	for i := len(path) - 1; i >= 0; i-- {
		if path[i].Name != "" {
			return path[i].Name
		}
	}
	return ""
}

// hasUserDefinedKeys reports whether users choose the keys and values below a
// property: tags, labels, settings and similar, also appSettings and nodeLabels.
// There every letter counts.
func hasUserDefinedKeys(name string) bool {
	lower := strings.ToLower(name)
	for _, word := range [...]string{"tags", "labels", "annotations", "settings", "metadata", "parameters", "variables", "env"} {
		if strings.HasSuffix(lower, word) {
			return true
		}
	}
	return false
}

// isUserDefined reports whether users choose the keys and values at or below a path.
func isUserDefined(path resource.Path) bool {
	return slices.ContainsFunc(path, func(s resource.Step) bool { return hasUserDefinedKeys(s.Name) })
}

// hasFixedMembers reports whether all properties of a path whose names suggest keys of users
// are published with fixed members.
func (s *subject) hasFixedMembers(path resource.Path) bool {
	shape := types.Lookup(s.resourceType, s.apiVersion)
	if shape == nil {
		return false
	}
	for i, step := range path {
		if !hasUserDefinedKeys(step.Name) {
			continue
		}
		found, free := shape.Find(path[:i+1])
		if free || len(found) == 0 || slices.ContainsFunc(found, func(p types.Property) bool { return !p.Type.HasFixedMembers() }) {
			return false
		}
	}
	return true
}

// isUserText reports whether the value at a path is a name or text that users
// choose, so that its case counts. Azure defines the names of SKUs.
func isUserText(path resource.Path) bool {
	lower := strings.ToLower(lastName(path))
	for _, word := range [...]string{
		"name", "names", "value", "values", "description", "title", "text", "path", "prefix", "suffix",
		"login", "user", "password", "secret", "key", "keys", "token", "string", "query", "script", "command", "args",
	} {
		if strings.HasSuffix(lower, word) {
			return !belowSKU(path)
		}
	}
	return false
}

func belowSKU(path resource.Path) bool {
	return len(path) >= 2 && strings.EqualFold(path[len(path)-2].Name, "sku")
}

// filledByServer reports whether an empty object only states existence and Azure
// fills it: a value with a resource ID as key (identity.userAssignedIdentities),
// and the properties of a resource.
func filledByServer(p cursor) bool {
	if len(p.path) == 0 {
		return true
	}
	last := p.path[len(p.path)-1].Name
	return isFullID(last) || len(p.path) == 1 && strings.EqualFold(last, "properties")
}
