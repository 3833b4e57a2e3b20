package types

import (
	"strings"

	"github.com/armature-io/armature/resource"
)

// Paths is a set of paths of properties, in the form of Walk. The nil set is empty.
type Paths struct {
	next map[string]*Paths
	ends bool
}

// add adds a path in the form of Walk.
func (p *Paths) add(path []string) {
	at := p
	for _, step := range path {
		below := at.next[step]
		if below == nil {
			below = &Paths{}
			if at.next == nil {
				at.next = map[string]*Paths{}
			}
			at.next[step] = below
		}
		at = below
	}
	at.ends = true
}

// Below returns the rest of the paths after one step: any step of a list's element is
// one, and a name that no path has is the key of a map.
func (p *Paths) Below(step resource.Step) *Paths {
	if p == nil {
		return nil
	}
	if step.Name == "" {
		return p.next["[]"]
	}
	if below := p.next[strings.ToLower(step.Name)]; below != nil {
		return below
	}
	return p.next["*"]
}

// Ends reports whether a path ends here: the property is in the set.
func (p *Paths) Ends() bool { return p != nil && p.ends }

// Cover reports whether the set contains a path or one above it.
func (p *Paths) Cover(path resource.Path) bool {
	for _, step := range path {
		if p = p.Below(step); p == nil {
			return false
		}
		if p.ends {
			return true
		}
	}
	return false
}

// Contain reports whether the set contains a path.
func (p *Paths) Contain(path resource.Path) bool {
	for _, step := range path {
		p = p.Below(step)
	}
	return p.Ends()
}

// orNil returns nil for an empty set.
func (p *Paths) orNil() *Paths {
	if len(p.next) == 0 {
		return nil
	}
	return p
}
