package extensions

import (
	"context"
	"fmt"
	"log/slog"
	"path/filepath"
	"reflect"
	"runtime"
	"strings"
	"time"

	"github.com/armature-io/armature/internal/extensionshare"
	"github.com/armature-io/armature/resource"
)

// Check is the input of a check in its simple form, a function of a Check.
type Check struct {
	// Object is the resource, nil for an OwnerCheck, which runs before its first read.
	Object *resource.Object
	// Owner is nil if there is none, or if it may not be read.
	Owner    *resource.Object
	Resolver Resolver
	Client   ARMClient
	Log      *slog.Logger

	ctx context.Context
}

// Context ends with the time of the step.
func (c Check) Context() context.Context { return c.ctx }

// Forced is extensions.Forced.
func (c Check) Forced() bool { return Forced(c.ctx) }

// Now returns the time of the pass.
func (c Check) Now() time.Time { return extensionshare.Now(c.ctx) }

// Require is extensions.Require. Return its error with Fail.
func (c Check) Require(ids ...resource.ID) ([]*resource.Object, error) { return Require(c.ctx, ids...) }

// Result is what a check in its simple form decided.
type Result struct {
	text    string
	waits   bool
	options []Option
	err     error
}

// Pass lets the rest of the chain decide.
func Pass() Result { return Result{} }

// Wait is BlockReconcile for an OwnerCheck and a PreCheck, and PostReconcileCheckResultFailure
// for a PostCheck.
func Wait(text string, options ...Option) Result {
	return Result{text: text, waits: true, options: options}
}

// Fail returns the error of a check that failed, or of Require.
func Fail(err error) Result { return Result{err: err} }

// OwnerCheck is a PreReconciliationOwnerChecker of one function, which decides before the rest of
// its chain. The interfaces of the points have what it lacks: a decision after the rest of the
// chain, and instead of it.
type OwnerCheck func(Check) Result

// PreCheck is a PreReconciliationChecker of one function, like OwnerCheck.
type PreCheck func(Check) Result

// PostCheck is a PostReconciliationChecker of one function, like OwnerCheck.
type PostCheck func(Check) Result

var (
	_ PreReconciliationOwnerChecker = OwnerCheck(nil)
	_ PreReconciliationChecker      = PreCheck(nil)
	_ PostReconciliationChecker     = PostCheck(nil)
)

// ExtensionName returns the function with its file and line.
func (f OwnerCheck) ExtensionName() string { return functionName(f) }

// ExtensionName returns the function with its file and line.
func (f PreCheck) ExtensionName() string { return functionName(f) }

// ExtensionName returns the function with its file and line.
func (f PostCheck) ExtensionName() string { return functionName(f) }

// functionName returns a function as main.quota (quota.go:12).
func functionName(f any) string {
	at := runtime.FuncForPC(reflect.ValueOf(f).Pointer())
	if at == nil {
		return fmt.Sprintf("%T", f)
	}
	file, line := at.FileLine(at.Entry())
	return fmt.Sprintf("%s (%s:%d)", at.Name()[strings.LastIndex(at.Name(), "/")+1:], filepath.Base(file), line)
}

// PreReconcileOwnerCheck calls the function, and next if it passes.
func (f OwnerCheck) PreReconcileOwnerCheck(
	ctx context.Context, owner *resource.Object, resolver Resolver, client ARMClient, log *slog.Logger, next PreReconcileOwnerCheckFunc,
) (PreReconcileCheckResult, error) {
	switch got := f(Check{Owner: owner, Resolver: resolver, Client: client, Log: log, ctx: ctx}); {
	case got.err != nil:
		return PreReconcileCheckResult{}, got.err
	case got.waits:
		return BlockReconcile(got.text, got.options...), nil
	}
	return next(ctx, owner, resolver, client, log)
}

// PreReconcileCheck calls the function, and next if it passes.
func (f PreCheck) PreReconcileCheck(
	ctx context.Context, obj, owner *resource.Object, resolver Resolver, client ARMClient, log *slog.Logger, next PreReconcileCheckFunc,
) (PreReconcileCheckResult, error) {
	switch got := f(Check{Object: obj, Owner: owner, Resolver: resolver, Client: client, Log: log, ctx: ctx}); {
	case got.err != nil:
		return PreReconcileCheckResult{}, got.err
	case got.waits:
		return BlockReconcile(got.text, got.options...), nil
	}
	return next(ctx, obj, owner, resolver, client, log)
}

// PostReconcileCheck calls the function, and next if it passes.
func (f PostCheck) PostReconcileCheck(
	ctx context.Context, obj, owner *resource.Object, resolver Resolver, client ARMClient, log *slog.Logger, next PostReconcileCheckFunc,
) (PostReconcileCheckResult, error) {
	switch got := f(Check{Object: obj, Owner: owner, Resolver: resolver, Client: client, Log: log, ctx: ctx}); {
	case got.err != nil:
		return PostReconcileCheckResult{}, got.err
	case got.waits:
		return PostReconcileCheckResultFailure(got.text, got.options...), nil
	}
	return next(ctx, obj, owner, resolver, client, log)
}
