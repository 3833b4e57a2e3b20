package extensionhost

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"

	"github.com/armature-io/armature/arm"
	"github.com/armature-io/armature/extensions"
	"github.com/armature-io/armature/internal/extensionshare"
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
	successPoint    = "HandleSuccess"
)

// CheckOwner runs step 1 and returns a block if the resource must not be touched at
// all. It sees the owner and the references, never the observed resource. With
// Force it checks the references only.
func (r *Registry) CheckOwner(ctx context.Context, req Request) resource.Verdict {
	ctx, req = r.begin(ctx, req)
	verdict := resource.Proceed("Owner not checked: the pass was forced")
	if !req.Force {
		verdict = r.checkOwner(ctx, req)
	}
	if !verdict.Stops() {
		verdict = r.checkReferences(verdict, req.References)
	}
	return logVerdict(ctx, req, ownerCheckPoint, verdict)
}

func (r *Registry) checkOwner(ctx context.Context, req Request) resource.Verdict {
	links := implementing[extensions.PreReconciliationOwnerChecker](r.links(req.resourceType()))
	last := defaultOwnerChecker{registry: r, id: req.Object.ID, note: req.OwnerNote}
	result, err := runChain(ctx, r, ownerCheckPoint, links, func(ctx context.Context, c *call) (extensions.PreReconcileCheckResult, error) {
		check := chain(links, extensions.PreReconcileOwnerCheckFunc(last.check), c.bindOwnerCheck)
		return check(ctx, cloneForLinks(links, req.owner()), r.resolver(req), req.Client, req.log())
	})
	if err != nil {
		return failedCheck(ctx, req, ownerCheckPoint, err)
	}
	verdict := extensionshare.Result(result).Verdict()
	if verdict.Action == resource.ActionBlock && req.Owner != nil {
		if len(verdict.WaitingFor) == 0 {
			verdict.WaitingFor = []resource.ID{req.Owner.ID}
		}
		if slices.ContainsFunc(verdict.WaitingFor, req.Owner.ID.Equal) {
			verdict.Freshness = req.Owner.Freshness
		}
	}
	return verdict
}

func (c *call) bindOwnerCheck(link extensions.PreReconciliationOwnerChecker, next extensions.PreReconcileOwnerCheckFunc) extensions.PreReconcileOwnerCheckFunc {
	return func(ctx context.Context, owner *resource.Object, resolver extensions.Resolver, client extensions.ARMClient, log *slog.Logger,
	) (result extensions.PreReconcileCheckResult, err error) {
		l := c.enter(link, owner)
		defer l.finish(&err)
		result, err = link.PreReconcileOwnerCheck(ctx, owner, resolver, client, log, func(
			ctx context.Context, passed *resource.Object, resolver extensions.Resolver, client extensions.ARMClient, log *slog.Logger,
		) (extensions.PreReconcileCheckResult, error) {
			if err := l.passOn(ctx, log, []*resource.Object{owner}, []*resource.Object{passed}); err != nil {
				return extensions.PreReconcileCheckResult{}, err
			}
			return next(ctx, passed, resolver, client, log)
		})
		if err == nil && result.Action() != resource.ActionProceed && result.Action() != resource.ActionBlock {
			err = fmt.Errorf("it returned %q in %s; only proceed and block are valid", result.Action(), ownerCheckPoint)
		}
		err = l.claim((*extensionshare.Result)(&result), nil, err)
		return result, err
	}
}

