package drift

import (
	"strings"

	"github.com/armature-io/armature/internal/jsontree"
	"github.com/armature-io/armature/resource"
)

// The reasons why a GET does not show a value. Without a baseline such a value
// counts as equal; with one, a change of desired is detected.
const (
	hiddenSecret    = "secret"
	hiddenWriteOnly = "write-only"
	hiddenDefault   = "default"
	hiddenProxy     = "proxy-location"
	// hiddenUnverified is a value in a part that could not be read.
	hiddenUnverified = "unverified"
)

// hiddenRule returns the reason why a GET does not show the value, or "" if it
// does.
func hiddenRule(p cursor) string {
	switch {
	case p.subject.parts.unverified(p.path) && !p.subject.parts.around(p.path):
		return hiddenUnverified
	case isSecret(p), isPublishedSecret(p):
		return hiddenSecret
	case p.subject.parts.around(p.path):
		return ""
	case !p.absent() || len(p.path) == 0:
		return ""
	case isWriteOnly(p):
		return hiddenWriteOnly
	case isOmittedDefault(p):
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

// hiddenMembers returns the reason why a GET shows no member of an absent object,
// or "".
func hiddenMembers(p cursor, object map[string]any) string {
	reason := ""
	for name := range jsontree.Names(object) {
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

// isSecret reports whether the value is a secret. A $secret marker has no value to
// compare, and in place of a secret a GET returns a mask, a placeholder or nothing.
// A resource ID under such a name is no secret, and a plain "key" that is shown is
// the key of a map.
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

// isPublishedSecret reports whether the type publishes the value as a secret and the
// GET does not show it.
func isPublishedSecret(p cursor) bool {
	return (p.absent() || resource.Masked(p.observed)) && p.subject.marks.Sensitive.Cover(p.path)
}

// isWriteOnly reports whether the property is sent but never returned: the published
// shape of the type marks it, or a PropertyFact does. Another request returns a Part.
func isWriteOnly(p cursor) bool {
	return p.subject.marks.WriteOnly.Cover(p.path) && p.subject.parts.of(p.path) == nil ||
		p.subject.hasProperty(p.path, func(f PropertyFact) bool { return f.WriteOnly })
}

// isLocationOfProxy reports whether the value is the location of a proxy resource.
// Only tracked resources have a location, which is fixed at creation. A resource
// without a location in its GET is a proxy resource, which ignores the one in the
// PUT.
func isLocationOfProxy(p cursor) bool {
	return len(p.path) == 1 && strings.EqualFold(p.path[0].Name, "location") && p.subject.read
}

// pattern returns a path in lower case: every element "[]".
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
