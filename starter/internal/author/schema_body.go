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

// titled gives a mapping its published name, which editors show in messages, and
// returns it.
func (g *generator) titled(schema object, n *types.Node) object {
	if g.descriptions && n.Name != "" {
		schema["title"] = n.Name
	}
	return schema
}

// hasOwnField is isOwnField of a property.
func hasOwnField(p types.Property) bool { return isOwnField(p.Name) }

// body returns the schema of a body.
func (g *generator) body(shape *types.Shape) object {
	body := *shape.Body
	body.Properties = slices.DeleteFunc(slices.Clone(body.Properties), hasOwnField)
	body.Variants = slices.Clone(body.Variants)
	for i, v := range body.Variants {
		form := *v.Type
		form.Properties = slices.DeleteFunc(slices.Clone(form.Properties), hasOwnField)
		body.Variants[i].Type = &form
	}
	if body.Discriminator == "name" {
		// The manifest's name selects the form, so the body may be any of them.
		return g.anyForm(&body)
	}
	if body.Kind == types.Discriminated && len(body.Variants) > 0 {
		return g.forms(&body, func(v types.Variant) object { return open(g.form(&body, v)) })
	}
	return open(g.properties(body.Properties, body.Additional))
}

// anyForm returns the schema of a mapping whose form is not known.
func (g *generator) anyForm(n *types.Node) object {
	var forms []any
	for _, v := range n.Variants {
		forms = append(forms, open(g.form(n, v)))
	}
	if len(forms) == 0 {
		return object{"type": "object"}
	}
	return object{"anyOf": forms}
}

// open lets a body repeat what the manifest states about its identity, and returns it.
func open(schema object) object {
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
		return orMarker(bounded(object{"type": "number"}, n.Bounds, "minimum", "maximum"))
	case types.Literal, types.Union:
		return union(n)
	case types.Text:
		if n.Bounds == nil {
			return reference(textName)
		}
		return orMarker(bounded(object{"type": "string"}, n.Bounds, "minLength", "maxLength"))
	case types.List:
		return bounded(object{"type": "array", "items": g.value(n.Item)}, n.Bounds, "minItems", "maxItems")
	case types.Object, types.Discriminated:
		return g.define(n, func() object { return g.titled(g.mapping(n), n) })
	}
	return object{}
}

// orMarker returns the schema of a value or a marker.
func orMarker(value object) object {
	return object{"anyOf": []any{value, reference(markerName)}}
}

// bounded adds bounds under their names to a schema.
func bounded(schema object, b *types.Bounds, least, most string) object {
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
	if n.Kind != types.Discriminated || len(n.Variants) == 0 {
		return g.properties(n.Properties, n.Additional)
	}
	return g.forms(n, func(v types.Variant) object {
		key := *v.Type // another mapping than the form alone: it has the properties of all forms
		return g.define(&key, func() object { return g.titled(g.form(n, v), v.Type) })
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

// form returns the schema of one form of a mapping, with the properties of all forms.
func (g *generator) form(n *types.Node, v types.Variant) object {
	properties := slices.Clone(v.Type.Properties)
	for _, p := range n.Properties {
		if !slices.ContainsFunc(properties, func(own types.Property) bool { return own.Name == p.Name }) {
			properties = append(properties, p)
		}
	}
	return g.properties(properties, v.Type.Additional)
}

// properties returns the schema of an object with these properties and, if additional is
// not nil, any others of that kind. Read-only properties are not allowed.
func (g *generator) properties(list []types.Property, additional *types.Node) object {
	schema := object{"type": "object", "additionalProperties": false}
	if additional != nil {
		schema["additionalProperties"] = g.value(additional)
	}
	properties := object{}
	var required []string
	for _, p := range list {
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
