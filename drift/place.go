package drift

import "github.com/armature-io/armature/resource"

// place is one place of the desired body with what stands there in observed.
type place struct {
	// path is of use until its sibling's: those of one walk share their memory.
	// What outlives the walk takes a clone.
	path     resource.Path
	desired  any
	observed any
	// present is false where observed has nothing, not even null.
	present bool
	// free is set below names under which people choose keys and values.
	free bool
	// rights is set below a property that says what somebody may do.
	rights bool
	// of is the resource.
	of *subject
}

// roomForSteps is how deep a walk goes without taking memory for its paths anew.
const roomForSteps = 24

// roomForNames is how many names of an object are sorted without taking memory.
const roomForNames = 24

// root is the place of a whole body.
func root(desired any) place {
	return place{path: make(resource.Path, 0, roomForSteps), desired: desired}
}

// at is the place of a member or element of p. It takes the place of the one
// before.
func (p place) at(step resource.Step, desired, observed any, present bool) place {
	return place{
		path: append(p.path, step), desired: desired, observed: observed, present: present, of: p.of,
		free: p.free || peoplesWord(step.Name), rights: p.rights || resource.RightsName(step.Name),
	}
}

// placeOf is the place of a value that is looked at on its own.
func placeOf(path resource.Path, value any) place {
	p := root(value)
	p.path, p.of = append(p.path, path...), &subject{}
	for _, step := range path {
		p.free, p.rights = p.free || peoplesWord(step.Name), p.rights || resource.RightsName(step.Name)
	}
	return p
}

// absent reports whether observed has nothing here, or null.
func (p place) absent() bool { return !p.present || p.observed == nil }
