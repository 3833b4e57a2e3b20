package author

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/types"
	"go.yaml.in/yaml/v3"
)

// Members of a body that ARM's contract gives every resource.
const (
	locationMember   = "location"
	propertiesMember = "properties"
)

// location is the placeholder of a location.
const location = "westus2"

// maxComment is the length of a comment behind a value, in characters.
const maxComment = 90

// Skeleton returns the skeleton of a shape as YAML. name is the resource's name, "" for
// a placeholder.
func Skeleton(shape *types.Shape, name string) (string, error) {
	if shape.Writable == 0 && shape.Readable != 0 {
		return "", fmt.Errorf("%s@%s cannot be created by a PUT, so no manifest can have it", shape.Type, shape.Version)
	}
	root := &yaml.Node{Kind: yaml.MappingNode}
	add(root, "type", text(shape.Type+"@"+shape.Version))
	nameNode := text(name)
	if name == "" {
		nameNode = nameOf(shape)
	}
	add(root, "name", nameNode)
	owner, what := ownerOf(shape)
	add(root, "owner", text(owner))
	root.Content[len(root.Content)-2].HeadComment = "# " + what
	w := &skeletonWriter{}
	add(root, "body", w.body(shape.Named(nameNode.Value)))
	var out bytes.Buffer
	fmt.Fprintf(&out, "# The required properties of %s.\n# Replace the placeholders; `armature explain %s` lists what else a body can state.\n", shape.Type, shape.Type)
	encoder := yaml.NewEncoder(&out)
	encoder.SetIndent(2)
	if err := encoder.Encode(root); err != nil {
		return "", fmt.Errorf("write the skeleton of %s: %w", shape.Type, err)
	}
	return out.String(), nil
}

func text(value string) *yaml.Node {
	n := &yaml.Node{}
	n.SetString(value)
	return n
}

func scalar(tag, value string) *yaml.Node {
	return &yaml.Node{Kind: yaml.ScalarNode, Tag: tag, Value: value}
}

func add(mapping *yaml.Node, name string, value *yaml.Node) {
	key := text(name)
	if value.Kind != yaml.ScalarNode && len(value.Content) > 0 {
		// yaml.v3 writes the comment of a block behind its last line.
		key.LineComment, value.LineComment = value.LineComment, ""
	}
	mapping.Content = append(mapping.Content, key, value)
}

// comment sets the comment behind a value, cut to a line.
func comment(n *yaml.Node, words string) *yaml.Node {
	if runes := []rune(words); len(runes) > maxComment {
		words = strings.TrimRight(string(runes[:maxComment-4]), " ,|;") + " ..."
	}
	if words != "" {
		n.LineComment = "# " + words
	}
	return n
}

// skeletonWriter writes the values of a body.
type skeletonWriter struct {
	ancestors []*types.Node
	// rights and under are the rules of package resource for values that are secrets
	// by the names of properties above them.
	rights, under bool
}

// body returns the body: its required members, its location, and its properties, which
// nearly every resource needs although few types require them.
func (w *skeletonWriter) body(shape *types.Shape) *yaml.Node {
	n := shape.Body
	return w.object(n, func(p types.Property) bool {
		switch p.Name {
		case "id", "name", "type", "apiVersion":
			return false
		case locationMember:
			return true
		case propertiesMember:
			return p.Has(types.Required) || p.Type.Kind == types.Discriminated || p.Type.Kind == types.Object && stateable(p.Type)
		}
		return p.Has(types.Required)
	})
}

// stateable reports whether an object has anything that a manifest can state.
func stateable(n *types.Node) bool {
	return n.Additional != nil || slices.ContainsFunc(n.Properties, func(p types.Property) bool { return !p.Has(types.ReadOnly) })
}

func isRequired(p types.Property) bool { return p.Has(types.Required) }

// object returns the properties of an object, or of the first form of a discriminated
// one, that wanted chooses. Read-only ones are never stated.
func (w *skeletonWriter) object(n *types.Node, wanted func(types.Property) bool) *yaml.Node {
	mapping := &yaml.Node{Kind: yaml.MappingNode}
	if slices.Contains(w.ancestors, n) { // only a published contradiction requires itself
		mapping.Style = yaml.FlowStyle
		return mapping
	}
	w.ancestors = append(w.ancestors, n)
	defer func() { w.ancestors = w.ancestors[:len(w.ancestors)-1] }()
	var optional []string
	for _, p := range properties(n) {
		switch {
		case p.Has(types.ReadOnly):
		case !wanted(p) && p.Name != n.Discriminator:
			optional = append(optional, p.Name)
		default:
			value := w.property(n, p)
			add(mapping, p.Name, value)
		}
	}
	if len(mapping.Content) == 0 {
		mapping.Style = yaml.FlowStyle
		if len(optional) > 0 {
			comment(mapping, "optional: "+strings.Join(optional, ", "))
		}
	}
	return mapping
}

// properties returns the members of an object; of a discriminated one its
// discriminator first and the members of its first form.
func properties(n *types.Node) []types.Property {
	if len(n.Variants) == 0 {
		return byImportance(n.Properties)
	}
	first := n.Variants[0].Value
	rest := slices.DeleteFunc(n.Form(first).Properties, func(p types.Property) bool { return p.Name == n.Discriminator })
	discriminator := types.Property{Name: n.Discriminator, Flags: types.Required, Type: &types.Node{Kind: types.Literal, Name: first}}
	return append([]types.Property{discriminator}, byImportance(rest)...)
}

