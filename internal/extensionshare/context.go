package extensionshare

import (
	"context"
	"reflect"
	"runtime"
	"strings"
	"time"
)

type (
	forceKey    struct{}
	purposeKey  struct{}
	nowKey      struct{}
	resolverKey struct{}
)

// WithForce returns the context of a link in a pass that a user forced, or not.
func WithForce(ctx context.Context, force bool) context.Context {
	return context.WithValue(ctx, forceKey{}, force)
}

// Forced reports whether a user forced the pass.
func Forced(ctx context.Context) bool {
	forced, _ := ctx.Value(forceKey{}).(bool)
	return forced
}

// WithPurpose returns the context of a modifier; the purpose is an extensions.Purpose.
func WithPurpose(ctx context.Context, purpose string) context.Context {
	return context.WithValue(ctx, purposeKey{}, purpose)
}

// Purpose returns the purpose of the PUT, "" for an unknown one.
func Purpose(ctx context.Context) string {
	purpose, _ := ctx.Value(purposeKey{}).(string)
	return purpose
}

// WithNow returns the context of a link with the time of its step; the zero time stays unset.
func WithNow(ctx context.Context, now time.Time) context.Context {
	if now.IsZero() {
		return ctx
	}
	return context.WithValue(ctx, nowKey{}, now)
}

// Now returns the time of the step, by the clock of the worker.
func Now(ctx context.Context) time.Time {
	if now, ok := ctx.Value(nowKey{}).(time.Time); ok {
		return now
	}
	return time.Now()
}

// WithResolver returns the context of a link with its resolver, an extensions.Resolver.
func WithResolver(ctx context.Context, resolver any) context.Context {
	return context.WithValue(ctx, resolverKey{}, resolver)
}

// Resolver returns the resolver of the link, nil without one.
func Resolver(ctx context.Context) any { return ctx.Value(resolverKey{}) }

// FunctionPackage returns the import path of the package of a link that is a function, "" for
// other links.
func FunctionPackage(link any) string {
	value := reflect.ValueOf(link)
	if value.Kind() != reflect.Func || value.IsNil() {
		return ""
	}
	at := runtime.FuncForPC(value.Pointer())
	if at == nil {
		return ""
	}
	slash := strings.LastIndex(at.Name(), "/") + 1
	last, _, _ := strings.Cut(at.Name()[slash:], ".")
	return at.Name()[:slash] + last
}
