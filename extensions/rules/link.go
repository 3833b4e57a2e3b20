package rules

import (
	"context"
	"log/slog"
	"time"

	"github.com/armature-io/armature/extensions"
	"github.com/armature-io/armature/resource"
)

// A rule as a link: one type for each point, so that a rule implements its own
// point only.
type (
	ownerRule struct {
		*rule
		now func() time.Time
	}
	preRule struct {
		*rule
		now func() time.Time
	}
	postRule struct {
		*rule
		now func() time.Time
	}
)

var (
	_ extensions.PreReconciliationOwnerChecker = ownerRule{}
	_ extensions.PreReconciliationChecker      = preRule{}
	_ extensions.PostReconciliationChecker     = postRule{}
)

// link returns the rule as a link of its point.
func (r *rule) link(now func() time.Time) any {
	switch r.at {
	case atOwner:
		return ownerRule{r, now}
	case atPost:
		return postRule{r, now}
	}
	return preRule{r, now}
}

// PreReconcileOwnerCheck blocks while the condition is true. It ignores a missing
// owner.
func (r ownerRule) PreReconcileOwnerCheck(
	ctx context.Context, owner *resource.Object, resolver extensions.Resolver, client extensions.ARMClient, log *slog.Logger,
	next extensions.PreReconcileOwnerCheckFunc,
) (extensions.PreReconcileCheckResult, error) {
	if owner.Exists() {
		applies, message, err := r.evaluate(ctx, input{owner: owner, now: r.now()})
		if err != nil {
			return extensions.PreReconcileCheckResult{}, err
		}
		if applies {
			return extensions.BlockReconcile(message, r.options...), nil
		}
	}
	return next(ctx, owner, resolver, client, log)
}

// PreReconcileCheck blocks while the condition is true. A rule with onlyBeforePut
// calls next first and blocks only a PUT.
func (r preRule) PreReconcileCheck(
	ctx context.Context, obj, owner *resource.Object, resolver extensions.Resolver, client extensions.ARMClient, log *slog.Logger,
	next extensions.PreReconcileCheckFunc,
) (extensions.PreReconcileCheckResult, error) {
	applies, message, err := r.evaluate(ctx, input{obj: obj, owner: owner, forced: extensions.Forced(ctx), now: r.now()})
	if err != nil {
		return extensions.PreReconcileCheckResult{}, err
	}
	if !applies {
		return next(ctx, obj, owner, resolver, client, log)
	}
	if r.onlyBeforePut {
		result, err := next(ctx, obj, owner, resolver, client, log)
		if err != nil || result.Action() != resource.ActionProceed {
			return result, err
		}
	}
	return extensions.BlockReconcile(message, r.options...), nil
}

// PostReconcileCheck fails while the condition is true.
func (r postRule) PostReconcileCheck(
	ctx context.Context, obj, owner *resource.Object, resolver extensions.Resolver, client extensions.ARMClient, log *slog.Logger,
	next extensions.PostReconcileCheckFunc,
) (extensions.PostReconcileCheckResult, error) {
	applies, message, err := r.evaluate(ctx, input{obj: obj, owner: owner, now: r.now()})
	if err != nil {
		return extensions.PostReconcileCheckResult{}, err
	}
	if applies {
		return extensions.PostReconcileCheckResultFailure(message, r.options...), nil
	}
	return next(ctx, obj, owner, resolver, client, log)
}
