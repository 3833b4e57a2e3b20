package extensions

import (
	"context"
	"encoding/json"
	"log/slog"
	"time"

	"github.com/armature-io/armature/arm"
	"github.com/armature-io/armature/resource"
)

// ARMClient sends requests to ARM with the credential of the resource under
// reconciliation. The reads of one step share a budget of 3 s, so a check makes
// only those that it needs.
type ARMClient interface {
	// Get reads any resource. arm.IsAbsent reports whether its error means that the
	// resource does not exist.
	Get(ctx context.Context, id resource.ID, apiVersion string) (arm.Response, error)
	// Find returns at most limit items of a collection below a resource, filtered
	// by ARM's $filter unless it is "".
	Find(ctx context.Context, id resource.ID, collection, apiVersion, filter string, limit int) ([]json.RawMessage, error)
	// Post calls an action of a resource ("purge") and does not wait for the
	// operation that it starts; the next pass checks the result. The action must be
	// safe to repeat.
	Post(ctx context.Context, id resource.ID, action, apiVersion string, body []byte) (arm.Operation, error)
	// GetWithin is Get through the cache of the worker: the result is at most maxAge old, an
	// hour at most, and secrets in it are masked. It has no ETag.
	GetWithin(ctx context.Context, id resource.ID, apiVersion string, maxAge time.Duration) (arm.Response, error)
	// Put, Patch and Delete write another resource than the one under reconciliation, from a
	// pre-check, a post-check, a success handler, a modifier or a deleter. They do not wait for
	// the operation that they start; the next pass checks the result. Each must be safe to
	// repeat. Nothing is sent in a plan, under the policy observe, in a freeze or by a
	// read-only worker; the budgets, the fence and the signature of the resource under
	// reconciliation apply. Without a condition in the options, and for a DELETE, the write goes
	// under the ETag of the last Get of the step, or of one before the write: a resource that
	// changed since is a 412.
	Put(ctx context.Context, id resource.ID, apiVersion string, body []byte, options arm.PutOptions) (arm.Operation, error)
	Patch(ctx context.Context, id resource.ID, apiVersion string, body []byte, options arm.PutOptions) (arm.Operation, error)
	Delete(ctx context.Context, id resource.ID, apiVersion string) (arm.Operation, error)
}

// Resolver reads another resource by a reference.
type Resolver interface {
	Resolve(ctx context.Context, reference resource.Reference) (Resolution, error)
}

// Resolution is the result of a Resolver. Object is nil when Found is false; Ready
// means that the resource exists and is neither changing nor broken. Managed is that of
// Object: the Ready condition where Armature manages the resource, else nil
// (IsReady uses both).
type Resolution struct {
	Found  bool
	Object *resource.Object
	Ready  bool
	// Refusal is why Ready is false where a fact of the type decided it (Facts.Busy,
	// StoppedState.HoldsReferences), for example `properties.state is "Updating"`.
	Refusal string
	Managed *resource.Managed
}

// PreReconciliationOwnerChecker decides from the owner alone whether the
// resource may be touched at all. It runs before every request to the resource,
// for owners that refuse even a GET in some state. owner is nil when there is none or
// when it may not be read; an owner that is absent in Azure has
// Exists() == false. It must not return SkipReconcile.
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
// gets a PUT. The default at the end of the chain blocks while an operation is in
// progress and then compares. A link that returns ProceedWithReconcile without
// calling next requests a PUT in every pass.
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

// PostReconciliationChecker decides whether a resource is Ready after its
// operation succeeded in ARM. It also runs in a pass without a PUT.
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

// ARMResourceModifier changes the body of a PUT just before it is sent. It gets a
// private copy. Secrets are resolved in it, so it must not log it. It runs after
// freezes and budgets allowed the PUT. One with an effect in Azure checks PurposeOf
// first.
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

// ErrorClassifier decides how soon a pass follows an error of ARM. By convention
// it calls next first, then changes what it knows better for its type. It may read the
// explanation of an error, such as a quota or a lock. obj has no bodies.
type ErrorClassifier interface {
	ClassifyError(
		ctx context.Context,
		err *arm.Error,
		obj *resource.Object,
		resolver Resolver,
		client ARMClient,
		log *slog.Logger,
		next ErrorClassifierFunc,
	) (ErrorDetails, error)
}

// ErrorClassifierFunc is the rest of the chain of classifiers.
type ErrorClassifierFunc func(
	ctx context.Context,
	err *arm.Error,
	obj *resource.Object,
	resolver Resolver,
	client ARMClient,
	log *slog.Logger,
) (ErrorDetails, error)

// ErrorDetails is an error of ARM as a user sees it. Class RetryNone is permanent:
// there is no retry until a user acts.
type ErrorDetails struct {
	Code    string
	Message string
	Class   resource.RetryClass
}

// Deleter deletes a resource; next is the plain DELETE. It must be safe to repeat.
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

// Importer decides whether an import writes a manifest for an existing resource.
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

// SuccessHandler runs each time a pass ends Ready, so it must be safe to repeat. It reads
// what it needs, and may write other resources.
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

// SuccessHandlerFunc is the rest of the chain of handlers.
type SuccessHandlerFunc func(
	ctx context.Context,
	obj *resource.Object,
	owner *resource.Object,
	resolver Resolver,
	client ARMClient,
	log *slog.Logger,
) error

// ChildLister lists the child collections of a type, relative to its ID
// ("databases"), that a delete would take along and that a list call of the
// resource group does not show.
type ChildLister interface {
	Children() []string
}

// RestingStater lists provisioning states that mean an operation in progress for
// other types (resource.InFlight) and none for this type. The defaults treat a
// resource in such a state as settled.
type RestingStater interface {
	RestingStates() []string
}

// Named is a link with a display name other than its Go type, such as a rule of a
// file.
type Named interface {
	ExtensionName() string
}
