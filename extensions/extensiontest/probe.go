package extensiontest

import (
	"context"
	"log/slog"

	"github.com/armature-io/armature/extensions"
	"github.com/armature-io/armature/resource"
)

// probe is the rest of the chain: it counts how often it is reached and answers
// "go on", or the error that it is told.
type probe struct {
	reached *int
	fail    error
}

func (p probe) PreReconcileOwnerCheck(
	context.Context, *resource.Object, extensions.Resolver, extensions.ARMClient, *slog.Logger, extensions.PreReconcileOwnerCheckFunc,
) (extensions.PreReconcileCheckResult, error) {
	*p.reached++
	if p.fail != nil {
		return extensions.PreReconcileCheckResult{}, p.fail
	}
	return extensions.ProceedWithReconcile(), nil
}

func (p probe) PreReconcileCheck(
	context.Context, *resource.Object, *resource.Object, extensions.Resolver, extensions.ARMClient, *slog.Logger, extensions.PreReconcileCheckFunc,
) (extensions.PreReconcileCheckResult, error) {
	*p.reached++
	if p.fail != nil {
		return extensions.PreReconcileCheckResult{}, p.fail
	}
	return extensions.ProceedWithReconcile(), nil
}

func (p probe) PostReconcileCheck(
	context.Context, *resource.Object, *resource.Object, extensions.Resolver, extensions.ARMClient, *slog.Logger, extensions.PostReconcileCheckFunc,
) (extensions.PostReconcileCheckResult, error) {
	*p.reached++
	if p.fail != nil {
		return extensions.PostReconcileCheckResult{}, p.fail
	}
	return extensions.PostReconcileCheckResultSuccess(), nil
}
