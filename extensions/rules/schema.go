package rules

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/types"
)

// maxSchemaPaths bounds the paths of a type that the schema offers.
const maxSchemaPaths = 400

// schemaObject is a JSON object. Keys are written sorted, so that equal schemas are equal texts.
type schemaObject = map[string]any

// Schema returns a JSON Schema (draft-07) of rule files. In rules of the named types, editors
// complete the paths of the newest published version.
func Schema(resourceTypes []string) ([]byte, error) {
	rule := schemaObject{
		"type": "object", "additionalProperties": false, "required": []string{"name", "type"}, "properties": ruleSchema(),
	}
	var cases []any
	for _, name := range slices.Sorted(slices.Values(resourceTypes)) {
		if paths := pathsOf(name); len(paths) > 0 {
			cases = append(cases, caseOf(name, paths))
		}
	}
	if len(cases) > 0 { // an empty list makes a server drop the whole schema
		rule["allOf"] = cases
	}
	list := func(item schemaObject) schemaObject { return schemaObject{"type": "array", "items": item} }
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	err := encoder.Encode(schemaObject{
		"$schema": "http://json-schema.org/draft-07/schema#", "description": "Rules of Armature: checks of Azure resources, and their tests.",
		"type": "object", "additionalProperties": false,
		"properties": schemaObject{
			"rules": list(rule),
			"tests": list(schemaObject{"type": "object", "additionalProperties": false, "required": []string{"rule", "want"}, "properties": testSchema()}),
		},
	})
	if err != nil {
		return nil, fmt.Errorf("write the schema of rules: %w", err)
	}
	return out.Bytes(), nil
}

// TypesOf returns the resource types of the rules of files, sorted, also of rules that are not
// valid.
func TypesOf(sources []Source) []string {
	files, _ := parseAll(sources)
	found := map[string]bool{}
	for _, f := range files {
		for _, s := range f.rules {
			if name, published := types.Spelled(s.text("type")); published {
				found[name] = true
			}
		}
	}
	return slices.Sorted(maps.Keys(found))
}

func textSchema(description string) schemaObject {
	return schemaObject{"type": "string", "description": description}
}

func enumSchema[T ~string](description string, values ...T) schemaObject {
	return schemaObject{"enum": values, "description": description}
}

// textsSchema is a text, or a list of texts.
func textsSchema(description string) schemaObject {
	text := schemaObject{"type": "string"}
	return schemaObject{"anyOf": []any{text, schemaObject{"type": "array", "items": text}}, "description": description}
}

func bodySchema(description string) schemaObject {
	return schemaObject{"type": []string{"object", "null"}, "description": description}
}

func ruleSchema() schemaObject {
	typeField := textSchema("The resource type of the rule.")
	var offers []any
	for _, name := range types.Names(true) {
		offers = append(offers, schemaObject{"label": name, "body": name})
	}
	typeField["defaultSnippets"] = offers
	return schemaObject{
		"name":          schemaObject{"type": "string", "pattern": namePattern.String(), "description": "The name of the rule, for messages and tests."},
		"type":          typeField,
		"at":            enumSchema("When the rule runs: pre without it, post with fail.", atOwner, atPre, atPost, atError, atPayload),
		"read":          schemaObject{"type": "object", "additionalProperties": readSchema(), "description": "Other resources: the name of a variable, and their ID."},
		"when":          textSchema("The condition, in CEL."),
		"block":         textSchema("No PUT while the condition is true: the message, with ${expressions}."),
		"fail":          textSchema("Not Ready while the condition is true: the message, with ${expressions}."),
		"reason":        schemaObject{"type": "string", "pattern": reasonPattern.String(), "description": "The reason of the condition, one word."},
		"severity":      enumSchema("Error stops the PUTs until the check passes.", resource.SeverityInfo, resource.SeverityWarning, resource.SeverityError),
		"retry":         enumSchema("How soon the next try follows.", resource.RetryFast, resource.RetrySlow, resource.RetryVerySlow, resource.RetryNone),
		"onlyBeforePut": schemaObject{"type": "boolean", "description": "Block only where a PUT is due."},
		"busy":          textsSchema("States in which an operation is in progress."),
		"stopped":       textsSchema("States in which the resource is stopped."),
		"path":          textsSchema("Where the states are; properties.provisioningState and properties.state without it."),
		"start":         textSchema("How a stopped resource is started."),
		"code":          textsSchema("Codes of Azure's error, one of which it has."),
		"message":       textSchema("A part of the text of Azure's error."),
		"advice":        textSchema("What to do about the error."),
		"set":           schemaObject{"type": "object", "additionalProperties": schemaObject{"type": []string{"string", "boolean", "number"}}, "description": "Values of the payload by path, as expressions."},
		"remove":        schemaObject{"type": "array", "items": schemaObject{"type": "string"}, "description": "Paths that the payload loses."},
	}
}

