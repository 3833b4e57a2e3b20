package convert

import (
	"slices"
	"strings"

	"github.com/armature-io/armature/resource"
)

// dropInline removes from bodies the items that are resources of the conversion themselves,
// such as the subnets of a network: as manifests the two would overwrite each other.
func (c *conversion) dropInline() {
	for _, child := range c.resources {
		parent := c.byKey[child.id.Owner().Key()]
		if parent == nil || !child.id.IsChild() {
			continue
		}
		for _, object := range []*value{parent.body, parent.body.get("properties")} {
			if object == nil {
				continue
			}
			for _, f := range slices.Clone(object.fields) {
				if IsListOf(f.name, child.id.Type()) {
					c.dropItem(parent, object, f, child.id)
				}
			}
		}
	}
}

// dropItem removes the item of a child from a list, and the list with its last item.
func (c *conversion) dropItem(parent *Resource, object *value, f field, id resource.ID) {
	kept := slices.DeleteFunc(slices.Clone(f.value.items), func(item *value) bool {
		same := strings.EqualFold(item.textOf("name"), id.Name()) || strings.EqualFold(item.textOf("id"), id.String())
		if same {
			c.noteOf(parent, item.line, "%s in the body of %s is left out: it is a manifest of its own", id.Short(), parent.id.Short())
		}
		return same
	})
	switch {
	case len(kept) == len(f.value.items):
	case len(kept) > 0:
		f.value.items = kept
	default:
		object.fields = slices.DeleteFunc(object.fields, func(other field) bool { return other.name == f.name })
	}
}

// IsListOf reports whether a property is the list of the parent's children of a type. It is
// the rule by which package manifest refuses an item that is a manifest too.
func IsListOf(property, childType string) bool {
	last := strings.ToLower(childType[strings.LastIndex(childType, "/")+1:])
	property = strings.ToLower(property)
	return property == last || property == strings.TrimSuffix(last, "s")+"profiles"
}
