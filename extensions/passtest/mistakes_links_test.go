package passtest_test

import (
	"context"
	"log/slog"
	"strings"

	"github.com/armature-io/armature/arm"
	"github.com/armature-io/armature/extensions"
	"github.com/armature-io/armature/resource"
)

type (
	preResult = extensions.PreReconcileCheckResult
	preNext   = extensions.PreReconcileCheckFunc
)

// given are the inputs of a pre-check.
type given struct {
	ctx        context.Context
	obj, owner *resource.Object
	resolver   extensions.Resolver
	client     extensions.ARMClient
	log        *slog.Logger
	next       preNext
}

func (g given) callNext() (preResult, error) {
	return g.next(g.ctx, g.obj, g.owner, g.resolver, g.client, g.log)
}

// right is the check without a mistake: it blocks while the thing is Busy.
func (g given) right() (preResult, error) {
	if state, _ := g.obj.StringAt("properties.state"); strings.EqualFold(state, "Busy") && !extensions.Forced(g.ctx) {
		return extensions.BlockReconcile("thing is " + state), nil
	}
	return g.callNext()
}

// Link is a pre-check with a mistake.
type Link func(g given) (preResult, error)

func (l Link) PreReconcileCheck(ctx context.Context, obj, owner *resource.Object, resolver extensions.Resolver,
	client extensions.ARMClient, log *slog.Logger, next preNext,
) (preResult, error) {
	return l(given{ctx, obj, owner, resolver, client, log, next})
}

// OwnerLink is an owner check with a mistake.
type OwnerLink func(ctx context.Context, owner *resource.Object, next func() (preResult, error)) (preResult, error)

func (l OwnerLink) PreReconcileOwnerCheck(ctx context.Context, owner *resource.Object, resolver extensions.Resolver,
	client extensions.ARMClient, log *slog.Logger, next extensions.PreReconcileOwnerCheckFunc,
) (preResult, error) {
	return l(ctx, owner, func() (preResult, error) { return next(ctx, owner, resolver, client, log) })
}

// Modifier is a modifier with a mistake.
type Modifier func(payload map[string]any, next func() (map[string]any, error)) (map[string]any, error)

func (l Modifier) ModifyARMResource(ctx context.Context, payload map[string]any, obj, owner *resource.Object, resolver extensions.Resolver,
	client extensions.ARMClient, log *slog.Logger, next extensions.ARMResourceModifierFunc,
) (map[string]any, error) {
	return l(payload, func() (map[string]any, error) { return next(ctx, payload, obj, owner, resolver, client, log) })
}

// Renamer is a classifier that changes the error instead of its details.
type Renamer struct{}

func (Renamer) ClassifyError(ctx context.Context, err *arm.Error, obj *resource.Object, resolver extensions.Resolver, client extensions.ARMClient,
	log *slog.Logger, next extensions.ErrorClassifierFunc,
) (extensions.ErrorDetails, error) {
	err.Code = "SizeIsFinal"
	return next(ctx, err, obj, resolver, client, log)
}

// OddClass is a classifier with an unknown retry class.
type OddClass struct{}

func (OddClass) ClassifyError(ctx context.Context, err *arm.Error, obj *resource.Object, resolver extensions.Resolver, client extensions.ARMClient,
	log *slog.Logger, next extensions.ErrorClassifierFunc,
) (extensions.ErrorDetails, error) {
	details, failed := next(ctx, err, obj, resolver, client, log)
	details.Class = "Sometimes"
	return details, failed
}

// ByPointer has its method at the pointer.
type ByPointer struct{}

func (*ByPointer) PreReconcileCheck(ctx context.Context, obj, owner *resource.Object, resolver extensions.Resolver,
	client extensions.ARMClient, log *slog.Logger, next preNext,
) (preResult, error) {
	return next(ctx, obj, owner, resolver, client, log)
}

// OtherSignature has a right point, and another with a wrong signature.
type OtherSignature struct{ Link }

func (OtherSignature) PostReconcileCheck(context.Context, *resource.Object) error { return nil }

// OtherName has a right point, and another with a misspelt name.
type OtherName struct{ Link }

func (OtherName) PostReconcilCheck(ctx context.Context, obj, owner *resource.Object, resolver extensions.Resolver,
	client extensions.ARMClient, log *slog.Logger, next extensions.PostReconcileCheckFunc,
) (extensions.PostReconcileCheckResult, error) {
	return next(ctx, obj, owner, resolver, client, log)
}

// NoPoint has no method of a point.
type NoPoint struct{}
