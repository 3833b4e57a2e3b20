package manifest

import (
	"strings"

	"github.com/armature-io/armature/resource"
)

// checkInline refuses a body that defines an item inline which is also a manifest
// (a subnet in its vnet): the two would overwrite each other.
func (l *loader) checkInline() {
	for _, child := range l.drafts {
		id := child.desired.ID
		if id.IsZero() || !id.IsChild() {
			continue
		}
		parent := l.byID[id.Owner().Key()]
		if parent == nil {
			continue
		}
		body := parent.root.get("body")
		start := resource.Path{{Name: "body"}}
		l.checkInlineIn(parent, child, body, start)
		for _, f := range bodyFields(body) {
			if strings.EqualFold(f.name, "properties") {
				l.checkInlineIn(parent, child, f.value, start.With(resource.Step{Name: f.name}))
			}
		}
	}
}

func bodyFields(n *node) []field {
	if n == nil {
		return nil
	}
	return n.fields
}

// checkInlineIn searches the lists of an object of the parent for the child.
func (l *loader) checkInlineIn(parent, child *draft, object *node, path resource.Path) {
	for _, f := range bodyFields(object) {
		if !listOf(f.name, child.lastType()) {
			continue
		}
		for i, item := range f.value.items {
			name, id := item.textOf("name"), item.textOf("id")
			if !strings.EqualFold(name, child.desired.ID.Name()) && !strings.EqualFold(id, child.desired.ID.String()) {
				continue
			}
			at := cursor{path: path.With(resource.Step{Name: f.name})}.item(i, item)
			l.at(parent, item.position, at.path.String(), "defines %s inline, which the manifest in %s also defines; keep one of the two", child.desired.ID.Short(), child.source())
		}
	}
}

// listOf reports whether a property is the list of the parent's children of a type:
// named like the type (subnets), or its singular with Profiles (agentPoolProfiles
// of agentPools).
func listOf(property, lastType string) bool {
	singular := strings.TrimSuffix(strings.ToLower(lastType), "s")
	property = strings.ToLower(property)
	return property == strings.ToLower(lastType) || property == singular+"profiles"
}
