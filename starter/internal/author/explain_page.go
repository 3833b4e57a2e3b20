package author

import (
	"cmp"
	"slices"
	"strings"

	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/types"
)

// Page is the description of a type or of a property in it. Its JSON names do not
// change.
type Page struct {
	Type    string `json:"type"`
	Version string `json:"version"`
	// Path is "" for the body.
	Path string `json:"path,omitempty"`
	// Resource is set for the body only.
	Resource *Resource `json:"resource,omitempty"`
	Field    Field     `json:"field"`
	// Form is the form in which the path exists or which is shown, and Forms the paths
	// of the others in which the property differs.
	Form  string   `json:"form,omitempty"`
	Forms []string `json:"otherForms,omitempty"`
}

// Resource is what is known about a type besides its body.
type Resource struct {
	Versions Versions `json:"versions"`
	// Scopes in which a PUT can create the type; none if it cannot.
	Scopes []string `json:"scopes"`
	// Owner is the type of the owner of a nested type.
	Owner string `json:"owner,omitempty"`
	// Names are the published names, for example default; OtherNames means that others
	// are legal.
	Names      []string `json:"names,omitempty"`
	OtherNames bool     `json:"otherNames,omitempty"`
	// Name has the bounds of a name.
	Name     *Field  `json:"name,omitempty"`
	Children []Child `json:"children,omitempty"`
	// Actions are the published POST actions.
	Actions []string `json:"actions,omitempty"`
}

// Versions are the published api-versions of a type.
type Versions struct {
	NewestStable  string `json:"newestStable,omitempty"`
	NewestPreview string `json:"newestPreview,omitempty"`
	// All are the versions, newest first.
	All []string `json:"all"`
}

// Child is a type that is nested directly in another one.
type Child struct {
	Type       string   `json:"type"`
	Names      []string `json:"names,omitempty"`
	OtherNames bool     `json:"otherNames,omitempty"`
}

// Field describes a value.
type Field struct {
	Name      string `json:"name,omitempty"`
	Kind      string `json:"kind"`
	Required  bool   `json:"required,omitempty"`
	ReadOnly  bool   `json:"readOnly,omitempty"`
	WriteOnly bool   `json:"writeOnly,omitempty"`
	Secret    bool   `json:"secret,omitempty"`
	// Values are the published values; OtherValues means that others are legal.
	Values      []string `json:"values,omitempty"`
	OtherValues bool     `json:"otherValues,omitempty"`
	Min         *int64   `json:"min,omitempty"`
	Max         *int64   `json:"max,omitempty"`
	Pattern     string   `json:"pattern,omitempty"`
	// Discriminator is the property whose value selects one of Forms.
	Discriminator string   `json:"discriminator,omitempty"`
	Forms         []string `json:"forms,omitempty"`
	// Properties are the members of a mapping, and of the items of a list of mappings:
	// required ones first, read-only ones last. Deeper ones are left out.
	Properties []Field `json:"properties,omitempty"`
	// members are the names of the properties where Properties are left out.
	members []string
}

// Explain describes what a query asks for.
func Explain(q Query) (Page, error) {
	version := q.Version
	if version == "" {
		version = types.Newest(q.Type)
	}
	shape := types.Lookup(q.Type, version)
	if shape == nil {
		return Page{}, unknown("%s is not a published type%s", q.Type, didYouMean(q.Type))
	}
	places, path, err := find(shape, q.Path)
	if err != nil {
		return Page{}, err
	}
	page := Page{Type: q.Type, Version: shape.Version, Path: path}
	page.Field = fieldOf(places[0].property, 1)
	page.Field.Name = ""
	if path == "" {
		page.Resource = resourceOf(shape)
		page.Field.Properties = slices.DeleteFunc(page.Field.Properties, func(f Field) bool { return isOwnField(f.Name) })
	}
	if f := places[0].form; f.value != "" {
		page.Form = f.discriminator + "=" + f.value
		for _, other := range places[1:] {
			page.Forms = append(page.Forms, other.form.in(path))
		}
	}
	return page, nil
}

// isOwnField reports whether the manifest has a field of its own for a member of a body.
func isOwnField(name string) bool {
	return slices.Contains([]string{"id", "name", "type", "apiVersion"}, name)
}

func resourceOf(shape *types.Shape) *Resource {
	r := &Resource{Versions: VersionsOf(shape.Type), Scopes: Scopes(shape.Writable)}
	r.Names, r.OtherNames = namesOf(shape.PublishedNames())
	if strings.Count(shape.Type, "/") > 1 {
		r.Owner = shape.Type[:strings.LastIndexByte(shape.Type, '/')]
	}
	if p, found := shape.Body.Property("name"); found && len(r.Names) == 0 && p.Type.Bounds != nil {
		name := fieldOf(p, 0)
		name.Name, name.Required, name.ReadOnly = "", false, false
		r.Name = &name
	}
	for _, child := range types.Children(shape.Type) {
		c := Child{Type: child.Type}
		c.Names, c.OtherNames = namesOf(child.Names, child.Open)
		r.Children = append(r.Children, c)
	}
	for _, action := range shape.Actions {
		r.Actions = append(r.Actions, action.Name)
	}
	return r
}

