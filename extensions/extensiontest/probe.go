package extensiontest

import (
	"context"
	"log/slog"

	"github.com/armature-io/armature/extensions"
	"github.com/armature-io/armature/resource"
)

// probe replaces the rest of the chain. It counts its calls and returns a result
// that lets the pass continue, or an error.
type probe struct {
	calls *int
	err   error
}

func (p probe) PreReconcileOwnerCheck(
	context.Context, *resource.Object, extensions.Resolver, extensions.ARMClient, *slog.Logger, extensions.PreReconcileOwnerCheckFunc,
) (extensions.PreReconcileCheckResult, error) {
	*p.calls++
	if p.err != nil {
		return extensions.PreReconcileCheckResult{}, p.err
	}
	return extensions.ProceedWithReconcile(), nil
}

func (p probe) PreReconcileCheck(
	context.Context, *resource.Object, *resource.Object, extensions.Resolver, extensions.ARMClient, *slog.Logger, extensions.PreReconcileCheckFunc,
) (extensions.PreReconcileCheckResult, error) {
	*p.calls++
	if p.err != nil {
		return extensions.PreReconcileCheckResult{}, p.err
	}
	return extensions.ProceedWithReconcile(), nil
}

func (p probe) PostReconcileCheck(
	context.Context, *resource.Object, *resource.Object, extensions.Resolver, extensions.ARMClient, *slog.Logger, extensions.PostReconcileCheckFunc,
) (extensions.PostReconcileCheckResult, error) {
	*p.calls++
	if p.err != nil {
		return extensions.PostReconcileCheckResult{}, p.err
	}
	return extensions.PostReconcileCheckResultSuccess(), nil
}
