package extensions

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"

	"github.com/armature-io/armature/resource"
)

// maxOriginBytes bounds the origin of a verdict, which histories store.
const maxOriginBytes = 200

// originOf returns where the verdict of a link at a point comes from: a rule with its file
// and line, or a Go type with the method of the point, for example
// contoso.Busy.PreReconcileCheck.
func originOf(link any, point string) string {
	if named, ok := link.(Named); ok {
		return named.ExtensionName()
	}
	return strings.TrimPrefix(fmt.Sprintf("%T", link), "*") + "." + point
}

// errorOrigin returns the origin of an error of a chain: the innermost link that returned it,
// "" for an error of Armature's own defaults.
func errorOrigin(err error) string {
	if failed, ok := errors.AsType[*linkError](err); ok {
		return originOf(failed.link, failed.point)
	}
	if panicked, ok := errors.AsType[*panicError](err); ok && panicked.link != nil {
		return originOf(panicked.link, panicked.point)
	}
	return ""
}

// made is embedded in the results of checks. It records whether a link, or the default at
// the end of the chain, has claimed the result.
type made struct{ claimed bool }

// claim sets the origin of a verdict, unless an inner link made it, and reports whether it
// did.
func (m *made) claim(verdict *resource.Verdict, origin string) bool {
	if m.claimed {
		return false
	}
	m.claimed, verdict.Origin = true, origin
	return true
}

// ofDefault marks the result of the default at the end of a chain: it has no origin.
func ofDefault(result PreReconcileCheckResult, err error) (PreReconcileCheckResult, error) {
	result.claimed = true
	return result, err
}

// ofDefault returns the default as the end of a chain.
func (d defaultOwnerChecker) ofDefault() PreReconcileOwnerCheckFunc {
	return func(ctx context.Context, owner *resource.Object, resolver Resolver, client ARMClient, log *slog.Logger) (PreReconcileCheckResult, error) {
		return ofDefault(d.check(ctx, owner, resolver, client, log))
	}
}

// ofDefault returns the default as the end of a chain.
func (d defaultPreChecker) ofDefault() PreReconcileCheckFunc {
	return func(ctx context.Context, obj, owner *resource.Object, resolver Resolver, client ARMClient, log *slog.Logger) (PreReconcileCheckResult, error) {
		return ofDefault(d.check(ctx, obj, owner, resolver, client, log))
	}
}

// ofDefaultPostCheck returns the default as the end of a chain.
func (r *Registry) ofDefaultPostCheck() PostReconcileCheckFunc {
	return func(ctx context.Context, obj, owner *resource.Object, resolver Resolver, client ARMClient, log *slog.Logger) (PostReconcileCheckResult, error) {
		result, err := r.defaultPostCheck(ctx, obj, owner, resolver, client, log)
		result.claimed = true
		return result, err
	}
}

// claimPre sets the origin of the result of a link that made it, and checks it.
func claimPre(l *linkCall, result PreReconcileCheckResult, err error) (PreReconcileCheckResult, error) {
	if err == nil && result.claim(&result.verdict, originOf(l.link, l.point)) {
		err = checkResult(l.point, result.verdict)
	}
	return result, err
}
