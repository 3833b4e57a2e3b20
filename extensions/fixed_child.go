package extensions

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"

	"github.com/armature-io/armature/resource"
)

// Fixed describes a child that exists exactly as long as its parent: ARM accepts only some
// names for it, has no DELETE, or both.
type Fixed struct {
	// Names are the only ones that ARM accepts; empty means any.
	Names []string `yaml:"names"`
	// NoDelete is set if ARM has no DELETE.
	NoDelete bool   `yaml:"noDelete"`
	Source   Source `yaml:"source"`
}

var (
	_ Deleter                  = fixedChild{}
	_ PreReconciliationChecker = fixedChild{}
)

// fixedChild is the link of Fixed.
type fixedChild struct {
	resourceType string
	fixed        Fixed
}

// PreReconcileCheck refuses a name that ARM does not accept for the type.
func (f fixedChild) PreReconcileCheck(
	ctx context.Context,
	obj *resource.Object,
	owner *resource.Object,
	resolver Resolver,
	client ARMClient,
	log *slog.Logger,
	next PreReconcileCheckFunc,
) (PreReconcileCheckResult, error) {
	isName := func(name string) bool { return strings.EqualFold(name, obj.ID.Name()) }
	if names := f.fixed.Names; len(names) > 0 && !slices.ContainsFunc(names, isName) {
		return BlockReconcile(fmt.Sprintf("Each parent has one %s, and its name is %s, not %q", f.resourceType, strings.Join(names, " or "), obj.ID.Name()),
			WithReason("InvalidResourceName"), WithSeverity(resource.SeverityError)), nil
	}
	return next(ctx, obj, owner, resolver, client, log)
}

// Delete sends no request if ARM has no DELETE: the resource is deleted with its parent.
func (f fixedChild) Delete(
	ctx context.Context, obj *resource.Object, resolver Resolver, client ARMClient, log *slog.Logger, next DeleterFunc,
) error {
	if f.fixed.NoDelete {
		return NotYet(fmt.Sprintf("ARM has no DELETE for %s: %s is deleted with %s. To stop managing it and leave it in Azure, run armature forget",
			f.resourceType, obj.ID.Short(), obj.ID.Owner().Short()), WithReason(resource.ReasonDeletionNotSupported))
	}
	return next(ctx, obj, resolver, client, log)
}
