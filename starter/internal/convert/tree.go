package convert

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/armature-io/armature/resource"
	"go.yaml.in/yaml/v3"
)

// kind is the kind of a value.
type kind uint8

const (
	null kind = iota
	object
	list
	text
	number
	boolean
	// reference is a resource ID, or with a path the observed value there.
	reference
	// secret is a placeholder of a secret, whose value is not kept.
	secret
)

// Bounds of a file, so that a small one cannot become a large tree.
const (
	maxValues = 1_000_000
	maxDepth  = 100
)

// value is a value of a source with the line where it starts. text is a text, or the JSON
// form of a number or boolean.
type value struct {
	kind   kind
	line   int
	text   string
	fields []field
	items  []*value
	// id and path are the target of a reference; version is the api-version to read it
	// with, "" if it is not known.
	id            resource.ID
	path, version string
	// plain marks a text that is no secret although its property has the name of one.
	plain bool
}

type field struct {
	name  string
	line  int
	value *value
}

func textValue(line int, s string) *value { return &value{kind: text, line: line, text: s} }

// get returns a member of an object, nil if it is absent. A nil value has none.
func (v *value) get(names ...string) *value {
	for _, name := range names {
		if v == nil {
			return nil
		}
		i := slices.IndexFunc(v.fields, func(f field) bool { return f.name == name })
		if i < 0 {
			return nil
		}
		v = v.fields[i].value
	}
	return v
}

// has reports whether an object has a member, ignoring case.
func (v *value) has(name string) bool {
	return slices.ContainsFunc(v.fields, func(f field) bool { return strings.EqualFold(f.name, name) })
}

// textOf returns the text of a member, "" if it is not a text.
func (v *value) textOf(names ...string) string {
	if member := v.get(names...); member != nil && member.kind == text {
		return member.text
	}
	return ""
}

// set adds a member to an object, or replaces it.
func (v *value) set(name string, member *value) {
	for i, f := range v.fields {
		if f.name == name {
			v.fields[i].value = member
			return
		}
	}
	v.fields = append(v.fields, field{name: name, line: member.line, value: member})
}

// isEmpty reports whether a value states nothing: absent, null, or an empty text, list or
// object.
func (v *value) isEmpty() bool {
	return v == nil || v.kind == null || v.kind == text && v.text == "" || (v.kind == object || v.kind == list) && len(v.fields)+len(v.items) == 0
}

// texts returns the texts of a list.
func (v *value) texts() []string {
	var found []string
	if v == nil {
		return nil
	}
	for _, item := range v.items {
		if item.kind == text {
			found = append(found, item.text)
		}
	}
	return found
}

// clone returns a copy that shares nothing.
func (v *value) clone() *value {
	c := *v
	c.fields, c.items = slices.Clone(v.fields), slices.Clone(v.items)
	for i := range c.fields {
		c.fields[i].value = c.fields[i].value.clone()
	}
	for i := range c.items {
		c.items[i] = c.items[i].clone()
	}
	return &c
}

// walk visits every value with its path, parents first; visit returns the value that
// takes its place.
func (v *value) walk(path resource.Path, visit func(path resource.Path, v *value) *value) *value {
	v = visit(path, v)
	for i := range v.fields {
		v.fields[i].value = v.fields[i].value.walk(path.With(resource.Step{Name: v.fields[i].name}), visit)
	}
	for i := range v.items {
		v.items[i] = v.items[i].walk(path.With(resource.Step{Index: i, IsIndex: true}), visit)
	}
	return v
}

// at returns the value at a path as manifest.Issue writes it, or the deepest one above.
func (v *value) at(path resource.Path) *value {
	for _, step := range path {
		var next *value
		switch {
		case step.IsIndex && step.Index < len(v.items):
			next = v.items[step.Index]
		case step.Key != "":
			for _, item := range v.items {
				if item.textOf(step.Key) == step.Value {
					next = item
					break
				}
			}
		case step.Name != "":
			next = v.get(step.Name)
		}
		if next == nil {
			return v
		}
		v = next
	}
	return v
}

// node returns a value as YAML. name returns the text by which a manifest names a
// resource.
func (v *value) node(name func(*value) string) *yaml.Node {
	switch v.kind {
	case object:
		node := &yaml.Node{Kind: yaml.MappingNode}
		if len(v.fields) == 0 {
			node.Style = yaml.FlowStyle
		}
		for _, f := range v.fields {
			node.Content = append(node.Content, textNode(f.name), f.value.node(name))
		}
		return node
	case list:
		node := &yaml.Node{Kind: yaml.SequenceNode}
		if len(v.items) == 0 {
			node.Style = yaml.FlowStyle
		}
		for _, item := range v.items {
			node.Content = append(node.Content, item.node(name))
		}
		return node
	case number:
		tag := "!!int"
		if strings.ContainsAny(v.text, ".eE") {
			tag = "!!float"
		}
		return &yaml.Node{Kind: yaml.ScalarNode, Tag: tag, Value: v.text}
	case boolean:
		return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!bool", Value: v.text}
	case text:
		if v.plain {
			return mapping(resource.PlainMarker, v.text)
		}
		return textNode(v.text)
	case reference:
		node := mapping(resource.RefMarker, name(v))
		if v.path != "" {
			node.Content = append(node.Content, textNode("path"), textNode(v.path))
		}
		return node
	case secret:
		return mapping(resource.SecretMarker, v.text)
	}
	return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!null", Value: "null"}
}

// mapping returns {name: value} on one line.
func mapping(name, text string) *yaml.Node {
	return &yaml.Node{Kind: yaml.MappingNode, Style: yaml.FlowStyle, Content: []*yaml.Node{textNode(name), textNode(text)}}
}

// textNode returns a text. Words that older versions of YAML read as true or false are in
// quotes, for other tools that read the result.
func textNode(text string) *yaml.Node {
	node := &yaml.Node{}
	node.SetString(text)
	if slices.Contains([]string{"y", "n", "yes", "no", "on", "off"}, strings.ToLower(text)) {
		node.Style = yaml.DoubleQuotedStyle
	}
	return node
}

// describe returns what a value is, for messages; it never contains the value.
func (v *value) describe() string {
	switch {
	case v == nil || v.kind == null:
		return "nothing"
	case v.kind == object:
		return "a mapping"
	case v.kind == list:
		return "a list"
	case v.kind == number:
		return "a number"
	case v.kind == boolean:
		return "true or false"
	}
	return "a text"
}

// scalarOf returns a value of encoding/json as a value; numbers keep their digits.
func scalarOf(line int, token any) *value {
	switch token := token.(type) {
	case string:
		return textValue(line, token)
	case json.Number:
		return &value{kind: number, line: line, text: token.String()}
	case bool:
		return &value{kind: boolean, line: line, text: fmt.Sprint(token)}
	}
	return &value{line: line}
}
