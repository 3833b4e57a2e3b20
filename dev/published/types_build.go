package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"

	"github.com/armature-io/armature/types"
)

// node returns the node of a reference.
func (b *builder) node(r *typeReference) (*types.Node, error) {
	if r == nil || int(*r) < 0 || int(*r) >= len(b.nodes) {
		return nil, fmt.Errorf("a reference does not resolve")
	}
	if b.built[*r] != nil {
		return b.built[*r], nil
	}
	built := &types.Node{}
	b.built[*r] = built // a node may contain itself
	if err := b.build(b.nodes[*r], built); err != nil {
		return nil, err
	}
	b.built[*r] = b.intern(built)
	return b.built[*r], nil
}

// intern returns an equal node that exists already. Members are compared as pointers:
// a node that contains itself stays apart.
func (b *builder) intern(n *types.Node) *types.Node {
	content := *n
	content.Bounds = nil
	key := fmt.Sprintf("%v %v", content, boundsText(n.Bounds))
	if same, found := b.interned[key]; found {
		return same
	}
	b.interned[key] = n
	return n
}

func boundsText(bounds *types.Bounds) string {
	if bounds == nil {
		return ""
	}
	text := "pattern " + bounds.Pattern
	for _, n := range []*int64{bounds.Min, bounds.Max} {
		if n == nil {
			text += " -"
		} else {
			text += " " + strconv.FormatInt(*n, 10)
		}
	}
	return text
}

func (b *builder) build(from typeNode, n *types.Node) (err error) {
	n.Sensitive = from.Sensitive
	switch from.Kind {
	case "AnyType":
		n.Kind = types.Any
	case "BooleanType":
		n.Kind = types.Boolean
	case "StringType":
		n.Kind, n.Bounds = types.Text, boundsOf(from.MinLength, from.MaxLength, from.Pattern)
	case "StringLiteralType":
		n.Kind, n.Name = types.Literal, from.Value
	case "IntegerType":
		n.Kind, n.Bounds = types.Integer, boundsOf(from.MinValue, from.MaxValue, "")
	case "ArrayType":
		n.Kind, n.Bounds = types.List, boundsOf(from.MinLength, from.MaxLength, "")
		n.Item, err = b.node(from.Item)
	case "UnionType":
		n.Kind = types.Union
		n.Elements, err = b.elements(from.Elements)
	case "ObjectType":
		n.Kind, n.Name = types.Object, from.Name
		if n.Properties, err = b.properties(from.Properties); err == nil && from.Additional != nil {
			n.Additional, err = b.node(from.Additional)
		}
	case "DiscriminatedObjectType":
		n.Kind, n.Name, n.Discriminator = types.Discriminated, from.Name, from.Discriminator
		if n.Properties, err = b.properties(from.Base); err == nil {
			n.Variants, err = b.variants(from.Elements)
		}
	default:
		err = fmt.Errorf("unknown kind %q", from.Kind)
	}
	return err
}

func boundsOf(minimum, maximum *int64, pattern string) *types.Bounds {
	if minimum == nil && maximum == nil && pattern == "" {
		return nil
	}
	return &types.Bounds{Min: minimum, Max: maximum, Pattern: pattern}
}

func (b *builder) properties(from map[string]typeProperty) ([]types.Property, error) {
	properties := make([]types.Property, 0, len(from))
	for _, name := range slices.Sorted(maps.Keys(from)) {
		member, err := b.node(new(from[name].Type))
		if err != nil {
			return nil, err
		}
		properties = append(properties, types.Property{Name: name, Flags: types.Flags(from[name].Flags), Type: member})
	}
	return properties, nil
}

func (b *builder) elements(raw json.RawMessage) ([]*types.Node, error) {
	var references []typeReference
	if err := json.Unmarshal(raw, &references); err != nil {
		return nil, err
	}
	elements := make([]*types.Node, len(references))
	for i := range references {
		var err error
		if elements[i], err = b.node(&references[i]); err != nil {
			return nil, err
		}
	}
	return elements, nil
}

func (b *builder) variants(raw json.RawMessage) ([]types.Variant, error) {
	var references map[string]typeReference
	if err := json.Unmarshal(raw, &references); err != nil {
		return nil, err
	}
	var variants []types.Variant
	for _, value := range slices.Sorted(maps.Keys(references)) {
		n, err := b.node(new(references[value]))
		if err != nil {
			return nil, err
		}
		variants = append(variants, types.Variant{Value: value, Type: n})
	}
	return variants, nil
}
