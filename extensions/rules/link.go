package rules

import (
	"context"
	"log/slog"
	"slices"
	"strings"

	"github.com/armature-io/armature/extensions"
	"github.com/armature-io/armature/internal/extensionshare"
	"github.com/armature-io/armature/resource"
)

// A rule as a link: one type for each point, so that a rule implements its own
// point only.
type (
	ownerRule   struct{ *rule }
	preRule     struct{ *rule }
	postRule    struct{ *rule }
	payloadRule struct{ *rule }
	errorRule   struct{ *rule }
)

var (
	_ extensions.PreReconciliationOwnerChecker = ownerRule{}
	_ extensions.PreReconciliationChecker      = preRule{}
	_ extensions.PostReconciliationChecker     = postRule{}
	_ extensions.ARMResourceModifier           = payloadRule{}
	_ extensions.ErrorClassifier               = errorRule{}
)

// link returns the rule as a link of its point, nil for a rule that states facts.
func (r *rule) link() any {
	switch r.at {
	case atOwner:
		return ownerRule{r}
	case atPost:
		return postRule{r}
	case atPayload:
		return payloadRule{r}
	case atError:
		return errorRule{r}
	case atFacts:
		return nil
	}
	return preRule{r}
}

// stops reads what the rule reads and evaluates its condition. It returns the message
// and the options of a block, "" where the rule blocks nothing.
func (r *rule) stops(ctx context.Context, in input, resolver extensions.Resolver) (string, []extensions.Option, error) {
	waitsFor := r.waitsForOwner(in.owner)
	vars := r.vars(in)
	read, err := r.readAll(ctx, vars, resolver)
	if err != nil {
		return "", nil, err
	}
	if read.message != "" {
		return read.message, read.options([]extensions.Option{extensions.WithReason(read.reason)}, waitsFor...), nil
	}
	r.noteValues(ctx, vars)
	applies, message, err := r.evaluate(ctx, vars)
	if err != nil || !applies {
		return "", nil, err
	}
	if message == "" {
		message = "rule " + r.name
	}
	return message, append(slices.Clone(read.options(r.options, waitsFor...)), extensions.WithValues(r.operands.Scalars(ctx, vars)...)), nil
}

// noteValues notes what the condition of a rule on trial compares.
func (r *rule) noteValues(ctx context.Context, vars map[string]any) {
	if sight := extensionshare.SightOf(ctx); sight.IsOn() && !r.when.IsZero() {
		sight.NoteValues(r.when.Seen(ctx, vars))
	}
}

// NamesWaits implements extensionhost.WaitNamer: a rule waits for what it reads, and for an
// owner that decides it.
func (r *rule) NamesWaits() {}

// waitsForOwner returns the owner if its state decides the rule.
func (r *rule) waitsForOwner(owner *resource.Object) []resource.ID {
	if !r.readsOwner || owner == nil {
		return nil
	}
	return []resource.ID{owner.ID}
}

// isFor reports whether an owner is above the resources of the rule's type. A type that is
// no child may have any owner.
func (r ownerRule) isFor(owner *resource.Object) bool {
	return strings.Count(r.resourceType, "/") < 2 || strings.HasPrefix(strings.ToLower(r.resourceType), strings.ToLower(owner.ID.Type())+"/")
}

// PreReconcileOwnerCheck blocks while the condition is true. It ignores a missing
// owner, and one that is not the parent in ARM.
func (r ownerRule) PreReconcileOwnerCheck(
	ctx context.Context, owner *resource.Object, resolver extensions.Resolver, client extensions.ARMClient, log *slog.Logger,
	next extensions.PreReconcileOwnerCheckFunc,
) (extensions.PreReconcileCheckResult, error) {
	if owner.Exists() && r.isFor(owner) {
		message, options, err := r.stops(ctx, input{owner: owner, now: extensionshare.Now(ctx)}, resolver)
		if err != nil {
			return extensions.PreReconcileCheckResult{}, err
		}
		if message != "" {
			return extensions.BlockReconcile(message, options...), nil
		}
	}
	return next(ctx, owner, resolver, client, log)
}

// PreReconcileCheck blocks while the condition is true. A rule with onlyBeforePut
// blocks only where the rest of the chain requests a PUT.
func (r preRule) PreReconcileCheck(
	ctx context.Context, obj, owner *resource.Object, resolver extensions.Resolver, client extensions.ARMClient, log *slog.Logger,
	next extensions.PreReconcileCheckFunc,
) (extensions.PreReconcileCheckResult, error) {
	var result extensions.PreReconcileCheckResult
	var err error
	if r.onlyBeforePut {
		if result, err = next(ctx, obj, owner, resolver, client, log); err != nil || result.Action() != resource.ActionProceed {
			return result, err
		}
	}
	message, options, err := r.stops(ctx, input{obj: obj, owner: owner, labels: labelsOf(obj), forced: extensions.Forced(ctx), now: extensionshare.Now(ctx)}, resolver)
	switch {
	case err != nil:
		return extensions.PreReconcileCheckResult{}, err
	case message != "":
		return extensions.BlockReconcile(message, options...), nil
	case r.onlyBeforePut:
		return result, nil
	}
	return next(ctx, obj, owner, resolver, client, log)
}

// PostReconcileCheck fails while the condition is true.
func (r postRule) PostReconcileCheck(
	ctx context.Context, obj, owner *resource.Object, resolver extensions.Resolver, client extensions.ARMClient, log *slog.Logger,
	next extensions.PostReconcileCheckFunc,
) (extensions.PostReconcileCheckResult, error) {
	message, options, err := r.stops(ctx, input{obj: obj, owner: owner, labels: labelsOf(obj), forced: extensions.Forced(ctx), now: extensionshare.Now(ctx)}, resolver)
	if err != nil {
		return extensions.PostReconcileCheckResult{}, err
	}
	if message != "" {
		return extensions.PostReconcileCheckResultFailure(message, options...), nil
	}
	return next(ctx, obj, owner, resolver, client, log)
}
