package resource

// Place is a place in a body, as far as the names of the properties on the way to it decide
// about secrets. The zero value is the body itself; the items of a list share its place.
type Place struct {
	// name is the property that contains the value.
	name string
	// secret: a text here is a secret by its name.
	secret bool
	// under, protected, rights: an enclosing property has the name of a secret, of protected
	// settings, or of permissions.
	under, protected, rights bool
}

// Secret reports whether a text here is a secret by its name.
func (p Place) Secret() bool { return p.secret }

// Member returns the place of a member of an object here. label is the text by which the
// object names its "value" (SecretLabels), and has reports whether the object has a member,
// ignoring case.
func (p Place) Member(name, label string, has func(member string) bool) Place {
	protected := p.protected || ProtectedName(name)
	around := Surroundings{Under: p.under, Label: label, Parent: p.name, Has: has}
	return Place{
		name:      name,
		secret:    protected || !p.rights && SecretProperty(name, around),
		under:     p.under || SecretName(name),
		protected: protected,
		rights:    p.rights || RightsName(name),
	}
}

// HasMember returns a function that reports whether an object has a member, ignoring case.
func HasMember(object map[string]any) func(member string) bool {
	return func(member string) bool {
		_, found := Step{Name: member}.Get(object)
		return found
	}
}
