package extensions

import (
	"context"
	"errors"
	"fmt"
	"log/slog"

	"github.com/armature-io/armature/resource"
)

// Names of the points in messages and logs.
const (
	ownerCheckPoint = "PreReconcileOwnerCheck"
	preCheckPoint   = "PreReconcileCheck"
	postCheckPoint  = "PostReconcileCheck"
	modifyPoint     = "ModifyARMResource"
	classifyPoint   = "ClassifyError"
	deletePoint     = "Delete"
	importPoint     = "Import"
	successPoint    = "Success"
)

// CheckOwner is step 1: may the resource be touched at all? It knows the owner
// and the references, never the observed resource. With Force only the
// references are checked.
func (r *Registry) CheckOwner(ctx context.Context, req Request) resource.Verdict {
	verdict := resource.Proceed("Owner not checked: the pass was forced")
	if !req.Force {
		verdict = r.checkOwner(ctx, req)
	}
	if !verdict.Stops() {
		verdict = checkReferences(verdict, req.References)
	}
	return decided(ctx, req, ownerCheckPoint, verdict)
}

func (r *Registry) checkOwner(ctx context.Context, req Request) resource.Verdict {
	links := implementing[PreReconciliationOwnerChecker](r.links(req.resourceType()))
	links = append(links, defaultOwnerChecker{registry: r, id: req.Object.ID, note: req.OwnerNote})
	check := chain(links, nil, bindOwnerCheck)
	result, err := check(ctx, req.owner(), req.Resolver, req.Client, req.log())
	if err != nil {
		return failedCheck(ctx, req.log(), ownerCheckPoint, err)
	}
	verdict := result.verdict
	if verdict.Action == resource.ActionBlock && req.Owner != nil {
		if len(verdict.WaitingFor) == 0 {
			verdict.WaitingFor = []resource.ID{req.Owner.ID}
		}
		verdict.Freshness = req.Owner.Freshness
	}
	return verdict
}

func bindOwnerCheck(link PreReconciliationOwnerChecker, next PreReconcileOwnerCheckFunc) PreReconcileOwnerCheckFunc {
	return func(ctx context.Context, owner *resource.Object, resolver Resolver, client ARMClient, log *slog.Logger,
	) (result PreReconcileCheckResult, err error) {
		defer guard(ownerCheckPoint, link, &err)
		result, err = link.PreReconcileOwnerCheck(ctx, owner, resolver, client, log, next)
		if err == nil && result.Action() != resource.ActionProceed && result.Action() != resource.ActionBlock {
			err = fmt.Errorf("extension %T answered %q in %s: only proceed and block are answers", link, result.Action(), ownerCheckPoint)
		}
		return result, err
	}
}

// PreCheck is step 3: does the resource get a PUT? Proceed carries Create or
// the differences; Skip means that it is in sync.
func (r *Registry) PreCheck(ctx context.Context, req Request) resource.Verdict {
	links := implementing[PreReconciliationChecker](r.links(req.resourceType()))
	links = append(links, defaultPreChecker{registry: r, request: req})
	check := chain(links, nil, bindPreCheck)
	result, err := check(withForce(ctx, req.Force), req.Object, req.owner(), req.Resolver, req.Client, req.log())
	if err != nil {
		return decided(ctx, req, preCheckPoint, failedCheck(ctx, req.log(), preCheckPoint, err))
	}
	verdict := result.verdict
	if verdict.Action == resource.ActionProceed && !result.compared {
		verdict.Create = !req.Object.Exists()
		verdict.Message = "An extension asked for a PUT without a comparison"
	}
	return decided(ctx, req, preCheckPoint, verdict)
}

func bindPreCheck(link PreReconciliationChecker, next PreReconcileCheckFunc) PreReconcileCheckFunc {
	return func(ctx context.Context, obj, owner *resource.Object, resolver Resolver, client ARMClient, log *slog.Logger,
	) (result PreReconcileCheckResult, err error) {
		defer guard(preCheckPoint, link, &err)
		result, err = link.PreReconcileCheck(ctx, obj, owner, resolver, client, log, next)
		if err == nil && result.Action() == "" {
			err = fmt.Errorf("extension %T gave no answer in %s", link, preCheckPoint)
		}
		return result, err
	}
}

// PostCheck is step 5: is the resource Ready? It answers ActionSuccess,
// ActionFailure or ActionError.
func (r *Registry) PostCheck(ctx context.Context, req Request) resource.Verdict {
	links := implementing[PostReconciliationChecker](r.links(req.resourceType()))
	links = append(links, defaultPostChecker{registry: r})
	check := chain(links, nil, bindPostCheck)
	result, err := check(ctx, req.Object, req.owner(), req.Resolver, req.Client, req.log())
	if err != nil {
		return decided(ctx, req, postCheckPoint, failedCheck(ctx, req.log(), postCheckPoint, err))
	}
	return decided(ctx, req, postCheckPoint, result.verdict)
}

func bindPostCheck(link PostReconciliationChecker, next PostReconcileCheckFunc) PostReconcileCheckFunc {
	return func(ctx context.Context, obj, owner *resource.Object, resolver Resolver, client ARMClient, log *slog.Logger,
	) (result PostReconcileCheckResult, err error) {
		defer guard(postCheckPoint, link, &err)
		result, err = link.PostReconcileCheck(ctx, obj, owner, resolver, client, log, next)
		if err == nil && result.Action() == "" {
			err = fmt.Errorf("extension %T gave no answer in %s", link, postCheckPoint)
		}
		return result, err
	}
}

// failedCheck turns an error of a chain into a verdict. An error with a
// condition of its own is taken as given; any other is a failed check, not a
// failed resource: Warning, tried again slowly.
func failedCheck(ctx context.Context, log *slog.Logger, point string, err error) resource.Verdict {
	var panicked *panicError
	if errors.As(err, &panicked) {
		log.ErrorContext(ctx, "extension panicked", "point", point, "extension", fmt.Sprintf("%T", panicked.link), "stack", string(panicked.stack))
	}
	var impact *ReadyConditionImpactingError
	if errors.As(err, &impact) {
		verdict := resource.Fail(impact.Reason, impact.Reason.Class(), err.Error())
		verdict.Severity = impact.Severity
		if impact.Severity == resource.SeverityError {
			verdict.Class = resource.RetryNone
		}
		return verdict
	}
	verdict := resource.Fail(resource.ReasonCheckFailed, resource.RetrySlow, fmt.Sprintf("The check %s failed: %v", point, err))
	return withARMError(verdict, err)
}

// decided logs a verdict, stops and surprises louder than proceeds, and hands
// it on.
func decided(ctx context.Context, req Request, point string, verdict resource.Verdict) resource.Verdict {
	level := slog.LevelDebug
	switch verdict.Action {
	case resource.ActionBlock, resource.ActionFailure:
		level = slog.LevelInfo
	case resource.ActionError:
		level = slog.LevelWarn
	}
	req.log().Log(ctx, level, "verdict of "+point,
		"id", req.Object.ID.String(), "action", string(verdict.Action), "reason", string(verdict.Reason), "message", verdict.Message)
	return verdict
}
