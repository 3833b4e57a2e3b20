package extensionhost

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"

	"github.com/armature-io/armature/extensions"
	"github.com/armature-io/armature/resource"
)

var (
	_ extensions.Deleter                  = fixedChild{}
	_ extensions.PreReconciliationChecker = fixedChild{}
)

// fixedChild is the link of Fixed.
type fixedChild struct {
	resourceType string
	fixed        extensions.Fixed
}

// PreReconcileCheck refuses a name that ARM does not accept for the type.
func (f fixedChild) PreReconcileCheck(
	ctx context.Context,
	obj *resource.Object,
	owner *resource.Object,
	resolver extensions.Resolver,
	client extensions.ARMClient,
	log *slog.Logger,
	next extensions.PreReconcileCheckFunc,
) (extensions.PreReconcileCheckResult, error) {
	isName := func(name string) bool { return strings.EqualFold(name, obj.ID.Name()) }
	if names := f.fixed.Names; len(names) > 0 && !slices.ContainsFunc(names, isName) {
		return extensions.BlockReconcile(fmt.Sprintf("Each parent has one %s, and its name is %s, not %q", f.resourceType, strings.Join(names, " or "), obj.ID.Name()),
			extensions.WithReason("InvalidResourceName"), extensions.WithSeverity(resource.SeverityError)), nil
	}
	return next(ctx, obj, owner, resolver, client, log)
}

// Delete sends no request if ARM has no DELETE: the resource is deleted with its parent.
func (f fixedChild) Delete(
	ctx context.Context, obj *resource.Object, resolver extensions.Resolver, client extensions.ARMClient, log *slog.Logger, next extensions.DeleterFunc,
) error {
	if f.fixed.NoDelete {
		return extensions.NotYet(fmt.Sprintf("ARM has no DELETE for %s: %s is deleted with %s. To stop managing it and leave it in Azure, run armature forget",
			f.resourceType, obj.ID.Short(), obj.ID.Owner().Short()), extensions.WithReason(resource.ReasonDeletionNotSupported))
	}
	return next(ctx, obj, resolver, client, log)
}
