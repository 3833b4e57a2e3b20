package extensionhost

import (
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/armature-io/armature/extensions"
	"github.com/armature-io/armature/internal/extensionshare"
	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/types"
)

// Registry finds the links of a type and runs their chains: one method per
// step of a pass. It is safe for concurrent use and never changes.
type Registry struct {
	entries []extensions.Entry
	// keys are the types of the entries in lower case, and made the links that their facts
	// make, both by the index of the entry. sources are the entries with a FactSource.
	keys    []string
	made    [][]any
	sources []extensions.Entry
	// entryFacts returns the facts that the entries state about a type.
	entryFacts func(resourceType string) extensions.Facts
	// inline are the lists of InlineListers by type in lower case.
	inline  sync.Map
	hanging *hangingCalls
	// outline returns a hash of the entries, for fingerprints.
	outline func() string
}

// New returns a registry of the entries. Within a chain the earlier entry is the
// outer one. An entry whose type is none, or whose link implements no point or has a
// method of a point with another signature, is an error: it would never be called.
// Warnings has what may be right.
func New(entries ...extensions.Entry) (*Registry, error) {
	r := &Registry{entries: slices.Clone(entries), entryFacts: extensions.FactsByType(entries), hanging: &hangingCalls{calls: map[string]int{}, doubles: map[string]bool{}}}
	r.outline = sync.OnceValue(func() string { return outlineOf(r.entries) })
	ofType := map[string][]extensions.Entry{}
	for i, entry := range entries {
		made, err := validate(entry, i)
		if err != nil {
			return nil, err
		}
		key := strings.ToLower(entry.Type)
		if slices.ContainsFunc(ofType[key], func(other extensions.Entry) bool { return isTwin(entry, other) }) {
			return nil, fmt.Errorf("register extension %s for %s: it is registered twice, and would decide and write twice; a worker adds the built-in extensions by itself",
				typeAndLine(entry.Link), entry.Type)
		}
		ofType[key] = append(ofType[key], entry)
		r.keys, r.made = append(r.keys, key), append(r.made, made)
		if _, ok := entry.Link.(FactSource); ok {
			r.sources = append(r.sources, entry)
		}
	}
	return r, nil
}

// links returns the links of a type in order.
func (r *Registry) links(resourceType string) []any {
	var found []any
	patterns := extensionshare.Patterns(strings.ToLower(resourceType))
	for i, entry := range r.entries {
		if entry.Link == nil && r.made[i] == nil || !slices.Contains(patterns, r.keys[i]) {
			continue
		}
		if entry.Link != nil {
			found = append(found, entry.Link)
		}
		if source, ok := entry.Link.(LinkSource); ok {
			found = append(found, source.Links(resourceType)...)
		}
		found = append(found, r.made[i]...)
	}
	return found
}

// modifiers returns the modifiers of a type. The one that keeps inline children
// is the outermost.
func (r *Registry) modifiers(resourceType string) []extensions.ARMResourceModifier {
	modifiers := implementing[extensions.ARMResourceModifier](r.links(resourceType))
	if lists := r.childFacts(resourceType).lists; len(lists) > 0 {
		modifiers = slices.Insert(modifiers, 0, extensions.ARMResourceModifier(childKeeper{lists: lists}))
	}
	return modifiers
}

// Modifies reports whether a type has modifiers, which need the resource as the
// last GET showed it, unmasked.
func (r *Registry) Modifies(resourceType string) bool {
	return len(r.modifiers(resourceType)) > 0
}

// Deletes reports whether an extension takes part in the DELETE of the type: it may
// send requests of its own before it.
func (r *Registry) Deletes(resourceType string) bool {
	return len(implementing[extensions.Deleter](r.links(resourceType))) > 0
}

// Children returns the child collections of a type that a delete takes along and
// that must be listed before it, relative to the resource's ID, for example
// "databases" for a Kusto cluster.
func (r *Registry) Children(resourceType string) []string {
	var children []string
	for _, lister := range implementing[extensions.ChildLister](r.links(resourceType)) {
		children = append(children, lister.Children()...)
	}
	return children
}

// InFlight reports whether a provisioning state means an operation in progress
// for a type: the table of resource.InFlight, without the states that the type's
// RestingStaters except.
func (r *Registry) InFlight(resourceType, state string) bool {
	if !resource.InFlight(state) {
		return false
	}
	for _, stater := range implementing[extensions.RestingStater](r.links(resourceType)) {
		for _, word := range stater.RestingStates() {
			if strings.EqualFold(word, state) {
				return false
			}
		}
	}
	return true
}

// OwnerToRead returns the resource that must be read before CheckOwner: the owner, or
// what is above it where the owner is only a part of the path, as in
// .../providers/Microsoft.Quota/locations/westus2. It returns the zero ID at a root, and
// where that is a subscription, management group or tenant, which have no state that
// could refuse anything.
func (r *Registry) OwnerToRead(id resource.ID) resource.ID {
	owner := id.Owner()
	for !owner.IsZero() && !owner.IsContainer() && types.IsPath(owner.Type()) {
		owner = owner.Owner()
	}
	if owner.IsContainer() && !strings.EqualFold(owner.Type(), resource.TypeResourceGroup) {
		return resource.ID{}
	}
	return owner
}
