package author

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/armature-io/armature/types"
)

// identityPattern matches the members of a body that may repeat what the manifest states.
const identityPattern = "^(id|name|type)$"

// generator writes the schemas of bodies. A mapping is a definition of its own, so that
// shapes share it and it may contain itself.
type generator struct {
	descriptions bool
	names        map[*types.Node]string
	definitions  object
}

// define returns a reference to the definition of a mapping, and writes it once.
func (g *generator) define(n *types.Node, write func() object) object {
	name, known := g.names[n]
	if !known {
		name = fmt.Sprintf("n%d", len(g.names))
		g.names[n] = name // before it is written: it may contain itself
		g.definitions[name] = write()
	}
	return reference(name)
}

// withTitle gives a mapping its published name, which editors show in messages, and
// returns it.
func (g *generator) withTitle(schema object, n *types.Node) object {
	if g.descriptions && n.Name != "" {
		schema["title"] = n.Name
	}
	return schema
}

// body returns the schema of a body.
func (g *generator) body(shape *types.Shape) object {
	n := shape.Body
	if len(n.Variants) == 0 {
		return g.form(n)
	}
	if n.Discriminator != "name" {
		return g.forms(n, func(v types.Variant) object { return g.form(n.Form(v.Value)) })
	}
	var forms []any // the manifest's name selects one, so the body may be any of them
	for _, v := range n.Variants {
		forms = append(forms, g.form(n.Form(v.Value)))
	}
	return object{"anyOf": forms}
}

// form returns the schema of one form of a body, which may repeat what the manifest states
// about its identity.
func (g *generator) form(n *types.Node) object {
	form := *n
	form.Properties = slices.DeleteFunc(slices.Clone(n.Properties), func(p types.Property) bool { return isOwnField(p.Name) })
	schema := g.properties(&form)
	if schema["additionalProperties"] == false {
		schema["patternProperties"] = object{identityPattern: object{"type": "string"}}
	}
	return schema
}

// value returns the schema of a value. A marker stands for texts and numbers.
func (g *generator) value(n *types.Node) object {
	switch n.Kind {
	case types.Boolean:
		return object{"type": "boolean"}
	case types.Integer:
		return orMarker(withBounds(object{"type": "number"}, n.Bounds, "minimum", "maximum"))
	case types.Literal, types.Union:
		return union(n)
	case types.Text:
		if n.Bounds == nil {
			return reference(textName)
		}
		return orMarker(withBounds(object{"type": "string"}, n.Bounds, "minLength", "maxLength"))
	case types.List:
		return withBounds(object{"type": "array", "items": g.value(n.Item)}, n.Bounds, "minItems", "maxItems")
	case types.Object, types.Discriminated:
		return g.define(n, func() object { return g.withTitle(g.mapping(n), n) })
	}
	return object{}
}

// orMarker returns the schema of a value or a marker.
func orMarker(value object) object {
	return object{"anyOf": []any{value, reference(markerName)}}
}

// withBounds adds bounds under their names to a schema.
func withBounds(schema object, b *types.Bounds, least, most string) object {
	if b == nil {
		return schema
	}
	if b.Min != nil {
		schema[least] = *b.Min
	}
	if b.Max != nil {
		schema[most] = *b.Max
	}
	if portable(b.Pattern) {
		schema["pattern"] = b.Pattern
	}
	return schema
}

// foreign matches what Go's expressions have and the expressions of editors (ECMAScript) lack.
var foreign = regexp.MustCompile(`\(\?[a-zA-Z-]*[:)]|\(\?P<|\\[AzQEC]|\\[pP][A-Z]|\[\[:`)

// portable reports whether a pattern means the same to the checks of manifests and to
// editors. The groups (?:x) are the one form of foreign that both have.
func portable(pattern string) bool {
	if pattern == "" || foreign.MatchString(strings.ReplaceAll(pattern, "(?:", "(")) {
		return false
	}
	_, err := regexp.Compile(pattern)
	return err == nil
}

// union returns the schema of a value with published values.
func union(n *types.Node) object {
	values, open := n.Values()
	if len(values) == 0 {
		return reference(textName)
	}
	alternatives := []any{object{"enum": values}}
	if open {
		alternatives = append(alternatives, object{"type": "string"})
	}
	return object{"anyOf": append(alternatives, reference(markerName))}
}

// mapping returns the schema of an object.
func (g *generator) mapping(n *types.Node) object {
	if len(n.Variants) == 0 {
		return g.properties(n)
	}
	return g.forms(n, func(v types.Variant) object {
		form := n.Form(v.Value)
		return g.define(form, func() object { return g.withTitle(g.properties(form), form) })
	})
}

// forms returns the schema of an object whose discriminator selects one of the forms,
// each a whole mapping.
func (g *generator) forms(n *types.Node, write func(types.Variant) object) object {
	var values []string
	var cases []any
	for _, v := range n.Variants {
		values = append(values, v.Value)
		cases = append(cases, object{
			"if":   object{"required": []string{n.Discriminator}, "properties": object{n.Discriminator: object{"enum": []string{v.Value}}}},
			"then": write(v),
		})
	}
	return object{
		"type": "object", "required": []string{n.Discriminator},
		"properties": object{n.Discriminator: object{"anyOf": []any{object{"enum": values}, reference(markerName)}}},
		"allOf":      cases,
	}
}

// properties returns the schema of an object without forms. Read-only properties are not
// allowed.
func (g *generator) properties(n *types.Node) object {
	schema := object{"type": "object", "additionalProperties": false}
	if n.Additional != nil {
		schema["additionalProperties"] = g.value(n.Additional)
	}
	properties := object{}
	var required []string
	for _, p := range n.Properties {
		if p.Has(types.ReadOnly) {
			continue
		}
		value := g.value(p.Type)
		if g.descriptions {
			value["description"] = Sentence(p)
		}
		properties[p.Name] = value
		if p.Has(types.Required) {
			required = append(required, p.Name)
		}
	}
	if len(properties) > 0 {
		schema["properties"] = properties
	}
	if len(required) > 0 {
		slices.Sort(required)
		schema["required"] = required
	}
	return schema
}
