package author

import (
	"slices"
	"strings"

	"github.com/armature-io/armature/manifest"
	"github.com/armature-io/armature/resource"
)

// Names of definitions that do not belong to nodes.
const (
	markerName = "marker"
	filledName = "filled"
	textName   = "text"
)

// Forms of texts, as the loader of manifests takes them.
const (
	typePattern     = `^[A-Za-z0-9-]+\.[A-Za-z0-9._-]+(/[A-Za-z0-9][A-Za-z0-9._-]*)+@[0-9]{4}-[0-9]{2}-[0-9]{2}(-[A-Za-z0-9.-]+)?$`
	exportPattern   = `^keyvault:https://[A-Za-z0-9.-]+/secrets/[0-9A-Za-z-]{1,127}$`
	durationPattern = `^(0|([0-9]+(\.[0-9]*)?|\.[0-9]+)(ns|us|µs|ms|s|m|h))+$`
)

// fields returns the schema of a manifest without its body. It comes from the fields
// that the reference of manifests describes.
func fields() object {
	root := section()
	properties := root["properties"].(object)
	for _, f := range manifest.Fields() {
		field := fieldSchema(f)
		field["description"], field["markdownDescription"] = f.Effect, f.Effect
		parent, name := root, f.Name
		if outer, inner, nested := strings.Cut(f.Name, "."); nested {
			parent, name = properties[outer].(object), inner
			parent["additionalProperties"] = false
			if parent["properties"] == nil {
				parent["properties"] = object{}
			}
		}
		parent["properties"].(object)[name] = field
		if f.Required {
			required, _ := parent["required"].([]string)
			parent["required"] = append(required, name)
		}
	}
	properties["type"].(object)["pattern"] = typePattern
	deletion := properties["reconcile"].(object)["properties"].(object)["delete"].(object)
	deletion["additionalProperties"] = false
	deletion["properties"] = object{
		"query": object{"type": "object", "additionalProperties": object{"type": []string{"string", "number", "boolean"}}},
		"purge": object{"type": "boolean"}, "unmanaged": object{"type": "boolean"},
	}
	return root
}

func section() object {
	return object{"type": "object", "properties": object{}, "additionalProperties": false}
}

// fieldSchema returns the schema of one field by its kind. A name may be a marker that is filled
// in by the environment; for other fields, editors would describe the markers instead.
func fieldSchema(f manifest.Field) object {
	if slices.Contains([]string{"name", "owner"}, f.Name) {
		return object{"anyOf": []any{plainField(f), reference(filledName)}}
	}
	return plainField(f)
}

func plainField(f manifest.Field) object {
	switch f.Kind {
	case manifest.KindChoice:
		return object{"enum": f.Allowed}
	case manifest.KindDuration:
		const advice = "write a duration like 30m or 1h30m"
		return object{"anyOf": []any{object{"type": "string", "pattern": durationPattern, "errorMessage": advice}, object{"const": 0, "errorMessage": advice}}}
	case manifest.KindPaths, manifest.KindNames:
		return object{"type": "array", "items": object{"type": "string"}}
	case manifest.KindExports:
		return exports()
	case manifest.KindTexts:
		return object{"type": "object", "additionalProperties": object{"type": "string"}}
	case manifest.KindMapping:
		return object{"type": "object"}
	}
	return object{"type": "string"}
}

// exports returns the schema of the list of exports.
func exports() object {
	text := object{"type": "string"}
	target := object{"anyOf": []any{object{"type": "string", "pattern": exportPattern, "errorMessage": "write keyvault:https://VAULT.vault.azure.net/secrets/NAME"}, reference(filledName)}}
	return object{"type": "array", "items": object{
		"type": "object", "additionalProperties": false, "required": []string{"to", "from"},
		"properties": object{
			"to": target,
			"from": object{
				"type": "object", "additionalProperties": false,
				"properties": object{"action": text, "path": text, "text": text},
			},
			"policy":   object{"enum": []string{string(resource.ExportReplace), string(resource.ExportIfAbsent)}},
			"tags":     object{"type": "object", "additionalProperties": text},
			"interval": plainField(manifest.Field{Kind: manifest.KindDuration}),
		},
	}}
}

// marker returns the schema of what stands for a text in a body.
func marker() object {
	text := func(description string) object { return object{"type": "string", "description": description} }
	return object{"anyOf": append([]any{
		object{
			"title": resource.RefMarker, "type": "object", "additionalProperties": false, "required": []string{resource.RefMarker},
			"properties": object{
				resource.RefMarker: text("The name of a manifest, or a resource ID: its resource ID, or the value at path, takes this place."),
				"path":             text("The path of an observed value, like properties.x."),
			},
		},
		object{
			"title": resource.SecretMarker, "type": "object", "additionalProperties": false, "required": []string{resource.SecretMarker},
			"properties": object{
				resource.SecretMarker: text("env:NAME, file:NAME or keyvault:https://VAULT/secrets/NAME: the worker reads it when it sends the PUT."),
			},
		},
		object{
			"title": resource.PlainMarker, "type": "object", "additionalProperties": false, "required": []string{resource.PlainMarker},
			"properties": object{
				resource.PlainMarker: text("A text that is no secret, although its property has the name of one."),
			},
		},
	}, localMarkers()...)}
}

// localMarkers returns the schemas of the markers that are filled in before anything is sent.
func localMarkers() []any {
	alone := func(name string, value object) object {
		return object{
			"type": "object", "additionalProperties": false, "required": []string{name},
			"properties": object{name: value},
		}
	}
	return []any{
		alone(resource.ParamMarker, object{"type": "string", "description": "The name of a parameter of armature.yaml."}),
		alone(resource.TextMarker, object{"type": "string", "description": "A text with expressions: ${params.NAME}, or in a body ${ref.NAME.properties.x}."}),
		alone(resource.GUIDMarker, object{"type": "array", "description": "Texts and {$ref: NAME}, from which the same GUID follows each time."}),
	}
}
