package extensionhost_test

import (
	"context"
	"errors"
	"log/slog"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/armature-io/armature/arm"
	"github.com/armature-io/armature/extensions"
	"github.com/armature-io/armature/internal/extensionhost"
	"github.com/armature-io/armature/resource"
)

// every implements every point and records when it begins and ends. With stop it
// decides instead of calling next.
type every struct {
	name  string
	stop  bool
	trace *[]string
}

func (l every) begins() func() {
	*l.trace = append(*l.trace, l.name+" begins")
	return func() { *l.trace = append(*l.trace, l.name+" ends") }
}

func (l every) PreReconcileOwnerCheck(ctx context.Context, owner *resource.Object, resolver extensions.Resolver,
	client extensions.ARMClient, log *slog.Logger, next extensions.PreReconcileOwnerCheckFunc,
) (extensions.PreReconcileCheckResult, error) {
	defer l.begins()()
	if l.stop {
		return extensions.BlockReconcile("stop"), nil
	}
	return next(ctx, owner, resolver, client, log)
}

func (l every) PreReconcileCheck(ctx context.Context, obj, owner *resource.Object, resolver extensions.Resolver,
	client extensions.ARMClient, log *slog.Logger, next extensions.PreReconcileCheckFunc,
) (extensions.PreReconcileCheckResult, error) {
	defer l.begins()()
	if l.stop {
		return extensions.BlockReconcile("stop"), nil
	}
	return next(ctx, obj, owner, resolver, client, log)
}

func (l every) PostReconcileCheck(ctx context.Context, obj, owner *resource.Object, resolver extensions.Resolver,
	client extensions.ARMClient, log *slog.Logger, next extensions.PostReconcileCheckFunc,
) (extensions.PostReconcileCheckResult, error) {
	defer l.begins()()
	if l.stop {
		return extensions.PostReconcileCheckResultFailure("stop"), nil
	}
	return next(ctx, obj, owner, resolver, client, log)
}

func (l every) ModifyARMResource(ctx context.Context, payload map[string]any, obj, owner *resource.Object, resolver extensions.Resolver,
	client extensions.ARMClient, log *slog.Logger, next extensions.ARMResourceModifierFunc,
) (map[string]any, error) {
	defer l.begins()()
	if l.stop {
		return nil, extensions.NotYet("stop")
	}
	return next(ctx, payload, obj, owner, resolver, client, log)
}

func (l every) ClassifyError(ctx context.Context, err *arm.Error, obj *resource.Object, resolver extensions.Resolver, client extensions.ARMClient,
	log *slog.Logger, next extensions.ErrorClassifierFunc,
) (extensions.ErrorDetails, error) {
	defer l.begins()()
	if l.stop {
		return extensions.ErrorDetails{Code: "stop", Class: resource.RetryNone}, nil
	}
	return next(ctx, err, obj, resolver, client, log)
}

func (l every) Delete(ctx context.Context, obj *resource.Object, resolver extensions.Resolver, client extensions.ARMClient, log *slog.Logger, next extensions.DeleterFunc) error {
	defer l.begins()()
	if l.stop {
		return extensions.NotYet("stop")
	}
	return next(ctx, obj, resolver, client, log)
}

func (l every) Import(ctx context.Context, obj, owner *resource.Object, log *slog.Logger, next extensions.ImporterFunc) (extensions.ImportResult, error) {
	defer l.begins()()
	if l.stop {
		return extensions.ImportSkipped("stop"), nil
	}
	return next(ctx, obj, owner, log)
}

func (l every) HandleSuccess(ctx context.Context, obj, owner *resource.Object, resolver extensions.Resolver, client extensions.ARMClient, log *slog.Logger, next extensions.SuccessHandlerFunc) error {
	defer l.begins()()
	if l.stop {
		return extensions.NotYet("stop")
	}
	return next(ctx, obj, owner, resolver, client, log)
}

// At every point the first entry is the outer link, next is the rest, and a link
// that does not call it ends the chain.
func TestChainOrderAtEveryPoint(t *testing.T) {
	ctx, deleted := t.Context(), errors.New("sent")
	points := map[string]func(r *extensionhost.Registry, req extensionhost.Request) (stopped bool){
		"owner": func(r *extensionhost.Registry, q extensionhost.Request) bool {
			return r.CheckOwner(ctx, q).Message == "stop"
		},
		"pre": func(r *extensionhost.Registry, q extensionhost.Request) bool {
			return r.PreCheck(ctx, q).Message == "stop"
		},
		"post": func(r *extensionhost.Registry, q extensionhost.Request) bool {
			return r.PostCheck(ctx, q).Message == "stop"
		},
		"success": func(r *extensionhost.Registry, q extensionhost.Request) bool { return r.Success(ctx, q) != nil },
		"modify": func(r *extensionhost.Registry, q extensionhost.Request) bool {
			_, verdict := r.Modify(ctx, q, map[string]any{})
			return verdict != nil && verdict.Action == block
		},
		"classify": func(r *extensionhost.Registry, q extensionhost.Request) bool {
			return r.Classify(ctx, q, &arm.Error{Status: 400, Code: "x"}).Reason == "stop"
		},
		"delete": func(r *extensionhost.Registry, q extensionhost.Request) bool {
			return !errors.Is(r.Delete(ctx, q, func(context.Context) error { return deleted }), deleted)
		},
		"import": func(r *extensionhost.Registry, q extensionhost.Request) bool {
			result, _ := r.Import(ctx, q)
			_, skipped := result.Skipped()
			return skipped
		},
	}
	whole := []string{"outer begins", "inner begins", "inner ends", "outer ends"}
	for name, run := range points {
		for stop, want := range map[bool][]string{false: whole, true: {"outer begins", "outer ends"}} {
			var trace []string
			r := registry(t,
				extensions.Entry{Type: storageType, Link: every{name: "outer", stop: stop, trace: &trace}},
				extensions.Entry{Type: extensions.AllTypes, Link: every{name: "inner", trace: &trace}})
			if stopped := run(r, extensionhost.Request{Object: object(t, storageID, `{}`, `{}`)}); stopped != stop {
				t.Errorf("%s: stopped %v, want %v", name, stopped, stop)
			}
			if diff := cmp.Diff(want, trace); diff != "" {
				t.Errorf("%s, stop %v (-want +got)\n%s", name, stop, diff)
			}
		}
	}
}
