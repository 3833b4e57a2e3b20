package drift

import "github.com/armature-io/armature/resource"

// cursor is one position of a walk through desired, with the observed value at the
// same path.
type cursor struct {
	// path is valid until the walk moves on: the paths of one walk share their
	// backing array. Clone a path that outlives the step.
	path     resource.Path
	desired  any
	observed any
	// present is false if observed has nothing here, not even null.
	present bool
	// userDefined is set below properties with keys and values that users choose.
	userDefined bool
	// rights is set below a property that lists permissions.
	rights  bool
	subject *subject
}

const (
	// stepsCapacity is the depth of a walk without a further allocation.
	stepsCapacity = 24
	// namesCapacity is the number of names that are sorted without an allocation.
	namesCapacity = 24
)

// root returns the cursor of a whole body.
func root(desired any) cursor {
	return cursor{path: make(resource.Path, 0, stepsCapacity), desired: desired}
}

// at returns the cursor of a member or element of p. It reuses the path of the
// sibling before.
func (p cursor) at(step resource.Step, desired, observed any, present bool) cursor {
	return cursor{
		path: append(p.path, step), desired: desired, observed: observed, present: present, subject: p.subject,
		userDefined: p.userDefined || hasUserDefinedKeys(step.Name), rights: p.rights || resource.RightsName(step.Name),
	}
}

// cursorAt returns the cursor of a single value outside a walk.
func cursorAt(path resource.Path, value any) cursor {
	p := root(value)
	p.path, p.subject = append(p.path, path...), &subject{}
	for _, step := range path {
		p.userDefined, p.rights = p.userDefined || hasUserDefinedKeys(step.Name), p.rights || resource.RightsName(step.Name)
	}
	return p
}

// in returns the cursor of a value of a resource.
func (p cursor) in(s *subject) cursor {
	p.subject = s
	return p
}

// absent reports whether observed has nothing here, or null.
func (p cursor) absent() bool { return !p.present || p.observed == nil }
