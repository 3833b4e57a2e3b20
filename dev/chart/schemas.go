package chart

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/yaml"
)

// Schemas validates objects without a cluster.
type Schemas struct {
	custom map[string]*jsonschema.Schema
}

// LoadSchemas reads the schemas of custom resources in a folder.
func LoadSchemas(folder string) (*Schemas, error) {
	files, err := filepath.Glob(filepath.Join(folder, "*.json"))
	if err != nil || len(files) == 0 {
		return nil, fmt.Errorf("find schemas in %s: %d files, %w", folder, len(files), err)
	}
	s := &Schemas{custom: map[string]*jsonschema.Schema{}}
	compiler := jsonschema.NewCompiler()
	for _, file := range files {
		content, err := os.ReadFile(file)
		if err != nil {
			return nil, fmt.Errorf("read schema: %w", err)
		}
		var definition struct {
			Group, Version, Kind string
			Schema               map[string]any
		}
		if err := json.Unmarshal(content, &definition); err != nil {
			return nil, fmt.Errorf("read schema %s: %w", file, err)
		}
		if err := compiler.AddResource(definition.Kind, closed(definition.Schema)); err != nil {
			return nil, fmt.Errorf("read schema %s: %w", file, err)
		}
		compiled, err := compiler.Compile(definition.Kind)
		if err != nil {
			return nil, fmt.Errorf("read schema %s: %w", file, err)
		}
		s.custom[definition.Group+"/"+definition.Version+" "+definition.Kind] = compiled
	}
	return s, nil
}

// closed returns a schema of a CRD as JSON Schema: an object has the stated properties only,
// which an API server drops silently and kubectl refuses.
func closed(schema map[string]any) map[string]any {
	schema = maps.Clone(schema)
	open, _ := schema["x-kubernetes-preserve-unknown-fields"].(bool)
	if properties, ok := schema["properties"].(map[string]any); ok {
		properties = maps.Clone(properties)
		for name, property := range properties {
			properties[name] = closed(property.(map[string]any))
		}
		schema["properties"] = properties
		if !open {
			schema["additionalProperties"] = false
		}
	}
	for _, key := range []string{"items", "additionalProperties"} {
		if inner, ok := schema[key].(map[string]any); ok {
			schema[key] = closed(inner)
		}
	}
	if nullable, _ := schema["nullable"].(bool); nullable {
		schema["type"] = []any{schema["type"], "null"}
	}
	return schema
}

// Validate returns an error unless the API server of a cluster would accept the object: a
// custom resource by its schema and the objects inside of it, any other by the types of the
// API, without unknown or repeated fields.
func (s *Schemas) Validate(o Object) error {
	schema := s.custom[o.APIVersion+" "+o.Kind]
	if schema == nil {
		decoder := serializer.NewCodecFactory(scheme.Scheme, serializer.EnableStrict).UniversalDeserializer()
		if _, _, err := decoder.Decode(o.YAML, nil, nil); err != nil {
			return fmt.Errorf("%s: %w", o, err)
		}
		return nil
	}
	if err := schema.Validate(o.Content); err != nil {
		return fmt.Errorf("%s: %w", o, err)
	}
	spec, _ := o.Content["spec"].(map[string]any)
	template, _ := spec["template"].(map[string]any)
	switch o.Kind {
	case "WorkerDeployment":
		template = maps.Clone(template)
		template["apiVersion"], template["kind"] = "v1", "PodTemplate"
		template["template"] = map[string]any{"metadata": template["metadata"], "spec": template["spec"]}
		delete(template, "metadata")
		delete(template, "spec")
	case "WorkerResourceTemplate":
		template = completed(template)
	default:
		return nil
	}
	inner, err := yaml.Marshal(template)
	if err != nil {
		return fmt.Errorf("%s: %w", o, err)
	}
	kind, _ := template["kind"].(string)
	version, _ := template["apiVersion"].(string)
	if err := s.Validate(Object{APIVersion: version, Kind: kind, Name: "in " + o.String(), YAML: inner, Content: template}); err != nil {
		return err
	}
	return nil
}

// completed returns the template of a WorkerResourceTemplate with a value where the
// controller sets one.
func completed(template map[string]any) map[string]any {
	template = maps.Clone(template)
	spec, _ := template["spec"].(map[string]any)
	spec = maps.Clone(spec)
	if target, ok := spec["scaleTargetRef"].(map[string]any); ok && len(target) == 0 {
		spec["scaleTargetRef"] = map[string]any{"apiVersion": "apps/v1", "kind": "Deployment", "name": "set-by-the-controller"}
	}
	template["spec"] = spec
	return template
}
