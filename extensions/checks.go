package extensions

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"unicode"
	"unicode/utf8"

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
	last := defaultOwnerChecker{registry: r, id: req.Object.ID, note: req.OwnerNote}
	result, err := runChain(ctx, r, ownerCheckPoint, links, func(ctx context.Context, c *call) (PreReconcileCheckResult, error) {
		check := chain(links, innermostOwnerCheck(last), c.bindOwnerCheck)
		return check(ctx, apart(links, req.owner()), req.Resolver, req.Client, req.log())
	})
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

// runChain calls links that may hang from a distance, and the default alone
// directly: it does not.
func runChain[L, T any](ctx context.Context, r *Registry, point string, links []L, run func(context.Context, *call) (T, error)) (T, error) {
	c := &call{point: point}
	if len(links) == 0 {
		return run(ctx, c)
	}
	all := make([]any, len(links))
	for i, link := range links {
		all[i] = link
	}
	return within(ctx, r.hanging, c, all, func(ctx context.Context) (T, error) { return run(ctx, c) })
}

func innermostOwnerCheck(last PreReconciliationOwnerChecker) PreReconcileOwnerCheckFunc {
	return func(ctx context.Context, owner *resource.Object, resolver Resolver, client ARMClient, log *slog.Logger) (PreReconcileCheckResult, error) {
		return last.PreReconcileOwnerCheck(ctx, owner, resolver, client, log, nil)
	}
}

func (c *call) bindOwnerCheck(link PreReconciliationOwnerChecker, next PreReconcileOwnerCheckFunc) PreReconcileOwnerCheckFunc {
	return func(ctx context.Context, owner *resource.Object, resolver Resolver, client ARMClient, log *slog.Logger,
	) (result PreReconcileCheckResult, err error) {
		defer c.enter(link)()
		in := remember(owner)
		defer func() { c.left(link, in, recover(), &err) }()
		result, err = link.PreReconcileOwnerCheck(ctx, owner, resolver, client, log, next)
		if err == nil && result.Action() != resource.ActionProceed && result.Action() != resource.ActionBlock {
			err = fmt.Errorf("it answered %q in %s: only proceed and block are answers", result.Action(), ownerCheckPoint)
		}
		return result, err
	}
}

// PreCheck is step 3: does the resource get a PUT? Proceed carries Create or
// the differences; Skip means that it is in sync.
func (r *Registry) PreCheck(ctx context.Context, req Request) resource.Verdict {
	links := implementing[PreReconciliationChecker](r.links(req.resourceType()))
	last := defaultPreChecker{registry: r, request: req}
	result, err := runChain(withForce(ctx, req.Force), r, preCheckPoint, links, func(ctx context.Context, c *call) (PreReconcileCheckResult, error) {
		check := chain(links, innermostPreCheck(last), c.bindPreCheck)
		return check(ctx, apart(links, req.Object), apart(links, req.owner()), req.Resolver, req.Client, req.log())
	})
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

func innermostPreCheck(last PreReconciliationChecker) PreReconcileCheckFunc {
	return func(ctx context.Context, obj, owner *resource.Object, resolver Resolver, client ARMClient, log *slog.Logger) (PreReconcileCheckResult, error) {
		return last.PreReconcileCheck(ctx, obj, owner, resolver, client, log, nil)
	}
}

func (c *call) bindPreCheck(link PreReconciliationChecker, next PreReconcileCheckFunc) PreReconcileCheckFunc {
	return func(ctx context.Context, obj, owner *resource.Object, resolver Resolver, client ARMClient, log *slog.Logger,
	) (result PreReconcileCheckResult, err error) {
		defer c.enter(link)()
		in := remember(obj, owner)
		defer func() { c.left(link, in, recover(), &err) }()
		result, err = link.PreReconcileCheck(ctx, obj, owner, resolver, client, log, next)
		if err == nil && result.Action() == "" {
			err = fmt.Errorf("it gave no answer in %s", preCheckPoint)
		}
		return result, err
	}
}

// PostCheck is step 5: is the resource Ready? It answers ActionSuccess,
// ActionFailure or ActionError.
func (r *Registry) PostCheck(ctx context.Context, req Request) resource.Verdict {
	links := implementing[PostReconciliationChecker](r.links(req.resourceType()))
	last := defaultPostChecker{registry: r}
	result, err := runChain(ctx, r, postCheckPoint, links, func(ctx context.Context, c *call) (PostReconcileCheckResult, error) {
		check := chain(links, innermostPostCheck(last), c.bindPostCheck)
		return check(ctx, apart(links, req.Object), apart(links, req.owner()), req.Resolver, req.Client, req.log())
	})
	if err != nil {
		return decided(ctx, req, postCheckPoint, failedCheck(ctx, req.log(), postCheckPoint, err))
	}
	return decided(ctx, req, postCheckPoint, result.verdict)
}

func innermostPostCheck(last PostReconciliationChecker) PostReconcileCheckFunc {
	return func(ctx context.Context, obj, owner *resource.Object, resolver Resolver, client ARMClient, log *slog.Logger) (PostReconcileCheckResult, error) {
		return last.PostReconcileCheck(ctx, obj, owner, resolver, client, log, nil)
	}
}

func (c *call) bindPostCheck(link PostReconciliationChecker, next PostReconcileCheckFunc) PostReconcileCheckFunc {
	return func(ctx context.Context, obj, owner *resource.Object, resolver Resolver, client ARMClient, log *slog.Logger,
	) (result PostReconcileCheckResult, err error) {
		defer c.enter(link)()
		in := remember(obj, owner)
		defer func() { c.left(link, in, recover(), &err) }()
		result, err = link.PostReconcileCheck(ctx, obj, owner, resolver, client, log, next)
		if err == nil && result.Action() == "" {
			err = fmt.Errorf("it gave no answer in %s", postCheckPoint)
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
	if verdict, ok := VerdictOf(err); ok {
		return verdict
	}
	verdict := resource.Fail(resource.ReasonCheckFailed, resource.RetrySlow, fmt.Sprintf("The check %s failed: %v", point, err))
	return withARMError(verdict, err)
}

// decided logs a verdict, stops and surprises louder than proceeds, and hands
// it on.
func decided(ctx context.Context, req Request, point string, verdict resource.Verdict) resource.Verdict {
	verdict = sane(verdict)
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

// Bounds of what a verdict may hold: it lives in histories and search attributes.
const (
	messageMax = 2000 // runes
	reasonMax  = 100  // bytes
)

// sane takes from a verdict what would break the workflow that gets it: an
// extension may say anything.
func sane(verdict resource.Verdict) resource.Verdict {
	verdict.Message = strings.ToValidUTF8(verdict.Message, "?")
	if runes := []rune(verdict.Message); len(runes) > messageMax {
		verdict.Message = string(runes[:messageMax-1]) + "…"
	}
	if reason := string(verdict.Reason); len(reason) > reasonMax || !utf8.ValidString(reason) || strings.ContainsFunc(reason, unicode.IsSpace) {
		verdict.Reason = resource.ReasonFailed
	}
	switch verdict.Severity {
	case resource.SeverityNone, resource.SeverityInfo, resource.SeverityWarning, resource.SeverityError:
	default:
		verdict.Severity = resource.SeverityWarning
	}
	if verdict.Stops() && !known(verdict.Class) {
		verdict.Class = resource.RetrySlow
	}
	return verdict
}
