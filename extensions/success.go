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
