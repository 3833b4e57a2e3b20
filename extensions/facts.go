package extensions

import (
	"bytes"
	"fmt"
	"maps"
	"path"
	"reflect"
	"slices"
	"strings"
	"sync"

	"github.com/armature-io/armature/drift"
	"github.com/armature-io/armature/internal/extensionshare"
	"github.com/armature-io/armature/resource"

	"go.yaml.in/yaml/v3"
)

// Facts are facts about a resource type that its published shape does not have. The zero
// value of a fact states nothing; derived rules then decide. Facts of several entries of one
// type add up: lists are joined, of other facts the last one counts.
type Facts struct {
	// Name is the word of the CLI for a resource of the type, Product that for the provider,
	// "-" for none. The CLI knows those that ship with Armature.
	Name    string `yaml:"name"`
	Product string `yaml:"product"`
	// Recreation states whether a deleted resource is recreated.
	Recreation Recreation `yaml:"recreation"`
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
	// Families are the children that ARM refuses to change while a sibling or the resource
	// itself changes.
	Families []Family `yaml:"families"`
	// Leaf marks a type that can have no children in ARM and that no other resource waits
	// for.
	Leaf Source `yaml:"leaf"`
	// InlineLists are the lists in a body of the type that contain child resources. A PUT
	// keeps the children that its body does not name.
	InlineLists []InlineList `yaml:"inlineLists"`
	// Fixed is stated for a child that exists exactly as long as its parent.
	Fixed Fixed `yaml:"fixed"`
	// Stopped are the states in which a PUT would start a stopped resource or be refused.
	// The default pre-check does not send one then.
	Stopped []StoppedState `yaml:"stopped"`
	// Busy are the states of an operation in progress for which Azure has another property
	// or word than those of resource.InFlight. The defaults send no PUT to the resource then,
	// block changes of its children and of what refers to it, and report it as not Ready.
	Busy []BlockingState `yaml:"busy"`
	// BlocksChildren are the states of a resource in which ARM refuses changes of its
	// children. The default owner check blocks them then, and in the states of Stopped.
	BlocksChildren []BlockingState `yaml:"blocksChildren"`
	// Checks block a pass in states of the resource or of its owner, with messages of their
	// own.
	Checks []StateCheck `yaml:"checks"`
	// Errors change the class or the advice of errors.
	Errors []ErrorClass `yaml:"errors"`
	// Comparison has the facts for comparisons and bodies.
	Comparison drift.Facts `yaml:",inline"`
	// ReadActions are published actions that only read, although their names do not begin with
	// list.
	ReadActions []Actions `yaml:"readActions"`
	// WakingActions are actions that change what a GET shows: a report of one is a reason to read
	// the resource. An action that is not in them wakes nothing.
	WakingActions []Actions `yaml:"wakingActions"`
	// Reported names the sources that report every change of a resource of the type.
	Reported Reported `yaml:"reported"`
	// Values are values of properties beside the published ones: an extension replaces them.
	Values []Values `yaml:"values"`
	// DeletesUnmanaged are the values of a body for which ARM deletes resources that no manifest
	// names. Such a PUT needs resource.Deletion.Unmanaged.
	DeletesUnmanaged []DeletingValue `yaml:"deletesUnmanaged"`
	// PutKeepsOmitted marks types whose service handles a PUT like a PATCH: what a body omits
	// stays, and a list that it contains is the whole list.
	PutKeepsOmitted Source `yaml:"putKeepsOmitted"`
}

// Source names the origin of a fact: a page at learn.microsoft.com/azure, another address, or
// a recorded response. A fact that is only true or not is true if it has a source.
type Source string

// Actions are names of actions.
type Actions struct {
	Names  []string `yaml:"names"`
	Source Source   `yaml:"source"`
}

// Reported are sources of changes: resource-graph or event-grid.
type Reported struct {
	By     []string `yaml:"by"`
	Source Source   `yaml:"source"`
}

// Values are values of a property.
type Values struct {
	Path   string   `yaml:"path"`
	Values []string `yaml:"values"`
	Source Source   `yaml:"source"`
}

// DeletingValue is a value of a property, ignoring case, for which a PUT deletes other resources.
type DeletingValue struct {
	Path   string `yaml:"path"`
	Value  string `yaml:"value"`
	Source Source `yaml:"source"`
}

// DeletingMember returns the member of a body, with its value, that is in DeletesUnmanaged, and
// "" if there is none.
func (f Facts) DeletingMember(body map[string]any) string {
	object := resource.Object{Observed: body}
	for _, deleting := range f.DeletesUnmanaged {
		if text, _ := object.StringAt(deleting.Path); text != "" && strings.EqualFold(text, deleting.Value) {
			return deleting.Path + ": " + text
		}
	}
	return ""
}

// Family is a list of children ("subnets", "a/b" for deeper ones) that change one at a time.
type Family struct {
	Children []string `yaml:"children"`
	Source   Source   `yaml:"source"`
}

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
	// ChildRule has no use without its parent, and often another writer: a firewall rule, an
	// extension that a policy installed. A deletion names it and does not wait for it.
	ChildRule ChildKind = "rule"
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

// FactsByType returns a function for the facts that entries state about a type: for all types,
// for its provider (Microsoft.Compute/*), for its last segment (*/snapshots), and for the type
// itself, which count in this order.
func FactsByType(entries []Entry) func(resourceType string) Facts {
	stated := map[string]Facts{}
	for _, entry := range entries {
		key := strings.ToLower(entry.Type)
		stated[key] = stated[key].With(entry.Facts)
	}
	var known sync.Map // facts by type in lower case
	return func(resourceType string) Facts {
		key := strings.ToLower(resourceType)
		if found, ok := known.Load(key); ok {
			facts, _ := found.(Facts)
			return facts
		}
		var facts Facts
		for _, pattern := range extensionshare.Patterns(key) {
			facts = facts.With(stated[pattern])
		}
		known.Store(key, facts)
		return facts
	}
}

// With returns the facts of both: lists are joined, and more replaces the other facts that it
// states.
func (f Facts) With(more Facts) Facts {
	addFields(reflect.ValueOf(&f).Elem(), reflect.ValueOf(more))
	return f
}

func addFields(into, from reflect.Value) {
	for i := range from.NumField() {
		target, field := into.Field(i), from.Field(i)
		switch {
		case field.IsZero():
		case field.Kind() == reflect.Slice:
			target.Set(reflect.AppendSlice(target.Slice3(0, target.Len(), target.Len()), field))
		case from.Type().Field(i).Tag.Get("yaml") == ",inline":
			addFields(target, field)
		default:
			target.Set(field)
		}
	}
}

// ReadActionNames returns the names of all ReadActions.
func (f Facts) ReadActionNames() []string {
	var names []string
	for _, actions := range f.ReadActions {
		names = append(names, actions.Names...)
	}
	return names
}

// Wakes reports whether an action, ignoring case, is in WakingActions.
func (f Facts) Wakes(action string) bool {
	return slices.ContainsFunc(f.WakingActions, func(actions Actions) bool {
		return slices.ContainsFunc(actions.Names, func(name string) bool { return strings.EqualFold(name, action) })
	})
}

// ReportedBy reports whether a source reports every change of a resource.
func (f Facts) ReportedBy(source string) bool { return slices.Contains(f.Reported.By, source) }
