package extensionhost

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"reflect"
	"slices"
	"strings"

	"github.com/armature-io/armature/arm"
	"github.com/armature-io/armature/extensions"
	"github.com/armature-io/armature/internal/extensionshare"
	"github.com/armature-io/armature/internal/jsontree"
	"github.com/armature-io/armature/resource"
)

// Modify runs the modifiers on a copy of the payload and returns the result, which
// may contain secrets and must never be logged. The verdict is nil unless the pass
// ends here.
func (r *Registry) Modify(ctx context.Context, req Request, payload map[string]any) (map[string]any, *resource.Verdict) {
	links := r.modifiers(req.resourceType())
	if len(links) == 0 {
		return payload, nil
	}
	ctx, req = r.begin(ctx, req)
	ctx, cancel := context.WithTimeout(extensionshare.WithPurpose(ctx, string(req.Purpose)), maxModifyTime)
	defer cancel()
	modified, err := runChain(ctx, r, modifyPoint, links, func(ctx context.Context, c *call) (map[string]any, error) {
		modify := chain(links, extensions.ARMResourceModifierFunc(unmodified), c.bindModifier)
		return modify(ctx, jsontree.Clone(payload), cloneForLinks(links, req.Object), cloneForLinks(links, req.owner()), r.resolver(req), req.Client, req.log())
	})
	if err != nil {
		verdict := logVerdict(ctx, req, modifyPoint, failedCheck(ctx, req, modifyPoint, err))
		return nil, &verdict
	}
	return modified, nil
}

func unmodified(
	_ context.Context, payload map[string]any, _, _ *resource.Object, _ extensions.Resolver, _ extensions.ARMClient, _ *slog.Logger,
) (map[string]any, error) {
	return payload, nil
}

func (c *call) bindModifier(link extensions.ARMResourceModifier, next extensions.ARMResourceModifierFunc) extensions.ARMResourceModifierFunc {
	return func(ctx context.Context, payload map[string]any, obj, owner *resource.Object, resolver extensions.Resolver, client extensions.ARMClient, log *slog.Logger,
	) (modified map[string]any, err error) {
		l := c.enter(link, obj, owner)
		defer l.finish(&err)
		envelope := map[string]any{"id": payload["id"], "name": payload["name"], "type": payload["type"]}
		modified, err = link.ModifyARMResource(ctx, payload, obj, owner, resolver, client, log, func(
			ctx context.Context, payload map[string]any, passed, passedOwner *resource.Object, resolver extensions.Resolver, client extensions.ARMClient, log *slog.Logger,
		) (map[string]any, error) {
			if err := l.passOn(ctx, log, []*resource.Object{obj, owner}, []*resource.Object{passed, passedOwner}); err != nil {
				return nil, err
			}
			return next(ctx, payload, passed, passedOwner, resolver, client, log)
		})
		if err != nil {
			return modified, err
		}
		if modified == nil {
			return nil, fmt.Errorf("it returned no payload in %s", modifyPoint)
		}
		if _, failed := json.Marshal(modified); failed != nil {
			return nil, fmt.Errorf("it returned a payload in %s that is not valid JSON", modifyPoint)
		}
		if obj != nil {
			err = checkPayload(obj.ID, envelope, modified)
		}
		return modified, err
	}
}

// Classify returns the verdict for an error of ARM about a resource. Its reason is ARM's
// code, its message is ARM's with the request ID, its class is that in the error table,
// changed by the classifiers of the type. The caller decides what "absent" means.
func (r *Registry) Classify(ctx context.Context, req Request, failure *arm.Error) resource.Verdict {
	ctx, req = r.begin(ctx, req)
	log := req.log()
	links := implementing[extensions.ErrorClassifier](r.links(req.resourceType()))
	limited, cancel := context.WithTimeout(ctx, maxClassifyTime)
	defer cancel()
	type classified struct {
		extensions.ErrorDetails
		by any
	}
	details, err := runChain(limited, r, classifyPoint, links, func(ctx context.Context, c *call) (classified, error) {
		own := *failure
		own.Details = slices.Clone(failure.Details)
		details, err := chain(links, extensions.ErrorClassifierFunc(defaultClassify), c.bindClassifier)(ctx, &own, cloneForLinks(links, req.Object), r.resolver(req), req.Client, log)
		return classified{details, c.classifiedBy}, err
	})
	origin := errorOrigin(err)
	if details.by != nil {
		origin = originOf(details.by, classifyPoint)
	}
	if err != nil {
		// A broken classifier must not hide the error of ARM.
		log.WarnContext(ctx, "error classifier failed", "type", req.resourceType(), "error", err)
		details.ErrorDetails, _ = defaultClassify(ctx, failure, req.Object, req.Resolver, req.Client, log)
		details.Message += fmt.Sprintf(" (its classifier failed: %v)", err)
	}
	message, actor := details.Message, ""
	if advice, known := refusalAdvice()[failure.Refusal()]; known {
		actor = advice.actor
		if message == failure.Message {
			message = strings.TrimRight(message, ". ") + ". " + advice.text
		}
	}
	if failure.RequestID != "" {
		message += fmt.Sprintf(" (ARM request ID %s)", failure.RequestID)
	}
	verdict := withARMError(resource.Fail(resource.Reason(details.Code), details.Class, message), failure)
	verdict.Actor, verdict.Origin = actor, cutBytes(origin, maxOriginBytes)
	return req.withoutSecrets(ctx, verdict)
}

