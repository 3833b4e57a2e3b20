package extensionhost

import (
	"context"
	"log/slog"

	"github.com/armature-io/armature/arm"
	"github.com/armature-io/armature/extensions"
	"github.com/armature-io/armature/resource"
)

// successHandlers returns the handlers of both kinds, in order.
func successHandlers(links []any) []any {
	var handlers []any
	for _, link := range links {
		switch link.(type) {
		case extensions.SuccessHandler, extensions.SuccessfulCreationHandler:
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
		case extensions.ARMErrorClassifier, extensions.ErrorClassifier:
			classifiers = append(classifiers, link)
		}
	}
	return classifiers
}

func (c *call) bindSuccess(link any, next extensions.SuccessHandlerFunc) extensions.SuccessHandlerFunc {
	return func(ctx context.Context, obj, owner *resource.Object, resolver extensions.Resolver, client extensions.ARMClient, log *slog.Logger) (err error) {
		l := c.enter(link, obj, owner)
		defer l.finish(&err)
		rest := func(ctx context.Context, passed, passedOwner *resource.Object, resolver extensions.Resolver, client extensions.ARMClient, log *slog.Logger) error {
			if err := l.passOn(ctx, log, []*resource.Object{obj, owner}, []*resource.Object{passed, passedOwner}); err != nil {
				return err
			}
			return next(ctx, passed, passedOwner, resolver, client, log)
		}
		switch handler := link.(type) {
		case extensions.SuccessHandler:
			return handler.HandleSuccess(ctx, obj, owner, resolver, client, log, rest)
		case extensions.SuccessfulCreationHandler:
			return handler.Success(ctx, obj, log, func(ctx context.Context, passed *resource.Object, log *slog.Logger) error {
				return rest(ctx, passed, owner, resolver, client, log)
			})
		}
		return next(ctx, obj, owner, resolver, client, log)
	}
}

// classifyWith calls a classifier of either kind.
func classifyWith(
	ctx context.Context, link any, failure *arm.Error, obj *resource.Object, resolver extensions.Resolver, client extensions.ARMClient, log *slog.Logger, next extensions.ARMErrorClassifierFunc,
) (extensions.ErrorDetails, error) {
	switch classifier := link.(type) {
	case extensions.ARMErrorClassifier:
		return classifier.ClassifyARMError(ctx, failure, obj, resolver, client, log, next)
	case extensions.ErrorClassifier:
		return classifier.ClassifyError(ctx, failure, obj.APIVersion, log, func(ctx context.Context, passed *arm.Error, _ string, log *slog.Logger) (extensions.ErrorDetails, error) {
			return next(ctx, passed, obj, resolver, client, log)
		})
	}
	return next(ctx, failure, obj, resolver, client, log)
}
