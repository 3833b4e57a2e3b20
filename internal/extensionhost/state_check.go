package extensionhost

import (
	"cmp"
	"context"
	"log/slog"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/armature-io/armature/extensions"
	"github.com/armature-io/armature/resource"
)

var (
	_ extensions.PreReconciliationOwnerChecker = ownerStateCheck{}
	_ extensions.PreReconciliationChecker      = ownStateCheck{}
)

// ownerStateCheck and ownStateCheck are the links of StateCheck.
type (
	ownerStateCheck struct {
		check extensions.StateCheck
		// ownerType is the parent type of a child, which alone has the states.
		ownerType string
	}
	ownStateCheck struct{ check extensions.StateCheck }
)

// ExtensionName returns the source of the fact.
func (c ownerStateCheck) ExtensionName() string { return cmp.Or(factOrigin(c.check.Source), "fact") }

// ExtensionName returns the source of the fact.
func (c ownStateCheck) ExtensionName() string { return cmp.Or(factOrigin(c.check.Source), "fact") }

// stateCheckLink returns the link of a check for a type.
func stateCheckLink(c extensions.StateCheck, resourceType string) any {
	if c.Owner {
		return ownerStateCheck{c, path.Dir(resourceType)}
	}
	return ownStateCheck{c}
}

// blockedBy returns the text of the block if the object is in a blocking state.
func blockedBy(c extensions.StateCheck, object *resource.Object) (message string, blocked bool) {
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
	resolver extensions.Resolver,
	client extensions.ARMClient,
	log *slog.Logger,
	next extensions.PreReconcileOwnerCheckFunc,
) (extensions.PreReconcileCheckResult, error) {
	if owner != nil && strings.EqualFold(owner.ID.Type(), c.ownerType) {
		if message, blocked := blockedBy(c.check, owner); blocked {
			return extensions.BlockReconcile(message), nil
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
	resolver extensions.Resolver,
	client extensions.ARMClient,
	log *slog.Logger,
	next extensions.PreReconcileCheckFunc,
) (extensions.PreReconcileCheckResult, error) {
	if message, blocked := blockedBy(c.check, obj); blocked && !extensions.Forced(ctx) {
		return extensions.BlockReconcile(message), nil
	}
	return next(ctx, obj, owner, resolver, client, log)
}