// advice is the actor that ARM's acceptance of a request waits for, and a sentence about what.
type advice struct{ actor, text string }

// refusalAdvice returns the advice for each kind of refusal. A classifier's own advice
// replaces the text.
func refusalAdvice() map[arm.Refusal]advice {
	return map[arm.Refusal]advice{
		arm.RefusalQuota: {"the owner of the subscription",
			"The owner of the subscription has to raise this quota, or to delete something that uses it"},
		arm.RefusalPolicy: {"the owner of the policy",
			"The manifest has to comply with the policy, or the owner of the policy has to change it or to grant an exemption"},
		arm.RefusalImmutable: {"the owner of the manifest",
			"Azure sets this only when it creates the resource: state the present value, or delete the resource and create it again (recreate: on-immutable)"},
		arm.RefusalSoftDeleted: {"the owner of the deleted resource",
			"A deleted resource that can still be recovered holds the name: recover it, purge it, or choose another name"},
		arm.RefusalNameTaken: {"the owner of the manifest",
			"Another resource has this name, perhaps in another subscription: choose another name"},
	}
}

func (c *call) bindClassifier(link extensions.ErrorClassifier, next extensions.ErrorClassifierFunc) extensions.ErrorClassifierFunc {
	return func(ctx context.Context, failure *arm.Error, obj *resource.Object, resolver extensions.Resolver, client extensions.ARMClient, log *slog.Logger) (details extensions.ErrorDetails, err error) {
		l := c.enter(link, obj)
		defer l.finish(&err)
		before, inner := *failure, extensions.ErrorDetails{}
		before.Details = slices.Clone(failure.Details)
		details, err = link.ClassifyError(ctx, failure, obj, resolver, client, log, func(
			ctx context.Context, passed *arm.Error, passedObj *resource.Object, resolver extensions.Resolver, client extensions.ARMClient, log *slog.Logger,
		) (extensions.ErrorDetails, error) {
			if passed == nil {
				return extensions.ErrorDetails{}, fmt.Errorf("it called next in %s with nil instead of the error; pass on what the link was called with", classifyPoint)
			}
			if err := l.passOn(ctx, log, []*resource.Object{obj}, []*resource.Object{passedObj}); err != nil {
				return extensions.ErrorDetails{}, err
			}
			var err error
			inner, err = next(ctx, passed, passedObj, resolver, client, log)
			return inner, err
		})
		if changed := !reflect.DeepEqual(before, *failure); changed {
			*failure = before
			return details, fmt.Errorf("it changed the error in %s; change the ErrorDetails that next returns", classifyPoint)
		}
		switch {
		case err != nil:
		case !isRetryClass(details.Class):
			err = fmt.Errorf("it returned the unknown retry class %q in %s", details.Class, classifyPoint)
		case details != inner && details.Code != inner.Code && !isReason(resource.Reason(details.Code)):
			err = fmt.Errorf("it returned the invalid code %q in %s; use one word", cut(details.Code), classifyPoint)
		case details != inner:
			l.classifiedBy = link
		}
		return details, err
	}
}

// defaultClassify returns the class in the error table of package arm.
func defaultClassify(
	_ context.Context, failure *arm.Error, _ *resource.Object, _ extensions.Resolver, _ extensions.ARMClient, _ *slog.Logger,
) (extensions.ErrorDetails, error) {
	details := extensions.ErrorDetails{Code: failure.Code, Message: failure.Message, Class: resource.RetrySlow}
	switch failure.Class {
	case arm.ClassFast:
		details.Class = resource.RetryFast
	case arm.ClassVerySlow:
		details.Class = resource.RetryVerySlow
	case arm.ClassNone:
		details.Class = resource.RetryNone
	}
	if details.Code == "" {
		details.Code = string(resource.ReasonUnknownError)
		if failure.Class == arm.ClassThrottled {
			details.Code = string(resource.ReasonThrottled)
		}
	}
	if details.Message == "" {
		details.Message = fmt.Sprintf("ARM returned status %d without a message", failure.Status)
	}
	return details, nil
}

