package extensionhost_test

import (
	"context"
	"log/slog"
	"testing"

	"github.com/armature-io/armature/extensions"
	"github.com/armature-io/armature/extensions/extensiontest"
	"github.com/armature-io/armature/internal/extensionhost"
	"github.com/armature-io/armature/resource"
)

// ownerLink, preLink and postLink make a link of one function: the patterns of
// the specification are written as their authors would write them.
type ownerLink func(owner *resource.Object, w given) (extensions.PreReconcileCheckResult, error)
type preLink func(obj, owner *resource.Object, w given) (extensions.PreReconcileCheckResult, error)
type postLink func(obj, owner *resource.Object, w given) (extensions.PostReconcileCheckResult, error)

// given are the inputs of a check besides the objects. next is the rest of the chain.
type given struct {
	ctx      context.Context
	resolver extensions.Resolver
	client   extensions.ARMClient
	log      *slog.Logger
	next     func() (extensions.PreReconcileCheckResult, error)
	nextPost func() (extensions.PostReconcileCheckResult, error)
}

func (f ownerLink) PreReconcileOwnerCheck(ctx context.Context, owner *resource.Object, resolver extensions.Resolver,
	client extensions.ARMClient, log *slog.Logger, next extensions.PreReconcileOwnerCheckFunc,
) (extensions.PreReconcileCheckResult, error) {
	return f(owner, given{ctx: ctx, resolver: resolver, client: client, log: log, next: func() (extensions.PreReconcileCheckResult, error) {
		return next(ctx, owner, resolver, client, log)
	}})
}

func (f preLink) PreReconcileCheck(ctx context.Context, obj, owner *resource.Object, resolver extensions.Resolver,
	client extensions.ARMClient, log *slog.Logger, next extensions.PreReconcileCheckFunc,
) (extensions.PreReconcileCheckResult, error) {
	return f(obj, owner, given{ctx: ctx, resolver: resolver, client: client, log: log, next: func() (extensions.PreReconcileCheckResult, error) {
		return next(ctx, obj, owner, resolver, client, log)
	}})
}

func (f postLink) PostReconcileCheck(ctx context.Context, obj, owner *resource.Object, resolver extensions.Resolver,
	client extensions.ARMClient, log *slog.Logger, next extensions.PostReconcileCheckFunc,
) (extensions.PostReconcileCheckResult, error) {
	return f(obj, owner, given{ctx: ctx, resolver: resolver, client: client, log: log, nextPost: func() (extensions.PostReconcileCheckResult, error) {
		return next(ctx, obj, owner, resolver, client, log)
	}})
}

const (
	parentID = groupID + "/providers/Contoso.Things/parents/p1"
	childID  = parentID + "/children/c1"
)

// situation is one case of a pattern: bodies in JSON, "" is absent.
type situation struct {
	reason   string
	desired  string
	observed string
	owner    string
	none     bool              // there is no owner at all
	managed  *resource.Managed // the owner's Ready condition, nil for an unmanaged one
	client   *extensiontest.Client
	resolver *extensiontest.Resolver
	want     resource.Action
	why      resource.Reason
	severity resource.Severity
	class    resource.RetryClass
	message  string // the whole of it, "" is not compared
}

// judge runs a situation through the registry.
func (s situation) judge(t *testing.T, link any) resource.Verdict {
	t.Helper()
	if s.desired == "" {
		s.desired = `{}`
	}
	if s.client == nil {
		s.client = &extensiontest.Client{}
	}
	if s.resolver == nil {
		s.resolver = &extensiontest.Resolver{}
	}
	request := extensionhost.Request{
		Object: object(t, childID, s.desired, s.observed), Owner: object(t, parentID, "", s.owner),
		Client: s.client, Resolver: s.resolver,
	}
	request.Owner.Managed = s.managed
	if s.none {
		request.Owner = nil
	}
	r := registry(t, extensions.Entry{Type: "Contoso.Things/parents/children", Link: link})
	var got resource.Verdict
	switch link.(type) {
	case ownerLink:
		got = r.CheckOwner(t.Context(), request)
	case preLink:
		got = r.PreCheck(t.Context(), request)
	case postLink:
		got = r.PostCheck(t.Context(), request)
	}
	if got.Action != s.want || s.why != "" && got.Reason != s.why || s.message != "" && got.Message != s.message ||
		s.severity != "" && got.Severity != s.severity || s.class != "" && got.Class != s.class {
		t.Errorf("%s: got %s %s %s %s %q", s.reason, got.Action, got.Severity, got.Class, got.Reason, got.Message)
	}
	return got
}

// situations runs a table.
func situations(t *testing.T, link any, table map[string]situation) {
	t.Helper()
	for name, s := range table {
		t.Run(name, func(t *testing.T) { s.judge(t, link) })
	}
}