func readSchema() schemaObject {
	return schemaObject{"anyOf": []any{
		textSchema("The ID: an expression, or a text with ${expressions}."),
		schemaObject{"type": "object", "additionalProperties": false, "properties": schemaObject{
			"id":         textSchema("The ID: an expression, or a text with ${expressions}."),
			"each":       textSchema("A path with [*] in desired, observed or owner where the IDs of several resources stand."),
			"list":       textSchema("The type of the resources to list: siblings, children, or those of the owner."),
			"max":        schemaObject{"type": "integer", "minimum": 1, "maximum": maxListed, "description": "The largest number of resources of each (16) and list (100)."},
			"waitFor":    enumSchema("What the rule waits for; provisioned without it.", waitForReady, waitForProvisioned, waitForNothing),
			"apiVersion": textSchema("The api-version; the newest published one without it."),
		}},
	}}
}

func testSchema() schemaObject {
	return schemaObject{
		"name": textSchema("The name of the test."), "rule": textSchema("The name of the rule."),
		"desired": bodySchema("The body of the manifest."), "observed": bodySchema("The resource as Azure shows it; null if it does not exist."),
		"owner": bodySchema("The owner as Azure shows it."), "payload": bodySchema("What a PUT would send."), "error": bodySchema("Azure's error."),
		"reads":     schemaObject{"type": "object", "description": "What the rule reads, by the names under read; null for an absent resource."},
		"labels":    schemaObject{"type": "object", "additionalProperties": schemaObject{"type": "string"}, "description": "The labels of the manifest."},
		"id":        textSchema("The ID of the resource."),
		"ownerName": textSchema("The last part of the owner's ID."), "now": textSchema("The time, such as 2026-01-05T22:00:00Z."),
		"forced":  schemaObject{"type": "boolean", "description": "Whether a user overrides the guards."},
		"want":    schemaObject{"description": "What the rule does: block, fail, pass, busy, stopped, a retry class, or the payload.", "anyOf": []any{schemaObject{"enum": []string{"block", "fail", "pass", "busy", "stopped", "Fast", "Slow", "VerySlow", "None"}}, schemaObject{"type": "object"}}},
		"message": textSchema("The message, compared if it is stated."), "reason": textSchema("The reason, compared if it is stated."),
	}
}

// schemaPath is a path of a scalar value in the body of a type.
type schemaPath struct {
	path     string
	readOnly bool
}

// pathsOf returns the paths of the scalar values of a type, without those of list items, the
// shortest first.
func pathsOf(resourceType string) []schemaPath {
	shape := types.Lookup(resourceType, types.Newest(resourceType))
	if shape == nil {
		return nil
	}
	found := map[string]schemaPath{}
	var names []string // of the path, as they are published
	shape.Walk(func(path []string, p types.Property) bool {
		if slices.Contains(path, "[]") || slices.Contains(path, "*") {
			return false
		}
		names = append(names[:len(path)-1], p.Name)
		if len(p.Type.Properties) == 0 && len(p.Type.Variants) == 0 {
			text := strings.Join(names, ".")
			found[text] = schemaPath{text, p.Has(types.ReadOnly)}
		}
		return true
	})
	paths := slices.SortedFunc(maps.Values(found), func(a, b schemaPath) int {
		if byDepth := strings.Count(a.path, ".") - strings.Count(b.path, "."); byDepth != 0 {
			return byDepth
		}
		return strings.Compare(a.path, b.path)
	})
	return paths[:min(len(paths), maxSchemaPaths)]
}

// caseOf returns the completions in rules of one type.
func caseOf(resourceType string, paths []schemaPath) schemaObject {
	set := schemaObject{}
	var conditions, all, writable []any
	for _, p := range paths {
		conditions = append(conditions, schemaObject{"label": "observed." + p.path, "body": "observed." + p.path + " == "})
		all = append(all, p.path)
		if !p.readOnly {
			set[p.path] = schemaObject{"type": []string{"string", "boolean", "number"}}
			writable = append(writable, p.path)
		}
	}
	offered := func(values []any) schemaObject {
		return schemaObject{"anyOf": []any{schemaObject{"enum": values}, schemaObject{"type": "string"}}}
	}
	return schemaObject{
		"if": schemaObject{"required": []string{"type"}, "properties": schemaObject{"type": schemaObject{"const": resourceType}}},
		"then": schemaObject{"properties": schemaObject{
			"when":   schemaObject{"defaultSnippets": conditions},
			"path":   schemaObject{"anyOf": []any{schemaObject{"enum": all}, schemaObject{"type": []string{"string", "array"}}}},
			"set":    schemaObject{"properties": set},
			"remove": schemaObject{"items": offered(writable)},
		}},
	}
}
