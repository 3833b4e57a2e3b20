package convert

import (
	"strings"

	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/types"
)

// asoBody makes the body of a PUT of a spec. ASO leaves out the level "properties", replaces
// IDs by references to objects, and secrets by references to secrets of Kubernetes.
// Source: https://azure.github.io/azure-service-operator/design/.
type asoBody struct {
	*asoReader
	object *asoObject
}

// asoMembers are the members of a spec that are no part of the body.
var asoMembers = map[string]bool{"azureName": true, "owner": true, "operatorSpec": true, "originalVersion": true, "$propertyBag": true}

func (b *asoBody) body() *value {
	spec := b.object.spec.clone()
	kept := spec.fields[:0]
	for _, f := range spec.fields {
		if !asoMembers[f.name] {
			kept = append(kept, f)
		}
	}
	spec.fields = kept
	var node *types.Node
	if shape := types.Lookup(b.object.typ, b.object.version); shape != nil {
		node = shape.Named(b.object.id.Name()).Body
	}
	body := b.lift(spec, node, nil)
	if node == nil {
		b.note(b.object.line, "%s is not published, so that the members of %s may be at the wrong level", b.object.typ, b.object.name)
	}
	return body
}

// lift returns an object with its members where ARM has them.
func (b *asoBody) lift(v *value, node *types.Node, path resource.Path) *value {
	v = b.unwrap(v, node)
	lifted := &value{kind: object, line: v.line}
	for _, f := range v.fields {
		name, target := b.placed(f, node, len(path) == 0)
		at, below := lifted, path
		if target.below {
			below = path.With(resource.Step{Name: "properties"})
			at = lifted.get("properties")
			if at == nil {
				at = &value{kind: object, line: f.line}
				lifted.set("properties", at)
			}
		}
		member := b.member(f, target.node, below.With(resource.Step{Name: name}))
		if member == nil {
			continue
		}
		if at.get(name) != nil {
			b.fault(f.line, "%s: two members of the spec become %s", b.object.name, below.With(resource.Step{Name: name}))
			continue
		}
		at.set(name, member)
	}
	return lifted
}

// unwrap takes away the level with which ASO writes the forms of an object that has a
// discriminator: {continuous: {type: Continuous, ...}}.
func (b *asoBody) unwrap(v *value, node *types.Node) *value {
	if node == nil || node.Kind != types.Discriminated {
		return v
	}
	unwrapped := &value{kind: object, line: v.line}
	for _, f := range v.fields {
		variant := ""
		for _, candidate := range node.Variants {
			if strings.EqualFold(candidate.Value, f.name) && f.value.kind == object && !node.Has(f.name) {
				variant = candidate.Value
			}
		}
		if variant == "" {
			unwrapped.fields = append(unwrapped.fields, f)
			continue
		}
		unwrapped.fields = append(unwrapped.fields, f.value.fields...)
		if f.value.get(node.Discriminator) == nil {
			unwrapped.set(node.Discriminator, textValue(f.line, variant))
		}
	}
	return unwrapped
}

// place is where a member of a spec belongs: directly, or below "properties".
type place struct {
	node  *types.Node
	below bool
}

// placed returns the name of a member in ARM, and its place.
func (b *asoBody) placed(f field, node *types.Node, isRoot bool) (string, place) {
	names := armNames(f)
	for _, name := range names {
		if node == nil {
			break
		}
		if p, found := node.Property(name); found && !p.Has(types.ReadOnly) {
			return p.Name, place{node: p.Type}
		}
		if properties, found := node.Property("properties"); found {
			if p, found := properties.Type.Property(name); found && !p.Has(types.ReadOnly) {
				return p.Name, place{node: p.Type, below: true}
			}
		}
	}
	if node != nil && node.Additional != nil {
		return f.name, place{node: node.Additional}
	}
	// What is not published is most likely below properties, as nearly everything is.
	return names[0], place{below: isRoot && (node == nil || node.Has("properties"))}
}

