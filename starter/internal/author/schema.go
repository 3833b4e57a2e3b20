package author

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/armature-io/armature/manifest"
	"github.com/armature-io/armature/types"
)

// object is a JSON object. Keys are written sorted, so equal schemas are equal texts.
type object = map[string]any

// Use is a resource type in an api-version, as manifests state them.
type Use struct{ Type, Version string }

// UsesOf returns the types that documents use, sorted, each once; types that are not
// published are left out.
func UsesOf(documents []manifest.Document) []Use {
	uses := map[Use]bool{}
	for _, d := range documents {
		if _, found := types.Spelled(d.Type); found && d.Version != "" {
			uses[Use{d.Type, d.Version}] = true
		}
	}
	return slices.SortedFunc(maps.Keys(uses), func(a, b Use) int {
		return strings.Compare(a.Type+"@"+a.Version, b.Type+"@"+b.Version)
	})
}

// AllUses returns every type that a PUT can create, in its newest version.
func AllUses() []Use {
	var uses []Use
	for _, name := range types.Names(true) {
		uses = append(uses, Use{name, types.Newest(name)})
	}
	return uses
}

// WriteSchema returns the schema of manifests: the bodies of the types in use are checked, and
// the bodies of other types are not. With descriptions, each property has one.
func WriteSchema(uses []Use, descriptions bool) ([]byte, error) {
	g := &generator{descriptions: descriptions, names: map[*types.Node]string{}, definitions: object{}}
	root := fields()
	properties := root["properties"].(object)
	properties["type"] = typeField(properties["type"].(object), uses)
	var cases []any
	for _, use := range uses {
		cases = append(cases, g.caseOf(use))
	}
	if len(cases) > 0 { // an empty list makes a server drop the whole schema
		root["allOf"] = cases
	}
	root["$schema"] = "http://json-schema.org/draft-07/schema#"
	root["description"] = "A manifest of Armature: one Azure resource."
	root["definitions"] = g.definitions
	g.definitions[markerName] = marker()
	g.definitions[filledName] = object{"anyOf": localMarkers()}
	g.definitions[textName] = object{"anyOf": []any{object{"type": "string"}, reference(markerName)}}
	merged := mergeEqual(g.definitions)
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(rename(root, merged)); err != nil {
		return nil, fmt.Errorf("write the schema: %w", err)
	}
	return out.Bytes(), nil
}

// typeField returns the schema of the field type. Editors offer the types in use and the
// newest version of every other type as snippets: servers list all values of an enum in
// messages and descriptions.
func typeField(field object, uses []Use) object {
	offers := map[string]bool{}
	for _, use := range slices.Concat(uses, AllUses()) {
		offers[use.Type+"@"+use.Version] = true
	}
	var snippets []any
	for _, offer := range keys(offers) {
		snippets = append(snippets, object{"label": offer, "body": offer})
	}
	field["defaultSnippets"] = snippets
	field["errorMessage"] = "write a type with its api-version, like Microsoft.Kusto/clusters@2023-08-15"
	return field
}

// caseOf returns the check of the manifests of one type: its names and its body.
func (g *generator) caseOf(use Use) object {
	shape := types.Lookup(use.Type, use.Version)
	names := map[string]bool{use.Type + "@" + use.Version: true, shape.Type + "@" + use.Version: true}
	then := object{"body": g.body(withExtraValues(shape))}
	if closed, open := shape.PublishedNames(); !open {
		then["name"] = object{"anyOf": []any{object{"enum": closed}, object{"type": "string", "pattern": "/"}}}
	}
	return object{
		"if":   object{"required": []string{"type"}, "properties": object{"type": object{"enum": keys(names)}}},
		"then": object{"properties": then},
	}
}

func keys(set map[string]bool) []string { return slices.Sorted(maps.Keys(set)) }

func reference(name string) object { return object{"$ref": "#/definitions/" + name} }