// PreCheck runs step 3 and decides whether the resource gets a PUT. Proceed carries
// Create or the differences; Skip means that the resource is in sync.
func (r *Registry) PreCheck(ctx context.Context, req Request) resource.Verdict {
	ctx, req = r.begin(ctx, req)
	links := implementing[extensions.PreReconciliationChecker](r.links(req.resourceType()))
	last := defaultPreChecker{registry: r, request: req}
	result, err := runChain(ctx, r, preCheckPoint, links, func(ctx context.Context, c *call) (extensions.PreReconcileCheckResult, error) {
		check := chain(links, extensions.PreReconcileCheckFunc(last.check), c.bindPreCheck)
		return check(ctx, cloneForLinks(links, req.Object), cloneForLinks(links, req.owner()), r.resolver(req), req.Client, req.log())
	})
	if err != nil {
		return logVerdict(ctx, req, preCheckPoint, failedCheck(ctx, req, preCheckPoint, err))
	}
	verdict := extensionshare.Result(result).Verdict()
	if verdict.Action == resource.ActionProceed {
		verdict.Create = !req.Object.Exists()
	}
	return logVerdict(ctx, req, preCheckPoint, verdict)
}

func (c *call) bindPreCheck(link extensions.PreReconciliationChecker, next extensions.PreReconcileCheckFunc) extensions.PreReconcileCheckFunc {
	return func(ctx context.Context, obj, owner *resource.Object, resolver extensions.Resolver, client extensions.ARMClient, log *slog.Logger,
	) (result extensions.PreReconcileCheckResult, err error) {
		l := c.enter(link, obj, owner)
		defer l.finish(&err)
		result, err = link.PreReconcileCheck(ctx, obj, owner, resolver, client, log, func(
			ctx context.Context, passed, passedOwner *resource.Object, resolver extensions.Resolver, client extensions.ARMClient, log *slog.Logger,
		) (extensions.PreReconcileCheckResult, error) {
			if err := l.passOn(ctx, log, []*resource.Object{obj, owner}, []*resource.Object{passed, passedOwner}); err != nil {
				return extensions.PreReconcileCheckResult{}, err
			}
			return next(ctx, passed, passedOwner, resolver, client, log)
		})
		if err == nil && result.Action() == "" {
			err = fmt.Errorf("it returned no result in %s", preCheckPoint)
		}
		err = l.claim((*extensionshare.Result)(&result), owner, err)
		return result, err
	}
}

// PostCheck runs step 5 and decides whether the resource is Ready. It returns
// ActionSuccess, ActionFailure or ActionError.
func (r *Registry) PostCheck(ctx context.Context, req Request) resource.Verdict {
	ctx, req = r.begin(ctx, req)
	links := implementing[extensions.PostReconciliationChecker](r.links(req.resourceType()))
	result, err := runChain(ctx, r, postCheckPoint, links, func(ctx context.Context, c *call) (extensions.PostReconcileCheckResult, error) {
		check := chain(links, extensions.PostReconcileCheckFunc(r.defaultPostCheck), c.bindPostCheck)
		return check(ctx, cloneForLinks(links, req.Object), cloneForLinks(links, req.owner()), r.resolver(req), req.Client, req.log())
	})
	if err != nil {
		return logVerdict(ctx, req, postCheckPoint, failedCheck(ctx, req, postCheckPoint, err))
	}
	return logVerdict(ctx, req, postCheckPoint, extensionshare.Result(result).Verdict())
}

func (c *call) bindPostCheck(link extensions.PostReconciliationChecker, next extensions.PostReconcileCheckFunc) extensions.PostReconcileCheckFunc {
	return func(ctx context.Context, obj, owner *resource.Object, resolver extensions.Resolver, client extensions.ARMClient, log *slog.Logger,
	) (result extensions.PostReconcileCheckResult, err error) {
		l := c.enter(link, obj, owner)
		defer l.finish(&err)
		result, err = link.PostReconcileCheck(ctx, obj, owner, resolver, client, log, func(
			ctx context.Context, passed, passedOwner *resource.Object, resolver extensions.Resolver, client extensions.ARMClient, log *slog.Logger,
		) (extensions.PostReconcileCheckResult, error) {
			if err := l.passOn(ctx, log, []*resource.Object{obj, owner}, []*resource.Object{passed, passedOwner}); err != nil {
				return extensions.PostReconcileCheckResult{}, err
			}
			return next(ctx, passed, passedOwner, resolver, client, log)
		})
		if err == nil && result.Action() == "" {
			err = fmt.Errorf("it returned no result in %s", postCheckPoint)
		}
		err = l.claim((*extensionshare.Result)(&result), owner, err)
		return result, err
	}
}

