package extensiontest

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"sync"

	"github.com/armature-io/armature/extensions"
	"github.com/armature-io/armature/resource"
)

// probeKey marks the context of a call, so that the probe recognizes another one.
type probeKey struct{}

// probed is what the probe saw in one call.
type probed struct {
	// object and owner are what the link received, err is the error of next.
	object, owner *resource.Object
	err           error

	mu       sync.Mutex
	calls    int
	problems []string
}

func (p *probed) count() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.calls
}

func (p *probed) found() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.problems)
}

// given is what a link passed to next.
type given struct {
	name      string
	got, want *resource.Object
}

// called records a call of next with what the link passed.
func (p *probed) called(ctx context.Context, resolver extensions.Resolver, client extensions.ARMClient, log *slog.Logger, objects ...given) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.calls++
	report := func(format string, args ...any) {
		if problem := fmt.Sprintf(format, args...); !slices.Contains(p.problems, problem) {
			p.problems = append(p.problems, problem)
		}
	}
	for _, o := range objects {
		switch {
		case o.got == nil && o.want != nil:
			report("next was called with nil as the %s: pass on what the link received", o.name)
		// A copy, for example a normalized one, is allowed.
		case o.got != nil && (o.want == nil || !o.got.ID.Equal(o.want.ID) || o.got.Exists() != o.want.Exists()):
			report("next was called with another %s than the link received: pass on what the link received", o.name)
		}
	}
	if ctx == nil || ctx.Value(probeKey{}) != p {
		report("next was called with another context, which has neither the deadline nor the force of the pass: pass on that of the link, or one made of it")
	}
	if resolver == nil || client == nil || log == nil {
		report("next was called without a resolver, client or logger: pass on those of the link")
	}
	return p.err
}

// probe replaces the rest of the chain. It returns a result that lets the pass
// continue, or an error.
type probe struct{ *probed }

func (p probe) PreReconcileOwnerCheck(
	ctx context.Context, owner *resource.Object, resolver extensions.Resolver, client extensions.ARMClient, log *slog.Logger,
	_ extensions.PreReconcileOwnerCheckFunc,
) (extensions.PreReconcileCheckResult, error) {
	if err := p.called(ctx, resolver, client, log, given{"owner", owner, p.owner}); err != nil {
		return extensions.PreReconcileCheckResult{}, err
	}
	return extensions.ProceedWithReconcile(), nil
}

func (p probe) PreReconcileCheck(
	ctx context.Context, obj, owner *resource.Object, resolver extensions.Resolver, client extensions.ARMClient, log *slog.Logger,
	_ extensions.PreReconcileCheckFunc,
) (extensions.PreReconcileCheckResult, error) {
	if err := p.called(ctx, resolver, client, log, given{"resource", obj, p.object}, given{"owner", owner, p.owner}); err != nil {
		return extensions.PreReconcileCheckResult{}, err
	}
	return extensions.ProceedWithReconcile(), nil
}

func (p probe) PostReconcileCheck(
	ctx context.Context, obj, owner *resource.Object, resolver extensions.Resolver, client extensions.ARMClient, log *slog.Logger,
	_ extensions.PostReconcileCheckFunc,
) (extensions.PostReconcileCheckResult, error) {
	if err := p.called(ctx, resolver, client, log, given{"resource", obj, p.object}, given{"owner", owner, p.owner}); err != nil {
		return extensions.PostReconcileCheckResult{}, err
	}
	return extensions.PostReconcileCheckResultSuccess(), nil
}
