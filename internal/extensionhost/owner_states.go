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

// busyState returns the state by which a resource shows an operation in progress besides
// its provisioning state, and whether there is one.
func (r *Registry) busyState(obj *resource.Object) (path, value string, busy bool) {
	for _, state := range r.Facts(obj.ID.Type()).Busy {
		if value, _ := obj.StringAt(state.Path); r.blocks(state, obj.ID.Type(), value) {
			return state.Path, value, true
		}
	}
	return "", "", false
}

// refusesReferences returns why a resource that exists and is neither changing nor broken
// holds what refers to it, "" where nothing is known.
func (r *Registry) refusesReferences(obj *resource.Object) string {
	if obj == nil {
		return ""
	}
	if path, value, busy := r.busyState(obj); busy {
		return fmt.Sprintf("%s is %q", path, value)
	}
	for _, stopped := range r.Facts(obj.ID.Type()).Stopped {
		if value, _ := obj.StringAt(stopped.Path); stopped.HoldsReferences && strings.EqualFold(value, stopped.State) {
			return strings.TrimSpace(fmt.Sprintf("it is stopped (%s is %q); start it %s", stopped.Path, value, stopped.Start))
		}
	}
	return ""
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
		if resolution.Refusal = f.registry.refusesReferences(resolution.Object); resolution.Refusal != "" {
			resolution.Ready = false
		}
	}
	return resolution, err
}

// refusesChildren returns why ARM refuses changes in an owner that exists, "" where
// nothing is known against them.
func (r *Registry) refusesChildren(owner *resource.Object) string {
	if state := owner.ProvisioningState(); r.InFlight(owner.ID.Type(), state) {
		return fmt.Sprintf("%s is in provisioning state %q", ownerText(owner.ID), state)
	}
	if path, value, busy := r.busyState(owner); busy {
		return fmt.Sprintf("%s is busy: %s is %q", ownerText(owner.ID), path, value)
	}
	facts := r.Facts(owner.ID.Type())
	for _, stopped := range facts.Stopped {
		if value, _ := owner.StringAt(stopped.Path); strings.EqualFold(value, stopped.State) {
			return fmt.Sprintf("%s is stopped (%s is %q) and accepts no changes in it; start it %s", ownerText(owner.ID), stopped.Path, value, stopped.Start)
		}
	}
	for _, blocking := range facts.BlocksChildren {
		if value, _ := owner.StringAt(blocking.Path); r.blocks(blocking, owner.ID.Type(), value) {
			return fmt.Sprintf("%s accepts no changes in it while %s is %q", ownerText(owner.ID), blocking.Path, value)
		}
	}
	return ""
}