// Delete runs the deleters around next, the plain DELETE.
func (r *Registry) Delete(ctx context.Context, req Request, next func(ctx context.Context) error) error {
	links := implementing[extensions.Deleter](r.links(req.resourceType()))
	plain := func(ctx context.Context, _ *resource.Object, _ extensions.Resolver, _ extensions.ARMClient, _ *slog.Logger) error {
		return next(ctx)
	}
	ctx, cancel := context.WithTimeout(ctx, maxDeleteTime)
	defer cancel()
	_, err := runChain(ctx, r, deletePoint, links, func(ctx context.Context, c *call) (struct{}, error) {
		return struct{}{}, chain(links, extensions.DeleterFunc(plain), c.bindDeleter)(ctx, cloneForLinks(links, req.Object), r.resolver(req), req.Client, req.log())
	})
	return err
}

func (c *call) bindDeleter(link extensions.Deleter, next extensions.DeleterFunc) extensions.DeleterFunc {
	return func(ctx context.Context, obj *resource.Object, resolver extensions.Resolver, client extensions.ARMClient, log *slog.Logger) (err error) {
		l := c.enter(link, obj)
		defer l.finish(&err)
		return link.Delete(ctx, obj, resolver, client, log, func(
			ctx context.Context, passed *resource.Object, resolver extensions.Resolver, client extensions.ARMClient, log *slog.Logger,
		) error {
			if err := l.passOn(ctx, log, []*resource.Object{obj}, []*resource.Object{passed}); err != nil {
				return err
			}
			return next(ctx, passed, resolver, client, log)
		})
	}
}

// Import runs the importers. By default every resource is imported.
func (r *Registry) Import(ctx context.Context, req Request) (extensions.ImportResult, error) {
	links := implementing[extensions.Importer](r.links(req.resourceType()))
	take := func(context.Context, *resource.Object, *resource.Object, *slog.Logger) (extensions.ImportResult, error) {
		return extensions.ImportSucceeded(), nil
	}
	ctx, cancel := context.WithTimeout(ctx, maxImportTime)
	defer cancel()
	return runChain(ctx, r, importPoint, links, func(ctx context.Context, c *call) (extensions.ImportResult, error) {
		return chain(links, extensions.ImporterFunc(take), c.bindImporter)(ctx, cloneForLinks(links, req.Object), cloneForLinks(links, req.owner()), req.log())
	})
}

func (c *call) bindImporter(link extensions.Importer, next extensions.ImporterFunc) extensions.ImporterFunc {
	return func(ctx context.Context, obj, owner *resource.Object, log *slog.Logger) (result extensions.ImportResult, err error) {
		l := c.enter(link, obj, owner)
		defer l.finish(&err)
		return link.Import(ctx, obj, owner, log, func(ctx context.Context, passed, passedOwner *resource.Object, log *slog.Logger) (extensions.ImportResult, error) {
			if err := l.passOn(ctx, log, []*resource.Object{obj, owner}, []*resource.Object{passed, passedOwner}); err != nil {
				return extensions.ImportResult{}, err
			}
			return next(ctx, passed, passedOwner, log)
		})
	}
}

// Success runs the handlers of a pass that ended Ready. The verdict is nil
// unless one of them failed.
func (r *Registry) Success(ctx context.Context, req Request) *resource.Verdict {
	links := implementing[extensions.SuccessHandler](r.links(req.resourceType()))
	if len(links) == 0 {
		return nil
	}
	done := func(context.Context, *resource.Object, *resource.Object, extensions.Resolver, extensions.ARMClient, *slog.Logger) error {
		return nil
	}
	ctx, req = r.begin(ctx, req)
	limited, cancel := context.WithTimeout(ctx, maxSuccessTime)
	defer cancel()
	_, err := runChain(limited, r, successPoint, links, func(ctx context.Context, c *call) (struct{}, error) {
		return struct{}{}, chain(links, extensions.SuccessHandlerFunc(done), c.bindSuccess)(
			ctx, cloneForLinks(links, req.Object), cloneForLinks(links, req.owner()), r.resolver(req), req.Client, req.log())
	})
	if err != nil {
		verdict := logVerdict(ctx, req, successPoint, failedCheck(ctx, req, successPoint, err))
		return &verdict
	}
	return nil
}
