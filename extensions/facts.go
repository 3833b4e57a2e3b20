package extensions

import (
	"bytes"
	"fmt"
	"maps"
	"path"
	"reflect"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// Facts are facts about a resource type that its published shape does not have. The zero
// value of a fact states nothing; derived rules then decide. Facts of several entries of one
// type add up: lists are joined, of other facts the last one counts.
type Facts struct {
	// Data is the data that a DELETE of a resource deletes.
	Data Data `yaml:"data"`
	// Child is the kind of a child that comes and goes without a manifest.
	Child Child `yaml:"child"`
	// BuiltIn are the children that Azure creates with their parent.
	BuiltIn BuiltIn `yaml:"builtIn"`
	// Purge purges the deleted resource that Azure keeps.
	Purge Purge `yaml:"purge"`
	// List is the list of extension resources that an import requests.
	List ExtensionList `yaml:"list"`
	// WithoutDiagnostics marks types without diagnostic settings.
	WithoutDiagnostics Source `yaml:"withoutDiagnostics"`
	// PatchKeepsSecrets marks types of which a PATCH keeps the secrets that its body omits.
	PatchKeepsSecrets Source `yaml:"patchKeepsSecrets"`
}

// Source names the origin of a fact: a page at learn.microsoft.com/azure, another address, or
// a recorded response. A fact that is only true or not is true if it has a source.
type Source string

// Child is the kind of a child resource that comes and goes without a manifest.
type Child struct {
	Kind   ChildKind `yaml:"kind"`
	Source Source    `yaml:"source"`
}

// ChildKind is the kind of a child in Child.
type ChildKind string

// The kinds of children.
const (
	// ChildView mirrors a resource of another scope, which stays when the view goes.
	ChildView ChildKind = "view"
	// ChildPart is created and removed by its parent.
	ChildPart ChildKind = "part"
	// ChildSetting exists in every parent, and its value goes with the parent.
	ChildSetting ChildKind = "setting"
	// ChildCopy is a copy of the data of its parent. A list of copies does not show the data
	// itself.
	ChildCopy ChildKind = "copy"
)

// BuiltIn are the names of the children of a type that Azure creates with their parent.
type BuiltIn struct {
	// Names and Except are names, ignoring case, or patterns of path.Match; {parent} in them
	// is the name of the parent.
	Names  []string `yaml:"names"`
	Except []string `yaml:"except"`
	Source Source   `yaml:"source"`
}

// Has reports whether Azure creates the child with a name in every parent.
func (b BuiltIn) Has(parent, name string) bool {
	is := func(pattern string) bool {
		pattern = strings.ReplaceAll(strings.ToLower(pattern), "{parent}", strings.ToLower(parent))
		matches, err := path.Match(pattern, strings.ToLower(name))
		return err == nil && matches
	}
	return slices.ContainsFunc(b.Names, is) && !slices.ContainsFunc(b.Except, is)
}

// factsRow is the row of a type in a table of facts.
type factsRow struct {
	// Unpublished says why the published types lack the type.
	Unpublished string `yaml:"unpublished"`
	Facts       `yaml:",inline"`
}

// ParseFacts returns the entries of a table of facts in YAML: types, and below each its facts
// by the names that extensions/azure/facts.yaml uses. Unknown names are errors.
func ParseFacts(table []byte) ([]Entry, error) {
	decoder := yaml.NewDecoder(bytes.NewReader(table))
	decoder.KnownFields(true)
	var rows map[string]factsRow
	if err := decoder.Decode(&rows); err != nil {
		return nil, fmt.Errorf("read the table of facts: %w", err)
	}
	entries := make([]Entry, 0, len(rows))
	for _, resourceType := range slices.Sorted(maps.Keys(rows)) {
		row := rows[resourceType]
		entries = append(entries, Entry{Type: resourceType, Facts: row.Facts, Evidence: row.Unpublished})
	}
	return entries, nil
}

// isZero reports whether no fact is stated.
func (f Facts) isZero() bool { return reflect.ValueOf(f).IsZero() }

// add joins the lists of both, and replaces the other facts that more states.
func (f *Facts) add(more Facts) { addFields(reflect.ValueOf(f).Elem(), reflect.ValueOf(more)) }

func addFields(into, from reflect.Value) {
	for i := range from.NumField() {
		target, field := into.Field(i), from.Field(i)
		switch {
		case field.IsZero():
		case field.Kind() == reflect.Slice:
			target.Set(reflect.AppendSlice(target.Slice3(0, target.Len(), target.Len()), field))
		case from.Type().Field(i).Anonymous:
			addFields(target, field)
		default:
			target.Set(field)
		}
	}
}

// Facts returns the facts about a type: of the entries for all types, for its provider
// (Microsoft.Compute/*), for its last segment (*/snapshots), and for the type itself, which
// count in this order.
func (r *Registry) Facts(resourceType string) Facts {
	key := strings.ToLower(resourceType)
	if known, ok := r.known.Load(key); ok {
		facts, _ := known.(Facts)
		return facts
	}
	var facts Facts
	for _, pattern := range patternsOf(key) {
		facts.add(r.stated[pattern])
	}
	r.known.Store(key, facts)
	return facts
}

// patternsOf returns the types of the entries that apply to a type, both in lower case.
func patternsOf(resourceType string) []string {
	provider, _, _ := strings.Cut(resourceType, "/")
	return []string{AllTypes, provider + "/*", "*/" + path.Base(resourceType), resourceType}
}
