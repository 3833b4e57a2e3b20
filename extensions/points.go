package extensions

import (
	"context"
	"encoding/json"
	"log/slog"

	"github.com/armature-io/armature/arm"
	"github.com/armature-io/armature/resource"
)

// ARMClient talks to ARM with the credential of the resource under
// reconciliation. A check that needs no read makes none: the budget of reads in
// one step is 3 s.
type ARMClient interface {
	// Get reads any resource; absence is an error of arm.IsAbsent.
	Get(ctx context.Context, id resource.ID, apiVersion string) (arm.Response, error)
	// Find lists at most limit items of a collection below a resource, with
	// ARM's $filter where it is not "".
	Find(ctx context.Context, id resource.ID, collection, apiVersion, filter string, limit int) ([]json.RawMessage, error)
	// Post calls an action of a resource ("purge") and does not wait for what it
	// starts: the next pass looks what became of it. A repeated call must do no
	// harm.
	Post(ctx context.Context, id resource.ID, action, apiVersion string, body []byte) (arm.Operation, error)
}

// Resolver finds another resource by a reference.
type Resolver interface {
	Resolve(ctx context.Context, reference resource.Reference) (Resolution, error)
}

// Resolution is what a Resolver found. Object is nil when Found is false; Ready
// means that the resource exists and is neither changing nor broken.
type Resolution struct {
	Found  bool
	Object *resource.Object
	Ready  bool
}

// PreReconciliationOwnerChecker decides from the owner alone whether the
// resource may be touched at all. It runs before every request to the resource,
// for the case that the owner's state refuses even a GET. owner is nil when
// there is none or when it may not be read; an owner that is absent in Azure
// has Exists() == false. SkipReconcile is no answer here.
type PreReconciliationOwnerChecker interface {
	PreReconcileOwnerCheck(
		ctx context.Context,
		owner *resource.Object,
		resolver Resolver,
		client ARMClient,
		log *slog.Logger,
		next PreReconcileOwnerCheckFunc,
	) (PreReconcileCheckResult, error)
}

// PreReconcileOwnerCheckFunc is the rest of the chain of owner checkers.
type PreReconcileOwnerCheckFunc func(
	ctx context.Context,
	owner *resource.Object,
	resolver Resolver,
	client ARMClient,
	log *slog.Logger,
) (PreReconcileCheckResult, error)

// PreReconciliationChecker decides from the resource, freshly read, whether it
// gets a PUT. The default at the end of the chain refuses to disturb an
// operation in flight and then compares: a link that answers
// ProceedWithReconcile without calling next asks for a PUT at every pass.
type PreReconciliationChecker interface {
	PreReconcileCheck(
		ctx context.Context,
		obj *resource.Object,
		owner *resource.Object,
		resolver Resolver,
		client ARMClient,
		log *slog.Logger,
		next PreReconcileCheckFunc,
	) (PreReconcileCheckResult, error)
}

// PreReconcileCheckFunc is the rest of the chain of pre-checkers.
type PreReconcileCheckFunc func(
	ctx context.Context,
	obj *resource.Object,
	owner *resource.Object,
	resolver Resolver,
	client ARMClient,
	log *slog.Logger,
) (PreReconcileCheckResult, error)

// PostReconciliationChecker decides whether a resource that ARM calls done is
// Ready. It runs after a pass without a PUT too.
type PostReconciliationChecker interface {
	PostReconcileCheck(
		ctx context.Context,
		obj *resource.Object,
		owner *resource.Object,
		resolver Resolver,
		client ARMClient,
		log *slog.Logger,
		next PostReconcileCheckFunc,
	) (PostReconcileCheckResult, error)
}

// PostReconcileCheckFunc is the rest of the chain of post-checkers.
type PostReconcileCheckFunc func(
	ctx context.Context,
	obj *resource.Object,
	owner *resource.Object,
	resolver Resolver,
	client ARMClient,
	log *slog.Logger,
) (PostReconcileCheckResult, error)

// ARMResourceModifier changes the body of a PUT just before it is sent. It gets
// a copy of its own: secrets are resolved in it, so it never logs it.
type ARMResourceModifier interface {
	ModifyARMResource(
		ctx context.Context,
		payload map[string]any,
		obj *resource.Object,
		owner *resource.Object,
		resolver Resolver,
		client ARMClient,
		log *slog.Logger,
		next ARMResourceModifierFunc,
	) (map[string]any, error)
}

// ARMResourceModifierFunc is the rest of the chain of modifiers.
type ARMResourceModifierFunc func(
	ctx context.Context,
	payload map[string]any,
	obj *resource.Object,
	owner *resource.Object,
	resolver Resolver,
	client ARMClient,
	log *slog.Logger,
) (map[string]any, error)

// ErrorClassifier says how soon an error of ARM is tried again. Its convention:
// call next first, then change what the type knows better.
type ErrorClassifier interface {
	ClassifyError(
		ctx context.Context,
		err *arm.Error,
		apiVersion string,
		log *slog.Logger,
		next ErrorClassifierFunc,
	) (ErrorDetails, error)
}

// ErrorClassifierFunc is the rest of the chain of classifiers.
type ErrorClassifierFunc func(
	ctx context.Context,
	err *arm.Error,
	apiVersion string,
	log *slog.Logger,
) (ErrorDetails, error)

// ErrorDetails is an error of ARM as a user sees it. Class RetryNone is fatal:
// no further try until somebody acts.
type ErrorDetails struct {
	Code    string
	Message string
	Class   resource.RetryClass
}

// Deleter deletes a resource; next is the plain DELETE. What it does must be
// safe to repeat.
type Deleter interface {
	Delete(
		ctx context.Context,
		obj *resource.Object,
		resolver Resolver,
		client ARMClient,
		log *slog.Logger,
		next DeleterFunc,
	) error
}

// DeleterFunc is the rest of the chain of deleters.
type DeleterFunc func(
	ctx context.Context,
	obj *resource.Object,
	resolver Resolver,
	client ARMClient,
	log *slog.Logger,
) error

// Importer decides whether an existing resource is worth a manifest.
type Importer interface {
	Import(
		ctx context.Context,
		obj *resource.Object,
		owner *resource.Object,
		log *slog.Logger,
		next ImporterFunc,
	) (ImportResult, error)
}

// ImporterFunc is the rest of the chain of importers.
type ImporterFunc func(
	ctx context.Context,
	obj *resource.Object,
	owner *resource.Object,
	log *slog.Logger,
) (ImportResult, error)

// SuccessfulCreationHandler acts each time a pass ends Ready, not only the
// first time: it must be safe to repeat.
type SuccessfulCreationHandler interface {
	Success(
		ctx context.Context,
		obj *resource.Object,
		log *slog.Logger,
		next SuccessfulCreationHandlerFunc,
	) error
}

// SuccessfulCreationHandlerFunc is the rest of the chain of handlers.
type SuccessfulCreationHandlerFunc func(
	ctx context.Context,
	obj *resource.Object,
	log *slog.Logger,
) error

// ChildLister names the child collections of a type, relative to its ID
// ("databases"), that a delete would take along and that no list call of the
// resource group shows.
type ChildLister interface {
	Children() []string
}

// RestingStater takes words away from the table of provisioning states in
// flight (resource.InFlight) for a type whose resources rest in them: the
// defaults then treat such a resource as settled.
type RestingStater interface {
	RestingStates() []string
}

// LinkSource gives links for a type at the moment of a step: rules that may be
// replaced while the worker runs. Every step of a pass asks anew, and holds what
// it got to its end.
type LinkSource interface {
	Links(resourceType string) []any
}
