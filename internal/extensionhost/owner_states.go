package extensionhost

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/armature-io/armature/extensions"
	"github.com/armature-io/armature/resource"
)

// blocks reports whether a value at the path of a state blocks the children of a resource.
// An absent state blocks nothing.
func (r *Registry) blocks(b extensions.BlockingState, resourceType, value string) bool {
	is := func(state string) bool { return strings.EqualFold(state, value) }
	switch {
	case value == "":
		return false
	case len(b.Settled) > 0:
		return !slices.ContainsFunc(b.Settled, is)
	case len(b.States) > 0:
		return slices.ContainsFunc(b.States, is)
	}
	return r.InFlight(resourceType, value)
}

// holding is a state of a resource by which a fact of its type holds a change, and the source
// of the fact.
type holding struct {
	text   string
	source extensions.Source
}

// busyState returns the state by which a resource shows an operation in progress besides
// its provisioning state, nil if there is none.
func (r *Registry) busyState(obj *resource.Object) *holding {
	for _, state := range r.Facts(obj.ID.Type()).Busy {
		if value, _ := obj.StringAt(state.Path); r.blocks(state, obj.ID.Type(), value) {
			return &holding{fmt.Sprintf("%s is %q", state.Path, value), state.Source}
		}
	}
	return nil
}

// refusesReferences returns why a resource that exists and is neither changing nor broken
// holds the resources that refer to it, nil if nothing is known.
func (r *Registry) refusesReferences(obj *resource.Object) *holding {
	if obj == nil {
		return nil
	}
	if busy := r.busyState(obj); busy != nil {
		return busy
	}
	for _, stopped := range r.Facts(obj.ID.Type()).Stopped {
		if value, _ := obj.StringAt(stopped.Path); stopped.HoldsReferences && strings.EqualFold(value, stopped.State) {
			return &holding{strings.TrimSpace(fmt.Sprintf("it is stopped (%s is %q); start it %s", stopped.Path, value, stopped.Start)), stopped.Source}
		}
	}
	return nil
}

// factResolver adds to a resolution what the facts of the type state: a busy resource is
// not ready.
type factResolver struct {
	extensions.Resolver
	registry *Registry
}

// resolver returns the resolver of a request for its links.
func (r *Registry) resolver(req Request) extensions.Resolver {
	if req.Resolver == nil {
		return nil
	}
	return factResolver{Resolver: req.Resolver, registry: r}
}

// Resolve implements Resolver.
func (f factResolver) Resolve(ctx context.Context, reference resource.Reference) (extensions.Resolution, error) {
	resolution, err := f.Resolver.Resolve(ctx, reference)
	if err == nil && resolution.Ready {
		if held := f.registry.refusesReferences(resolution.Object); held != nil {
			resolution.Ready, resolution.Refusal = false, held.text
		}
	}
	return resolution, err
}

// refusesChildren returns why ARM refuses changes in an owner that exists, nil if nothing is
// known against them.
func (r *Registry) refusesChildren(owner *resource.Object) *holding {
	if state := owner.ProvisioningState(); r.InFlight(owner.ID.Type(), state) {
		return &holding{text: fmt.Sprintf("%s is in provisioning state %q", ownerText(owner.ID), state)}
	}
	if busy := r.busyState(owner); busy != nil {
		return &holding{fmt.Sprintf("%s is busy: %s", ownerText(owner.ID), busy.text), busy.source}
	}
	facts := r.Facts(owner.ID.Type())
	for _, stopped := range facts.Stopped {
		if value, _ := owner.StringAt(stopped.Path); strings.EqualFold(value, stopped.State) {
			return &holding{fmt.Sprintf("%s is stopped (%s is %q) and accepts no changes in it; start it %s", ownerText(owner.ID), stopped.Path, value, stopped.Start), stopped.Source}
		}
	}
	for _, blocking := range facts.BlocksChildren {
		if value, _ := owner.StringAt(blocking.Path); r.blocks(blocking, owner.ID.Type(), value) {
			return &holding{fmt.Sprintf("%s accepts no changes in it while %s is %q", ownerText(owner.ID), blocking.Path, value), blocking.Source}
		}
	}
	return nil
}

// refusesBelow returns the nearest resource above the owner in which ARM refuses changes, with
// the reason. It reads only types whose facts state that an operation holds everything below,
// for example the service of an API with a policy. A resource that cannot be read refuses
// nothing.
func (r *Registry) refusesBelow(ctx context.Context, owner resource.ID, resolver extensions.Resolver) (resource.ID, *holding) {
	for at := owner; resolver != nil && at.IsChild(); {
		at = at.Owner()
		if !r.holdsBelow(at.Type()) {
			continue
		}
		found, err := resolver.Resolve(ctx, resource.Reference{ID: at})
		if err != nil || !found.Object.Exists() {
			continue
		}
		if held := r.refusesChildren(found.Object); held != nil {
			return at, held
		}
	}
	return resource.ID{}, nil
}

// holdsBelow reports whether states of a type hold all resources below it: those of an
// operation, and stopped ones that hold references too.
func (r *Registry) holdsBelow(resourceType string) bool {
	facts := r.Facts(resourceType)
	return len(facts.Busy) > 0 || slices.ContainsFunc(facts.Stopped, func(s extensions.StoppedState) bool { return s.HoldsReferences })
}
