package worlds

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/armature-io/armature/extensions/azure"
	"github.com/armature-io/armature/internal/extensionhost"
)

// exampleSubscription is the subscription of the examples.
const exampleSubscription = "11111111-2222-3333-4444-555555555555"

// document is one manifest, as its file states it.
type document map[string]any

// catalogue has the examples by name. Needs are the names of the owner and of the references of
// each, itself not included; facts are those of the built-in types.
type catalogue struct {
	documents map[string]document
	needs     map[string][]string
	facts     *extensionhost.Registry
}

// readCatalogue reads the manifests in folder.
func readCatalogue(folder string) (*catalogue, error) {
	files, err := filepath.Glob(filepath.Join(folder, "*.yaml"))
	if err != nil || len(files) == 0 {
		return nil, fmt.Errorf("find manifests in %s: %d files (%w)", folder, len(files), err)
	}
	facts, err := extensionhost.New(azure.BuiltIn()...)
	if err != nil {
		return nil, err
	}
	c := &catalogue{documents: map[string]document{}, needs: map[string][]string{}, facts: facts}
	for _, file := range files {
		content, err := os.ReadFile(file)
		if err != nil {
			return nil, fmt.Errorf("read examples: %w", err)
		}
		decoder := yaml.NewDecoder(bytes.NewReader(content))
		for {
			var d map[string]any // nested mappings get the type of the outer one
			if err := decoder.Decode(&d); errors.Is(err, io.EOF) {
				break
			} else if err != nil {
				return nil, fmt.Errorf("parse %s: %w", file, err)
			}
			c.add(d)
		}
	}
	for name, partner := range partners() {
		c.needs[name] = append(c.needs[name], partner)
	}
	return c, c.check()
}

// partners are examples that exist together: Azure connects a peering when both sides exist, and
// deletes a blob service with its account only.
func partners() map[string]string {
	return map[string]string{"to-spoke": "to-hub", "to-hub": "to-spoke", "armaturedemo": "default"}
}

func (c *catalogue) add(d document) {
	name := d.text("name")
	key := lastSegment(name)
	c.documents[key] = d
	needed := references(d["body"])
	if owner, _, nested := strings.Cut(name, "/"); nested {
		needed = append(needed, owner)
	}
	if owner := lastSegment(d.text("owner")); owner != "" && owner != exampleSubscription {
		needed = append(needed, owner)
	}
	slices.Sort(needed)
	c.needs[key] = slices.Compact(needed)
}

// check returns an error if a manifest needs another one that the catalogue lacks.
func (c *catalogue) check() error {
	for key, needs := range c.needs {
		for _, need := range needs {
			if c.documents[need] == nil {
				return fmt.Errorf("%s needs %s, which no example names", key, need)
			}
		}
	}
	return nil
}

// withNeeds returns the names with all that they need, sorted.
func (c *catalogue) withNeeds(names ...string) []string {
	return closure(names, func(name string) []string { return c.needs[name] })
}

// withDependents returns the names with all that need them, sorted.
func (c *catalogue) withDependents(names ...string) []string {
	return closure(names, func(name string) []string {
		var dependents []string
		for other, needs := range c.needs {
			if slices.Contains(needs, name) {
				dependents = append(dependents, other)
			}
		}
		return dependents
	})
}

func closure(names []string, next func(string) []string) []string {
	found := map[string]bool{}
	var visit func(string)
	visit = func(name string) {
		if !found[name] {
			found[name] = true
			for _, other := range next(name) {
				visit(other)
			}
		}
	}
	for _, name := range names {
		visit(name)
	}
	return slices.Sorted(maps.Keys(found))
}

// references returns the names that the $refs of a value name.
func references(value any) []string {
	var found []string
	switch value := value.(type) {
	case map[string]any:
		if name, is := value["$ref"].(string); is {
			return []string{lastSegment(name)}
		}
		for _, key := range slices.Sorted(maps.Keys(value)) {
			found = append(found, references(value[key])...)
		}
	case []any:
		for _, item := range value {
			found = append(found, references(item)...)
		}
	}
	return found
}

func lastSegment(name string) string { return name[strings.LastIndex(name, "/")+1:] }

func (d document) text(key string) string {
	text, _ := d[key].(string)
	return text
}

// clone returns a copy that shares nothing with the document.
func (d document) clone() document {
	content, err := json.Marshal(d)
	if err != nil {
		panic(err) // it was decoded from YAML
	}
	var copied document
	if err := json.Unmarshal(content, &copied); err != nil {
		panic(err)
	}
	return copied
}

// valueAt returns the value at a path of names with dots between them.
func valueAt(in map[string]any, path string) (any, bool) {
	name, rest, deeper := strings.Cut(path, ".")
	value, found := in[name]
	if !deeper || !found {
		return value, found
	}
	below, _ := value.(map[string]any)
	return valueAt(below, rest)
}

// setAt sets the value at a path, and creates the mappings above it. It removes it if value is
// nil.
func setAt(in map[string]any, path string, value any) {
	name, rest, deeper := strings.Cut(path, ".")
	switch {
	case deeper:
		below, _ := in[name].(map[string]any)
		if below == nil {
			below = map[string]any{}
			in[name] = below
		}
		setAt(below, rest, value)
	case value == nil:
		delete(in, name)
	default:
		in[name] = value
	}
}
