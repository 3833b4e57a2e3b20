package extensions

import (
	"context"
	"log/slog"

	"github.com/armature-io/armature/arm"
	"github.com/armature-io/armature/resource"
)

// SuccessHandler is SuccessfulCreationHandler with owner, resolver and client: it reads what
// it needs, and may write other resources. A link that implements both is called as this one.
type SuccessHandler interface {
	HandleSuccess(
		ctx context.Context,
		obj *resource.Object,
		owner *resource.Object,
		resolver Resolver,
		client ARMClient,
		log *slog.Logger,
		next SuccessHandlerFunc,
	) error
}

// SuccessHandlerFunc is the rest of the chain of handlers, of both kinds.
type SuccessHandlerFunc func(
	ctx context.Context,
	obj *resource.Object,
	owner *resource.Object,
	resolver Resolver,
	client ARMClient,
	log *slog.Logger,
) error

// ARMErrorClassifier is ErrorClassifier with the resource, resolver and client: it reads what
// explains an error, a quota or a lock. A link that implements both is called as this one.
// obj has no bodies.
type ARMErrorClassifier interface {
	ClassifyARMError(
		ctx context.Context,
		err *arm.Error,
		obj *resource.Object,
		resolver Resolver,
		client ARMClient,
		log *slog.Logger,
		next ARMErrorClassifierFunc,
	) (ErrorDetails, error)
}

// ARMErrorClassifierFunc is the rest of the chain of classifiers, of both kinds.
type ARMErrorClassifierFunc func(
	ctx context.Context,
	err *arm.Error,
	obj *resource.Object,
	resolver Resolver,
	client ARMClient,
	log *slog.Logger,
) (ErrorDetails, error)

// successHandlers returns the handlers of both kinds, in order.
func successHandlers(links []any) []any {
	var handlers []any
	for _, link := range links {
		switch link.(type) {
		case SuccessHandler, SuccessfulCreationHandler:
			handlers = append(handlers, link)
		}
	}
	return handlers
}

// errorClassifiers returns the classifiers of both kinds, in order.
func errorClassifiers(links []any) []any {
	var classifiers []any
	for _, link := range links {
		switch link.(type) {
		case ARMErrorClassifier, ErrorClassifier:
			classifiers = append(classifiers, link)
		}
	}
	return classifiers
}

func (c *call) bindSuccess(link any, next SuccessHandlerFunc) SuccessHandlerFunc {
	return func(ctx context.Context, obj, owner *resource.Object, resolver Resolver, client ARMClient, log *slog.Logger) (err error) {
		l := c.enter(link, obj, owner)
		defer l.finish(&err)
		rest := func(ctx context.Context, passed, passedOwner *resource.Object, resolver Resolver, client ARMClient, log *slog.Logger) error {
			if err := l.passOn(ctx, log, []*resource.Object{obj, owner}, []*resource.Object{passed, passedOwner}); err != nil {
				return err
			}
			return next(ctx, passed, passedOwner, resolver, client, log)
		}
		switch handler := link.(type) {
		case SuccessHandler:
			return handler.HandleSuccess(ctx, obj, owner, resolver, client, log, rest)
		case SuccessfulCreationHandler:
			return handler.Success(ctx, obj, log, func(ctx context.Context, passed *resource.Object, log *slog.Logger) error {
				return rest(ctx, passed, owner, resolver, client, log)
			})
		}
		return next(ctx, obj, owner, resolver, client, log)
	}
}

// classifyWith calls a classifier of either kind.
func classifyWith(
	ctx context.Context, link any, failure *arm.Error, obj *resource.Object, resolver Resolver, client ARMClient, log *slog.Logger, next ARMErrorClassifierFunc,
) (ErrorDetails, error) {
	switch classifier := link.(type) {
	case ARMErrorClassifier:
		return classifier.ClassifyARMError(ctx, failure, obj, resolver, client, log, next)
	case ErrorClassifier:
		return classifier.ClassifyError(ctx, failure, obj.APIVersion, log, func(ctx context.Context, passed *arm.Error, _ string, log *slog.Logger) (ErrorDetails, error) {
			return next(ctx, passed, obj, resolver, client, log)
		})
	}
	return next(ctx, failure, obj, resolver, client, log)
}
