package drift

import (
	_ "embed"
	"strings"
	"sync"

	"github.com/armature-io/armature/resource"
)

// The reasons for which a GET says nothing about a place. Without memory such a
// place is taken as it is; with one, a change of desired is seen.
const (
	hiddenSecret    = "secret"
	hiddenWriteOnly = "write-only"
	hiddenDefault   = "default"
	hiddenProxy     = "proxy-location"
)

// unseen is the reason for which no comparison with observed can tell anything
// about a place; "" where one can.
func hiddenRule(p cursor) string {
	switch {
	case isSecret(p):
		return hiddenSecret
	case !p.absent() || len(p.path) == 0:
		return ""
	case isWriteOnly(p):
		return hiddenWriteOnly
	case isDefaultLeftOut(p):
		return hiddenDefault
	case isLocationOfProxy(p):
		return hiddenProxy
	}
	object, isMap := p.desired.(map[string]any)
	if !isMap || p.userDefined {
		return ""
	}
	return hiddenMembers(p, object)
}

// hiddenMembers is the reason when an absent object holds nothing that a GET
// would show.
func hiddenMembers(p cursor, object map[string]any) string {
	reason := ""
	for name := range inOrder(object) {
		member := p.at(resource.Step{Name: name}, object[name], nil, false)
		if isUnset(member.desired) {
			continue
		}
		found := hiddenRule(member)
		if found == "" {
			return ""
		}
		reason = found
	}
	return reason
}

// isSecret: a $secret marker has no value to compare, and what a GET shows in
// place of a secret is a mask, a placeholder or nothing. A resource ID under such
// a name is no secret, and a plain "key" that is shown is one of a map.
func isSecret(p cursor) bool {
	if isMarker(p.desired) {
		return true
	}
	text, isText := p.desired.(string)
	if !isText || p.userDefined || p.rights || isFullID(text) {
		return false
	}
	name := lastName(p.path)
	if !resource.SecretName(name) {
		return false
	}
	shown, isShown := p.observed.(string)
	plain := strings.EqualFold(name, "key") || strings.EqualFold(name, "keys")
	return !plain || p.absent() || !isShown || resource.Masked(shown)
}

// isWriteOnly: the published description of the type says that the property is
// sent and never shown.
func isWriteOnly(p cursor) bool {
	for end := len(p.path); end > 0 && len(p.subject.writeOnly) > 0; end-- {
		if p.subject.writeOnly[pattern(p.path[:end])] {
			return true
		}
	}
	return false
}

// isLocationOfProxy: only tracked resources have a location, and none can be
// changed after the creation. A resource whose GET has none at the top is a
// proxy resource, which ignores the one that was sent.
func isLocationOfProxy(p cursor) bool {
	return len(p.path) == 1 && strings.EqualFold(p.path[0].Name, "location") && p.subject.read
}

// pattern is a path as writeonly.txt has it: lower case, every element "[]".
func pattern(path resource.Path) string {
	var b strings.Builder
	for i, step := range path {
		if i > 0 {
			b.WriteByte('.')
		}
		if step.Name == "" {
			b.WriteString("[]")
			continue
		}
		b.WriteString(strings.ToLower(step.Name))
	}
	return b.String()
}

// writeOnlyText has one line for each type: the type, then the paths of its
// write-only properties, in lower case. docs/drift.md says where it comes from.
//
//go:embed writeonly.txt
var writeOnlyText string

var writeOnlyTable = sync.OnceValue(func() map[string]string {
	table := make(map[string]string)
	for line := range strings.Lines(writeOnlyText) {
		if resourceType, paths, found := strings.Cut(strings.TrimSpace(line), " "); found && resourceType != "#" {
			table[resourceType] = paths
		}
	}
	return table
})

func writeOnlyOf(resourceType string) map[string]bool {
	paths, known := writeOnlyTable()[strings.ToLower(resourceType)]
	if !known {
		return nil
	}
	set := make(map[string]bool)
	for path := range strings.FieldsSeq(paths) {
		set[path] = true
	}
	return set
}
