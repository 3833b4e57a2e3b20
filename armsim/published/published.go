// Package published reads what Microsoft publishes about the resource types that can be
// written: the names, kinds and flags of their properties, and the allowed values, for
// every api-version. It is the simulator's own reader, apart from the product's, so that
// a mistake of one of them does not look like agreement.
//
// The data is the packed file of internal/azuretypes. A frame is decoded when a type of its
// provider is looked up for the first time, and kept for the rest of the process.
package published

import (
	"fmt"
	"strings"
	"sync"

	"github.com/armature-io/armature/internal/azuretypes"
)

// Kind is the kind of value that a node describes.
type Kind uint8

// The kinds. A Choice is a list of texts; an OpenChoice allows others too. Variants are
// objects that differ by the value of one of their properties.
const (
	Any Kind = iota
	Text
	Integer
	Boolean
	Choice
	OpenChoice
	List
	Object
	Variants
)

// Flags of a property, as published.
const (
	Required  = 1
	ReadOnly  = 2
	WriteOnly = 4
	// DeployTime marks name, type and apiVersion, which the URL contains.
	DeployTime = 8
)

// Node describes a value. Nodes are shared and must not be changed; a node may contain
// itself.
type Node struct {
	Kind   Kind
	Name   string      // of an object, as published
	Values []string    // of a choice
	Item   *Node       // of a list
	Fields []*Property // of an object, by name; of variants: those that all of them have
	// Additional describes the values of further members, nil if an object has none.
	Additional *Node
	// Discriminator is the name of the property that selects among the Variants.
	Discriminator string
	Variants      map[string]*Node
}

// Property is a member of an object.
type Property struct {
	Name  string
	Flags int
	Type  *Node
}

// Type is a resource type in one api-version.
type Type struct {
	Name, Version string // as published
	Body          *Node
}

// Field returns the property with a name, in any letter case, or nil. The exact spelling
// takes precedence, because a few types have two properties that differ by case.
func (n *Node) Field(name string) *Property {
	var found *Property
	for _, field := range n.Fields {
		if field.Name == name {
			return field
		}
		if found == nil && strings.EqualFold(field.Name, name) {
			found = field
		}
	}
	return found
}

// HoldsMore reports whether a value is a list or a map of texts.
func (n *Node) HoldsMore() bool {
	return n.Kind == List || n.Additional != nil && n.Additional.Kind == Text
}

// Variant returns the variant with a value of the discriminator, in any letter case, or
// nil.
func (n *Node) Variant(value string) *Node {
	if exact := n.Variants[value]; exact != nil {
		return exact
	}
	for name, variant := range n.Variants {
		if strings.EqualFold(name, value) {
			return variant
		}
	}
	return nil
}

// providers is the index of the data, read once.
var providers = sync.OnceValues(func() (map[string]*provider, error) { return readIndex(azuretypes.Packed()) })

// Lookup returns a resource type in an api-version or, if that version is not published,
// in the nearest earlier one. It returns nil for types that are not published, or cannot
// be written, or only in later versions.
func Lookup(resourceType, version string) (*Type, error) {
	versions, err := find(resourceType)
	if err != nil {
		return nil, err
	}
	var nearest *Type
	for i := range versions { // in ascending order
		if strings.ToLower(versions[i].Version) > strings.ToLower(version) {
			break
		}
		nearest = &versions[i]
	}
	return nearest, nil
}

func find(resourceType string) ([]Type, error) {
	index, err := providers()
	if err != nil {
		return nil, err
	}
	key := strings.ToLower(resourceType)
	namespace, _, _ := strings.Cut(key, "/")
	p := index[namespace]
	if p == nil {
		return nil, nil
	}
	types, err := p.types()
	if err != nil {
		return nil, fmt.Errorf("read the published types of %s: %w", namespace, err)
	}
	return types[key], nil
}

// All returns all types in all versions. It decodes all of the data.
func All() ([]Type, error) {
	index, err := providers()
	if err != nil {
		return nil, err
	}
	var all []Type
	for namespace, p := range index {
		types, err := p.types()
		if err != nil {
			return nil, fmt.Errorf("read the published types of %s: %w", namespace, err)
		}
		for _, versions := range types {
			all = append(all, versions...)
		}
	}
	return all, nil
}

// Types returns the types of a provider, by type in lower case, each in ascending order
// of its versions; nil for a provider that is not published.
func Types(namespace string) (map[string][]Type, error) {
	index, err := providers()
	if err != nil {
		return nil, err
	}
	p := index[strings.ToLower(namespace)]
	if p == nil {
		return nil, nil
	}
	return p.types()
}