// failedCheck returns the verdict for an error of a chain. An error that carries
// a condition becomes that condition. Any other is a failed check, not a failed
// resource: Warning, retried slowly.
func failedCheck(ctx context.Context, req Request, point string, err error) resource.Verdict {
	if panicked, ok := errors.AsType[*panicError](err); ok {
		req.log().ErrorContext(ctx, "extension panicked", "id", req.Object.ID.String(), "point", point,
			"extension", fmt.Sprintf("%T", panicked.link), "at", panicked.at, "stack", string(panicked.stack))
	}
	if verdict, ok := VerdictOf(err); ok {
		if failed, ok := errors.AsType[*linkError](err); ok {
			verdict = awaitOwner(failed.link, verdict, req.owner())
		}
		if point == postCheckPoint && verdict.Action == resource.ActionBlock {
			verdict.Action = resource.ActionFailure // the PUT is done
		}
		return verdict
	}
	verdict := resource.Fail(resource.ReasonCheckFailed, resource.RetrySlow, fmt.Sprintf("The check %s failed: %v", point, err))
	verdict.Origin = errorOrigin(err)
	return withARMError(verdict, err)
}

// withARMError returns the verdict with the request ID and the wait of an error
// of ARM.
func withARMError(verdict resource.Verdict, err error) resource.Verdict {
	if failure, ok := errors.AsType[*arm.Error](err); ok {
		verdict.RequestID, verdict.RetryAfter = failure.RequestID, failure.RetryAfter
	}
	return verdict
}

// logVerdict sanitizes a verdict, logs it and returns it. A verdict that stops the
// pass has a higher level than one that proceeds.
func logVerdict(ctx context.Context, req Request, point string, verdict resource.Verdict) resource.Verdict {
	verdict = sanitize(req.withoutSecrets(ctx, verdict))
	level := slog.LevelDebug
	switch verdict.Action {
	case resource.ActionBlock, resource.ActionFailure:
		level = slog.LevelInfo
	case resource.ActionError:
		level = slog.LevelWarn
	}
	req.log().Log(ctx, level, "verdict of "+point,
		"id", req.Object.ID.String(), "action", string(verdict.Action), "reason", string(verdict.Reason), "message", verdict.Message, "origin", verdict.Origin)
	return verdict
}

// Bounds of a verdict, which is stored in histories and search attributes.
const (
	maxMessageRunes = 2000
	maxReasonBytes  = 100
)

// sanitize bounds the fields of a verdict, because an extension may return
// anything and the workflow must accept it.
func sanitize(verdict resource.Verdict) resource.Verdict {
	verdict.Message = strings.ToValidUTF8(verdict.Message, "?")
	if runes := []rune(verdict.Message); len(runes) > maxMessageRunes {
		verdict.Message = string(runes[:maxMessageRunes-1]) + "…"
	}
	if verdict.Reason != "" && !isReason(verdict.Reason) {
		verdict.Reason = resource.ReasonFailed
	}
	verdict.Origin = cutBytes(verdict.Origin, maxOriginBytes)
	verdict.Actor = cutBytes(verdict.Actor, maxReasonBytes)
	if !isSeverity(verdict.Severity) {
		verdict.Severity = resource.SeverityWarning
	}
	if verdict.Stops() && !isRetryClass(verdict.Class) {
		verdict.Class = resource.RetrySlow
	}
	return verdict
}

// cutBytes returns a text as valid UTF-8 of at most limit bytes.
func cutBytes(text string, limit int) string {
	if text = strings.ToValidUTF8(text, "?"); len(text) > limit {
		return strings.ToValidUTF8(text[:limit], "")
	}
	return text
}

// isRetryClass reports whether a retry class is one of the four.
func isRetryClass(class resource.RetryClass) bool {
	switch class {
	case resource.RetryFast, resource.RetrySlow, resource.RetryVerySlow, resource.RetryNone:
		return true
	}
	return false
}