// byImportance returns properties by name, the ARM members that people read first before
// and those that are long behind the others.
func byImportance(list []types.Property) []types.Property {
	order := map[string]int{locationMember: -3, "kind": -2, "sku": -1, propertiesMember: 1}
	list = slices.Clone(list)
	slices.SortStableFunc(list, func(a, b types.Property) int { return order[a.Name] - order[b.Name] })
	return list
}

// property returns the value of a property with its comment.
func (w *skeletonWriter) property(parent *types.Node, p types.Property) *yaml.Node {
	defer func(rights, under bool) { w.rights, w.under = rights, under }(w.rights, w.under)
	secret := p.Type.Sensitive || !w.rights && resource.SecretProperty(p.Name, resource.Surroundings{Under: w.under, Has: parent.Has})
	w.rights = w.rights || resource.RightsName(p.Name)
	w.under = w.under || resource.SecretName(p.Name)
	if secret && isScalar(p.Type) {
		return secretOf(p)
	}
	if p.Name == parent.Discriminator {
		var forms []string
		for _, v := range parent.Variants[1:] {
			forms = append(forms, v.Value)
		}
		if len(forms) == 0 {
			return text(p.Type.Name)
		}
		return comment(text(p.Type.Name), "or another form: "+strings.Join(forms, " | "))
	}
	if p.Name == locationMember && p.Type.Kind == types.Text {
		return text(location)
	}
	return w.value(p)
}

func isScalar(n *types.Node) bool {
	switch n.Kind {
	case types.Text, types.Literal, types.Union, types.Integer:
		return true
	}
	return false
}

// secretOf returns a marker for a secret, with a variable named after the property.
func secretOf(p types.Property) *yaml.Node {
	marker := &yaml.Node{Kind: yaml.MappingNode, Style: yaml.FlowStyle}
	marker.Content = append(marker.Content, text(resource.SecretMarker), text("env:ARMATURE_SECRET_"+upperSnake(p.Name)))
	return marker
}

// upperSnake returns adminPassword as ADMIN_PASSWORD, with letters, digits and _ only.
func upperSnake(name string) string {
	var b strings.Builder
	lower := false
	for _, r := range name {
		switch {
		case r >= 'A' && r <= 'Z':
			if lower {
				b.WriteByte('_')
			}
			b.WriteRune(r)
		case r >= 'a' && r <= 'z' || r >= '0' && r <= '9':
			b.WriteString(strings.ToUpper(string(r)))
		default:
			b.WriteByte('_')
		}
		lower = r >= 'a' && r <= 'z' || r >= '0' && r <= '9'
	}
	return b.String()
}

// value returns a placeholder of the right kind.
func (w *skeletonWriter) value(p types.Property) *yaml.Node {
	n := p.Type
	switch n.Kind {
	case types.Boolean:
		return scalar("!!bool", "false")
	case types.Integer:
		return comment(scalar("!!int", fmt.Sprint(number(n.Bounds))), Detail(p))
	case types.Literal:
		return text(n.Name)
	case types.Union:
		if values, _ := n.Values(); len(values) > 0 {
			words := Detail(p)
			if len(values) == 1 && words == values[0] {
				words = ""
			}
			// A placeholder deletes nothing.
			first := max(0, slices.IndexFunc(values, func(value string) bool { return value != "delete" }))
			return comment(text(values[first]), words)
		}
		return text(placeholder)
	case types.Text:
		return comment(text(textFor(n.Bounds)), Detail(p))
	case types.List:
		return w.list(p)
	case types.Object, types.Discriminated:
		if n.Kind == types.Object && len(n.Properties) == 0 {
			return comment(flow(yaml.MappingNode), "a "+Kind(p))
		}
		return w.object(n, isRequired)
	}
	return comment(flow(yaml.MappingNode), Kind(p))
}

func flow(kind yaml.Kind) *yaml.Node { return &yaml.Node{Kind: kind, Style: yaml.FlowStyle} }

// list returns a list with as many items as its bounds require.
func (w *skeletonWriter) list(p types.Property) *yaml.Node {
	n := p.Type
	words := "a " + Kind(p)
	if detail := Detail(p); detail != "" {
		words += "; " + detail
	}
	if n.Bounds == nil || n.Bounds.Min == nil || *n.Bounds.Min == 0 || slices.Contains(w.ancestors, n) {
		return comment(flow(yaml.SequenceNode), words)
	}
	list := &yaml.Node{Kind: yaml.SequenceNode}
	w.ancestors = append(w.ancestors, n)
	defer func() { w.ancestors = w.ancestors[:len(w.ancestors)-1] }()
	for range *n.Bounds.Min {
		list.Content = append(list.Content, w.value(types.Property{Name: p.Name, Type: n.Item}))
	}
	return comment(list, words)
}

// number returns a number within bounds, 1 if it can.
func number(b *types.Bounds) int64 {
	value := int64(1)
	if b != nil && b.Min != nil {
		value = max(value, *b.Min)
	}
	if b != nil && b.Max != nil {
		value = min(value, *b.Max)
	}
	return value
}
