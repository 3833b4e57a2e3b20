package extensions

import (
	"context"
	"log/slog"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/armature-io/armature/resource"
)

// StateCheck blocks a pass in states of the resource, or of its owner.
type StateCheck struct {
	// Owner is set if the state is that of the owner of a child. The resource is left alone then, GET
	// included. A check of the resource itself is skipped in a forced pass.
	Owner bool `yaml:"owner"`
	// Path leads to the state. States block, ignoring case; Settled, if set instead, are the
	// only ones that do not. An absent state blocks nothing.
	Path    string   `yaml:"path"`
	States  []string `yaml:"states"`
	Settled []string `yaml:"settled"`
	// Message is the text of the block, with %q for the state.
	Message string `yaml:"message"`
	Source  Source `yaml:"source"`
}

var (
	_ PreReconciliationOwnerChecker = ownerStateCheck{}
	_ PreReconciliationChecker      = ownStateCheck{}
)

// ownerStateCheck and ownStateCheck are the links of StateCheck.
type (
	ownerStateCheck struct {
		check StateCheck
		// ownerType is the parent type of a child, which alone has the states.
		ownerType string
	}
	ownStateCheck struct{ check StateCheck }
)

// stateCheckLink returns the link of a check for a type.
func stateCheckLink(c StateCheck, resourceType string) any {
	if c.Owner {
		return ownerStateCheck{c, path.Dir(resourceType)}
	}
	return ownStateCheck{c}
}

// blockedBy returns the text of the block if the object is in a blocking state.
func blockedBy(c StateCheck, object *resource.Object) (message string, blocked bool) {
	state, _ := object.StringAt(c.Path)
	is := func(other string) bool { return strings.EqualFold(other, state) }
	blocked = slices.ContainsFunc(c.States, is)
	if c.States == nil {
		blocked = state != "" && !slices.ContainsFunc(c.Settled, is)
	}
	return strings.Replace(c.Message, "%q", strconv.Quote(state), 1), blocked
}

// PreReconcileOwnerCheck blocks while the owner is in a blocking state.
func (c ownerStateCheck) PreReconcileOwnerCheck(
	ctx context.Context,
	owner *resource.Object,
	resolver Resolver,
	client ARMClient,
	log *slog.Logger,
	next PreReconcileOwnerCheckFunc,
) (PreReconcileCheckResult, error) {
	if owner != nil && strings.EqualFold(owner.ID.Type(), c.ownerType) {
		if message, blocked := blockedBy(c.check, owner); blocked {
			return BlockReconcile(message), nil
		}
	}
	return next(ctx, owner, resolver, client, log)
}

// PreReconcileCheck blocks while the resource is in a blocking state, unless the
// pass is forced.
func (c ownStateCheck) PreReconcileCheck(
	ctx context.Context,
	obj *resource.Object,
	owner *resource.Object,
	resolver Resolver,
	client ARMClient,
	log *slog.Logger,
	next PreReconcileCheckFunc,
) (PreReconcileCheckResult, error) {
	if message, blocked := blockedBy(c.check, obj); blocked && !Forced(ctx) {
		return BlockReconcile(message), nil
	}
	return next(ctx, obj, owner, resolver, client, log)
}
