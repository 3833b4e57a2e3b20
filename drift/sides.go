package drift

import (
	"iter"

	"github.com/armature-io/armature/internal/jsontree"
	"github.com/armature-io/armature/resource"
)

// sides is a value of a body, of a read or of a PUT, and the manifest's value at the same path.
type sides struct {
	path           resource.Path
	value, desired any
	// isStated is set if the manifest has the value, also as null.
	isStated bool
	// at and own are the indexes of an item in the lists of body and manifest; own is -1 if the
	// manifest lacks the item. keyed is set if a key identifies the items of both lists.
	at, own int
	keyed   bool
}

// inside yields the members of an object of the body by name, or the items of a list in order.
// The caller may remove members and replace items on the way.
func (s *subject) inside(of sides) iter.Seq[sides] {
	return func(yield func(sides) bool) {
		switch body := of.value.(type) {
		case map[string]any:
			desired, _ := of.desired.(map[string]any)
			for name := range jsontree.Names(body) {
				_, own, isStated := jsontree.Member(desired, name)
				if !yield(sides{path: of.path.With(resource.Step{Name: name}), value: body[name], desired: own, isStated: isStated}) {
					return
				}
			}
		case []any:
			desired, _ := of.desired.([]any)
			pairs := s.pair(of.path, desired, body)
			for at, own := range pairs.Of() {
				item := sides{path: of.path.With(pairs.Step(at, body[at])), value: body[at], at: at, own: own, keyed: pairs.Key != ""}
				if item.isStated = own >= 0; item.isStated {
					item.desired = desired[own]
				}
				if !yield(item) {
					return
				}
			}
		}
	}
}

// name returns the name of a member of an object.
func (s sides) name() string { return s.path[len(s.path)-1].Name }
