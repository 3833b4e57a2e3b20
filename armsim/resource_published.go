package armsim

import (
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/armature-io/armature/armsim/published"
)

// readShape sets the published shape of the request's body. A shape that depends on the
// resource's name is the one for that name.
func (q *request) readShape() *response {
	shape, err := shapeOf(q.resourceType, q.apiVersion, q.target.name())
	if err != nil {
		return armError(http.StatusInternalServerError, "InternalServerError", "%v", err)
	}
	q.shape = shape
	return nil
}

// shapeOf returns the published shape of a resource; nil if there is none.
func shapeOf(resourceType, apiVersion, name string) (*published.Node, error) {
	t, err := published.Lookup(resourceType, apiVersion)
	switch {
	case err != nil || t == nil:
		return nil, err
	case t.Body.Kind != published.Variants || t.Body.Discriminator != "name":
		return t.Body, nil
	}
	variant := t.Body.Variant(name)
	if variant == nil {
		return nil, nil
	}
	return &published.Node{Kind: published.Object, Name: variant.Name, Fields: slices.Concat(t.Body.Fields, variant.Fields)}, nil
}

// keepPublished returns the part of a sent body that the server keeps. Most providers
// drop properties that they do not know, without a word (the maintainers of ARM in
// Azure/arm-template-whatif#96), and ignore read-only ones, whose stored values stay.
// Properties are recognized in any letter case and shown as published: a recorded
// Microsoft.ApiManagement/service/authorizationProviders was sent with ResourceUri and
// shows resourceUri.
func keepPublished(shape *published.Node, sent, stored object) object {
	if shape == nil {
		return sent
	}
	kept, isObject := keepValue(shape, sent, stored).(object)
	if !isObject {
		return sent
	}
	// It has rules of its own: checkWrite compares it, and store replaces it.
	if state := text(sent, "properties.provisioningState"); state != "" {
		properties(kept)["provisioningState"] = state
	}
	return kept
}

// keepValue returns what the server keeps of a value. A value whose kind is not the
// published one is kept as it is.
func keepValue(n *published.Node, sent, stored any) any {
	switch v := sent.(type) {
	case object:
		if fields, known := fieldsOf(n, v); known {
			old, _ := stored.(object)
			return fields.keep(v, old)
		}
	case []any:
		if n.Kind == published.List {
			kept := make([]any, len(v))
			for i := range v {
				kept[i] = keepValue(n.Item, v[i], nil)
			}
			return kept
		}
	}
	return sent
}

// fieldSet contains the properties of an object.
type fieldSet struct {
	name       string // of the object, as published
	nodes      []*published.Node
	additional *published.Node // of further members; nil if there are none
}

// fieldsOf returns the properties that an object may have. It returns false for other
// kinds, and if the object does not select one of the published variants.
func fieldsOf(n *published.Node, value object) (fieldSet, bool) {
	switch n.Kind {
	case published.Object:
		return fieldSet{n.Name, []*published.Node{n}, n.Additional}, true
	case published.Variants:
		if variant := n.Variant(discriminatorOf(n, value)); variant != nil {
			return fieldSet{variant.Name, []*published.Node{variant, n}, variant.Additional}, true
		}
	}
	return fieldSet{}, false
}

// discriminatorOf returns the value that selects the variant, "" if there is none.
func discriminatorOf(n *published.Node, value object) string {
	for _, name := range slices.Sorted(maps.Keys(value)) {
		if strings.EqualFold(name, n.Discriminator) {
			selected, _ := value[name].(string)
			return selected
		}
	}
	return ""
}

// find returns the property with a name, in any letter case, or nil.
func (f fieldSet) find(name string) *published.Property {
	for _, node := range f.nodes {
		if field := node.Field(name); field != nil {
			return field
		}
	}
	return nil
}

// keep returns the known properties of an object, the stored values of read-only ones that were
// sent, and the write-only lists and maps of texts that were not: a client that sends back what a
// GET shows (az resource update) would remove them otherwise.
func (f fieldSet) keep(sent, stored object) object {
	kept := object{}
	for name, value := range stored {
		if field := f.find(name); field != nil && field.Flags&(published.WriteOnly|published.Required) == published.WriteOnly && field.Type.HoldsMore() {
			kept[field.Name] = clone(value)
		}
	}
	// Capitals sort first, so that the published spelling overwrites others.
	for _, name := range slices.Sorted(maps.Keys(sent)) {
		switch field := f.find(name); {
		case field == nil && f.additional != nil:
			kept[name] = keepValue(f.additional, sent[name], stored[name])
		case field == nil:
		case field.Flags&published.ReadOnly == 0:
			kept[field.Name] = keepValue(field.Type, sent[name], stored[field.Name])
		case stored[field.Name] != nil:
			kept[field.Name] = clone(stored[field.Name])
		}
	}
	return kept
}