// armNames returns the names that a member may have in ARM, the most likely first. A member
// whose name only ends like that of a reference, such as imageReference, keeps its name.
func armNames(f field) []string {
	if base, found := strings.CutSuffix(f.name, "FromConfig"); found && base != "" && f.value.textOf("name") != "" && f.value.textOf("key") != "" {
		return []string{base}
	}
	if base, isList := strings.CutSuffix(f.name, "References"); isList && base != "" && f.value.kind == list {
		return []string{f.name, base + "Ids", base + "s", base}
	}
	if f.value.kind != object || !isReference(f.name, f.value) {
		return []string{f.name}
	}
	if f.name == "reference" {
		return []string{"id"}
	}
	base := strings.TrimSuffix(f.name, "Reference")
	return []string{base + "Id", base, base + "ResourceId", base + "Uri"}
}

// member returns the value of a member as ARM has it; nil after a fault.
func (b *asoBody) member(f field, node *types.Node, path resource.Path) *value {
	v := f.value
	isObject := v.kind == object
	switch {
	case isObject && strings.HasSuffix(f.name, "FromConfig") && v.textOf("name") != "" && v.textOf("key") != "":
		return b.fromConfig(f, path)
	case isObject && isReference(f.name, v):
		return b.target(v, path)
	case isObject && isSecretReference(v, node):
		return &value{kind: secret, line: v.line}
	case v.kind == list && f.name == "userAssignedIdentities":
		return b.identities(v, path)
	case v.kind == list:
		read := &value{kind: list, line: v.line}
		for i, item := range v.items {
			below := path.With(resource.Step{Index: i, IsIndex: true})
			name := f.name
			if strings.HasSuffix(name, "References") {
				name = "reference"
			}
			if member := b.member(field{name: name, line: item.line, value: item}, itemOf(node), below); member != nil {
				read.items = append(read.items, member)
			}
		}
		return read
	case isObject:
		return b.lift(v, objectOf(node), path)
	}
	return v
}

func itemOf(node *types.Node) *types.Node {
	if node == nil {
		return nil
	}
	return node.Item
}

// objectOf returns a node that is an object, or the object among the elements of a union.
func objectOf(node *types.Node) *types.Node {
	if node == nil || node.Kind != types.Union {
		return node
	}
	for _, element := range node.Elements {
		if element.Kind == types.Object || element.Kind == types.Discriminated {
			return element
		}
	}
	return nil
}

// isReference reports whether a member names another object, or an ID.
func isReference(name string, v *value) bool {
	if name != "reference" && !strings.HasSuffix(name, "Reference") {
		return false
	}
	return v.textOf("armId") != "" || v.textOf("wellKnownName") != "" || v.textOf("kind") != "" && v.textOf("name") != ""
}

// isSecretReference reports whether a value is {name, key} where ARM has a text.
func isSecretReference(v *value, node *types.Node) bool {
	isText := node == nil || node.Kind == types.Text || node.Kind == types.Any || node.Sensitive
	return isText && len(v.fields) == 2 && v.textOf("name") != "" && v.textOf("key") != ""
}

// target returns the reference for the object that a member names.
func (b *asoBody) target(v *value, path resource.Path) *value {
	if id := v.textOf("armId"); id != "" {
		return textValue(v.line, id)
	}
	if role := v.textOf("wellKnownName"); role != "" {
		guid, found := builtInRoles[strings.ToLower(role)]
		if !found || b.object.id.Subscription() == "" {
			b.fault(v.line, "%s: %s: the ID of the role %q is not known; write armId in place of wellKnownName", b.object.name, path, role)
			return nil
		}
		return textValue(v.line, "/subscriptions/"+b.object.id.Subscription()+"/providers/Microsoft.Authorization/roleDefinitions/"+guid)
	}
	if o := b.find(b.object, v, ""); o != nil && !o.id.IsZero() {
		return &value{kind: reference, line: v.line, id: o.id}
	}
	b.fault(v.line, "%s: %s: %s %s is not in the files; add its file, or write armId", b.object.name, path, v.textOf("kind"), v.textOf("name"))
	return nil
}

// identities returns the map of ARM for the list of identities: {ID: {}}.
func (b *asoBody) identities(v *value, path resource.Path) *value {
	read := &value{kind: object, line: v.line}
	for i, item := range v.items {
		named := item.get("reference")
		if named == nil {
			b.fault(item.line, "%s: %s: an identity has no reference", b.object.name, path.With(resource.Step{Index: i, IsIndex: true}))
			continue
		}
		switch target := b.target(named, path); {
		case target == nil:
		case target.kind == reference:
			read.set(target.id.String(), &value{kind: object, line: item.line})
		default:
			read.set(target.text, &value{kind: object, line: item.line})
		}
	}
	return read
}
