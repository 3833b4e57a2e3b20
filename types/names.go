package types

import (
	"slices"

	"github.com/armature-io/armature/resource"
)

// nameKind returns the kind of the name of a resource of the type: where the name
// selects the form of the body, one of the values that do; nil if nothing is published.
func (s *Shape) nameKind() *Node {
	if s.Body.Kind == Discriminated && s.Body.Discriminator == nameMember {
		names := &Node{Kind: Union}
		for _, v := range s.Body.Variants {
			names.Elements = append(names.Elements, &Node{Kind: Literal, Name: v.Value})
		}
		return names
	}
	p, found := s.Body.Property(nameMember)
	if !found {
		return nil
	}
	return p.Type
}

// PublishedNames returns the published names of a resource of the type, and reports
// whether others are legal too.
func (s *Shape) PublishedNames() (names []string, open bool) {
	kind := s.nameKind()
	if kind == nil {
		return nil, true
	}
	names, open = kind.Values()
	return names, open || len(names) == 0
}

// CheckName returns the findings in the name of a resource of the type, ignoring case.
// They are warnings.
func (s *Shape) CheckName(name string) []Finding {
	kind := s.nameKind()
	if kind == nil {
		return nil
	}
	c := checker{shape: s}
	c.value(kind, name, place{path: resource.Path{{Name: nameMember}}})
	for i := range c.findings {
		c.findings[i].Fault = false
	}
	// A name in a URL has no case, and a number in it is a text.
	return slices.DeleteFunc(c.findings, func(f Finding) bool { return f.Rule == LetterCase || f.Rule == NumberAsText })
}

// Named returns the shape of a resource with a name. Where the name selects the form of
// the body, Body is that form; otherwise it is the shape itself.
func (s *Shape) Named(name string) *Shape {
	if s.Body.Kind != Discriminated || s.Body.Discriminator != nameMember {
		return s
	}
	form := s.Body.Form(name)
	if form == nil {
		return s
	}
	named := *s
	named.Body = form
	return &named
}
