package rules

import (
	"context"
	"log/slog"
	"time"

	"github.com/armature-io/armature/extensions"
	"github.com/armature-io/armature/resource"
)

// The three forms that a rule takes as a link: one for each point, so that a
// rule at one point is no link of another.
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

// link is the rule in the form of its point.
func (r *rule) link(now func() time.Time) any {
	switch r.at {
	case atOwner:
		return ownerRule{r, now}
	case atPost:
		return postRule{r, now}
	}
	return preRule{r, now}
}

// PreReconcileOwnerCheck blocks while the condition holds. Without an owner
// there is nothing to judge.
func (r ownerRule) PreReconcileOwnerCheck(
	ctx context.Context, owner *resource.Object, resolver extensions.Resolver, client extensions.ARMClient, log *slog.Logger,
	next extensions.PreReconcileOwnerCheckFunc,
) (extensions.PreReconcileCheckResult, error) {
	if owner.Exists() {
		speaks, message, err := r.judge(ctx, input{owner: owner, now: r.now()})
		if err != nil {
			return extensions.PreReconcileCheckResult{}, err
		}
		if speaks {
			return extensions.BlockReconcile(message, r.options...), nil
		}
	}
	return next(ctx, owner, resolver, client, log)
}

// PreReconcileCheck blocks while the condition holds; a rule that stops only a
// PUT asks first whether one is due.
func (r preRule) PreReconcileCheck(
	ctx context.Context, obj, owner *resource.Object, resolver extensions.Resolver, client extensions.ARMClient, log *slog.Logger,
	next extensions.PreReconcileCheckFunc,
) (extensions.PreReconcileCheckResult, error) {
	speaks, message, err := r.judge(ctx, input{obj: obj, owner: owner, forced: extensions.Forced(ctx), now: r.now()})
	if err != nil {
		return extensions.PreReconcileCheckResult{}, err
	}
	if !speaks {
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

// PostReconcileCheck fails while the condition holds.
func (r postRule) PostReconcileCheck(
	ctx context.Context, obj, owner *resource.Object, resolver extensions.Resolver, client extensions.ARMClient, log *slog.Logger,
	next extensions.PostReconcileCheckFunc,
) (extensions.PostReconcileCheckResult, error) {
	speaks, message, err := r.judge(ctx, input{obj: obj, owner: owner, now: r.now()})
	if err != nil {
		return extensions.PostReconcileCheckResult{}, err
	}
	if speaks {
		return extensions.PostReconcileCheckResultFailure(message, r.options...), nil
	}
	return next(ctx, obj, owner, resolver, client, log)
}
