package types

import (
	"slices"
	"strings"
)

// Kind is the kind of a value.
type Kind uint8

// The kinds. Any accepts every value. A Literal is one text. A Discriminated is an
// object whose discriminator selects one of its variants.
const (
	Any Kind = iota
	Boolean
	Text
	Literal
	Integer
	List
	Object
	Union
	Discriminated
)

// Flags are the published flags of a property.
type Flags uint8

// The flags. DeployTime marks type, apiVersion, id and name.
const (
	Required   Flags = 1
	ReadOnly   Flags = 2
	WriteOnly  Flags = 4
	DeployTime Flags = 8
	Identifier Flags = 16
)

// Scope is a set of scopes in which a type exists.
type Scope uint8

// The scopes.
const (
	TenantScope          Scope = 1
	ManagementGroupScope Scope = 2
	SubscriptionScope    Scope = 4
	ResourceGroupScope   Scope = 8
	ExtensionScope       Scope = 16
)

// Shape is the published shape of a resource type in one api-version.
type Shape struct {
	// Type is the type as published, for example Microsoft.Storage/storageAccounts.
	Type string
	// Version is the api-version of the shape.
	Version string
	// Exact is true if Version is the version of the lookup, and false if it is the
	// nearest one that is published.
	Exact bool
	// Body is an Object or a Discriminated.
	Body *Node
	// Readable and Writable are the scopes; Writable is 0 for a type that a PUT
	// cannot create.
	Readable, Writable Scope
	// Actions are the published actions of the type, by name.
	Actions []Action
}

// Action is a POST on a resource, for example listKeys. Input is nil if the action has
// none.
type Action struct {
	Name          string
	Input, Output *Node
}

// Node is the kind of a value with its members and bounds. Nodes are shared between
// shapes and must not be changed; a node may contain itself.
type Node struct {
	Kind Kind
	// Name is the published name of an object, or the value of a Literal.
	Name string
	// Sensitive marks a text or an object as a secret.
	Sensitive bool
	// Properties are the members of an Object, and those that all variants of a
	// Discriminated have, by name.
	Properties []Property
	// Additional is the kind of the values under keys that Properties does not
	// contain; nil if there are none.
	Additional *Node
	// Item is the kind of the items of a List.
	Item *Node
	// Elements are the kinds of a Union. A union with a Text is open: other texts
	// than its literals are legal.
	Elements []*Node
	// Discriminator is the property that selects one of Variants.
	Discriminator string
	Variants      []Variant
	// Bounds is nil if there are none.
	Bounds *Bounds
}

// Property is a member of an object.
type Property struct {
	Name  string
	Flags Flags
	Type  *Node
}

// Has reports whether the property has all of the flags.
func (p Property) Has(flags Flags) bool { return p.Flags&flags == flags }

// Variant is one form of a Discriminated: the object that belongs to a value of the
// discriminator.
type Variant struct {
	Value string
	Type  *Node
}

// Bounds are the lengths of a text or list, or the values of an integer. Min and Max
// are nil if there is no bound. Pattern is a regular expression for a text.
type Bounds struct {
	Min, Max *int64
	Pattern  string
}

// Values returns the published values of a text, and reports whether other values are
// legal too. It returns no values for other kinds.
func (n *Node) Values() (values []string, open bool) {
	switch n.Kind {
	case Literal:
		return []string{n.Name}, false
	case Union:
		for _, element := range n.Elements {
			switch element.Kind {
			case Literal:
				values = append(values, element.Name)
			default:
				open = true
			}
		}
	}
	return values, open
}

// HasFixedMembers reports whether a value is an object without keys that users choose.
func (n *Node) HasFixedMembers() bool {
	return n.Additional == nil && (n.Kind == Discriminated || n.Kind == Object && len(n.Properties) > 0)
}

// Has reports whether an object has a property.
func (n *Node) Has(name string) bool {
	_, found := n.Property(name)
	return found
}

// Property returns a property by its name, ignoring case if there is no exact match.
// In a Discriminated it also searches all variants.
func (n *Node) Property(name string) (Property, bool) {
	lists := [][]Property{n.Properties}
	for _, variant := range n.Variants {
		lists = append(lists, variant.Type.Properties)
	}
	return findProperty(name, lists...)
}

// findProperty returns a property of one of the lists: by its exact name, else
// ignoring case.
func findProperty(name string, lists ...[]Property) (Property, bool) {
	for _, list := range lists {
		if i, found := slices.BinarySearchFunc(list, name, func(p Property, name string) int { return strings.Compare(p.Name, name) }); found {
			return list[i], true
		}
	}
	for _, list := range lists {
		for _, p := range list {
			if strings.EqualFold(p.Name, name) {
				return p, true
			}
		}
	}
	return Property{}, false
}

// WritableIn reports whether a resource of the type can be created in a scope. Types
// without published scopes are writable everywhere.
func (s *Shape) WritableIn(scope Scope) bool {
	return s.Writable&scope != 0 || s.Readable == 0 && s.Writable == 0
}
