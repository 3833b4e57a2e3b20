package extensions

import (
	"fmt"
	"slices"
	"strings"

	"github.com/armature-io/armature/resource"
)

// BlockingState is a property by which a resource reports that ARM refuses changes in
// it, where the provisioning state does not.
type BlockingState struct {
	// Path leads to the state, from the top of the resource.
	Path string
	// States block, ignoring case. Settled, where it is set instead, are the only ones
	// that do not. With neither, the states of an operation in progress block
	// (resource.InFlight).
	States, Settled []string
}

// blocks reports whether a value at the path blocks the children. An absent state
// blocks nothing.
func (b BlockingState) blocks(r *Registry, resourceType, value string) bool {
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

// refusesChildren returns why ARM refuses changes in an owner that exists, "" where
// nothing is known against them.
func (r *Registry) refusesChildren(owner *resource.Object) string {
	if state := owner.ProvisioningState(); r.InFlight(owner.ID.Type(), state) {
		return fmt.Sprintf("%s is in provisioning state %q", ownerText(owner.ID), state)
	}
	for _, entry := range r.entries {
		if entry.Type != AllTypes && !strings.EqualFold(entry.Type, owner.ID.Type()) {
			continue
		}
		for _, stopped := range entry.Stopped {
			if value, _ := owner.StringAt(stopped.Path); strings.EqualFold(value, stopped.State) {
				return fmt.Sprintf("%s is stopped (%s is %q) and accepts no changes in it; start it %s", ownerText(owner.ID), stopped.Path, value, stopped.Start)
			}
		}
		for _, blocking := range entry.BlocksChildren {
			if value, _ := owner.StringAt(blocking.Path); blocking.blocks(r, owner.ID.Type(), value) {
				return fmt.Sprintf("%s accepts no changes in it while %s is %q", ownerText(owner.ID), blocking.Path, value)
			}
		}
	}
	return ""
}