// namesOf returns published names and whether others are legal beside them.
func namesOf(names []string, open bool) ([]string, bool) { return names, open && len(names) > 0 }

// VersionsOf returns the published api-versions of a type.
func VersionsOf(name string) Versions {
	v := Versions{All: types.Versions(name)}
	slices.Reverse(v.All)
	for _, version := range v.All {
		if types.Preview(version) {
			v.NewestPreview = cmp.Or(v.NewestPreview, version)
		} else {
			v.NewestStable = cmp.Or(v.NewestStable, version)
		}
	}
	return v
}

// Scopes returns the names of scopes, the smallest first.
func Scopes(scope types.Scope) []string {
	var names []string
	for _, s := range []struct {
		scope types.Scope
		name  string
	}{
		{types.ResourceGroupScope, "resource group"}, {types.SubscriptionScope, "subscription"},
		{types.ManagementGroupScope, "management group"}, {types.TenantScope, "tenant"}, {types.ExtensionScope, "resource"},
	} {
		if scope&s.scope != 0 {
			names = append(names, s.name)
		}
	}
	return names
}

// fieldOf describes a property with its members down to a number of levels.
func fieldOf(p types.Property, levels int) Field {
	n := p.Type
	f := Field{
		Name: p.Name, Kind: kindText(n),
		Required: p.Has(types.Required), ReadOnly: p.Has(types.ReadOnly), WriteOnly: p.Has(types.WriteOnly) && !p.Has(types.ReadOnly),
		Secret: n.Sensitive || isText(n) && resource.SecretName(p.Name),
	}
	if n.Bounds != nil {
		f.Min, f.Max, f.Pattern = n.Bounds.Min, n.Bounds.Max, n.Bounds.Pattern
	}
	inner := n.Innermost()
	f.Values, f.OtherValues = inner.Values()
	f.OtherValues = f.OtherValues && len(f.Values) > 0
	f.Discriminator = inner.Discriminator
	for _, v := range inner.Variants {
		f.Forms = append(f.Forms, v.Value)
	}
	properties := sortedProperties(inner)
	for _, property := range properties {
		if levels > 0 {
			f.Properties = append(f.Properties, fieldOf(property, levels-1))
		} else if !property.Has(types.ReadOnly) {
			f.members = append(f.members, property.Name)
		}
	}
	return f
}

// sortedProperties returns the properties of a mapping: required, optional, read-only,
// each by name. The discriminator of a mapping with forms is one of them.
func sortedProperties(n *types.Node) []types.Property {
	properties := slices.Clone(n.Properties)
	if _, found := n.Members("").Property(n.Discriminator); n.Kind == types.Discriminated && !found {
		values := &types.Node{Kind: types.Union}
		for _, v := range n.Variants {
			values.Elements = append(values.Elements, &types.Node{Kind: types.Literal, Name: v.Value})
		}
		properties = append(properties, types.Property{Name: n.Discriminator, Flags: types.Required, Type: values})
	}
	rank := func(p types.Property) int {
		switch {
		case p.Has(types.ReadOnly):
			return 2
		case p.Has(types.Required):
			return 0
		}
		return 1
	}
	slices.SortFunc(properties, func(a, b types.Property) int {
		return cmp.Or(cmp.Compare(rank(a), rank(b)), strings.Compare(strings.ToLower(a.Name), strings.ToLower(b.Name)))
	})
	return properties
}

func isText(n *types.Node) bool {
	return n.Kind == types.Text || n.Kind == types.Union || n.Kind == types.Literal
}

// kindText returns the kind of a value in the words of the manifest's messages.
func kindText(n *types.Node) string {
	switch n.Kind {
	case types.Boolean:
		return "true or false"
	case types.Text, types.Literal, types.Union:
		return "text"
	case types.Integer:
		return "number"
	case types.List:
		return "list of " + plural(n.Item)
	case types.Object, types.Discriminated:
		if n.Additional != nil && len(n.Properties) == 0 && len(n.Variants) == 0 {
			return "map of " + plural(n.Additional)
		}
		return "mapping"
	}
	return "any value"
}

// plural returns the kind of several values.
func plural(n *types.Node) string {
	text := kindText(n)
	switch text {
	case "true or false":
		return text
	case "text", "number", "mapping", "any value":
		return text + "s"
	}
	kind, rest, _ := strings.Cut(text, " ")
	return kind + "s " + rest
}
