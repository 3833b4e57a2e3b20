package extensionhost

import (
	"cmp"
	"context"
	"log/slog"
	"reflect"
	"slices"
	"time"

	"github.com/armature-io/armature/extensions"
	"github.com/armature-io/armature/internal/extensionshare"
	"github.com/armature-io/armature/internal/jsontree"
	"github.com/armature-io/armature/resource"
)

// Trial is what one link decides by itself at one point.
type Trial struct {
	// Link and Point name the link and the point.
	Link  string `json:"link"`
	Point string `json:"point"`
	// Verdict is that of the link; it proceeds or succeeds where the link decides nothing.
	Verdict resource.Verdict `json:"verdict"`
	// Values are what the condition of a rule compared, also of one that is false.
	Values []string `json:"values,omitempty"`
	// Reads are the masked bodies of what a rule read by name, nil for an absent resource, lists for
	// several.
	Reads map[string]any `json:"reads,omitempty"`
	// Payload is the body that a modifier changed, nil if it changed nothing.
	Payload map[string]any `json:"payload,omitempty"`
}

// maxTrialTime is the time that a pass has for its checks.
const maxTrialTime = 3 * time.Second

// only is the source of one link, which the rest of the chain leaves to decide.
type only struct{ link any }

// Links implements LinkSource.
func (o only) Links(string) []any { return []any{o.link, chainEnd{}} }

// Only returns a registry with the facts of r and one link for every type. The rest of each
// chain proceeds, or succeeds.
func (r *Registry) Only(link any) *Registry {
	entry := extensions.Entry{Type: extensions.AllTypes, Link: only{link}}
	return &Registry{
		entries: []extensions.Entry{entry}, keys: []string{extensions.AllTypes}, made: [][]any{nil},
		sources: r.sources, entryFacts: r.entryFacts, hanging: r.hanging,
	}
}

// With returns a registry with further entries, the innermost of their chains.
func (r *Registry) With(entries ...extensions.Entry) (*Registry, error) {
	return New(slices.Concat(r.entries, entries)...)
}

// Links returns the links of a type in the order of their chains.
func (r *Registry) Links(resourceType string) []any { return r.links(resourceType) }

// Try runs a link by itself at each of its checks, and at the payload. newRequest returns the
// request of one run, and tried gets what the run came to.
func (r *Registry) Try(ctx context.Context, link any, newRequest func() Request, tried func(Trial)) {
	alone := r.Only(link)
	try := func(point string, decide func(context.Context, Request, *Trial)) {
		ctx, cancel := context.WithTimeout(ctx, maxTrialTime)
		defer cancel()
		sight := &extensionshare.Sight{}
		trial := Trial{Link: nameOf(link), Point: point}
		decide(extensionshare.WithSight(ctx, sight), newRequest(), &trial)
		trial.Values, trial.Reads = sight.Values(), sight.Reads()
		tried(trial)
	}
	if _, ok := link.(extensions.PreReconciliationOwnerChecker); ok {
		try(ownerCheckPoint, func(ctx context.Context, req Request, trial *Trial) {
			req.References = nil
			trial.Verdict = alone.CheckOwner(ctx, req)
		})
	}
	if _, ok := link.(extensions.PreReconciliationChecker); ok {
		try(preCheckPoint, func(ctx context.Context, req Request, trial *Trial) { trial.Verdict = alone.PreCheck(ctx, req) })
	}
	if _, ok := link.(extensions.PostReconciliationChecker); ok {
		try(postCheckPoint, func(ctx context.Context, req Request, trial *Trial) { trial.Verdict = alone.PostCheck(ctx, req) })
	}
	if _, ok := link.(extensions.ARMResourceModifier); ok {
		try(modifyPoint, func(ctx context.Context, req Request, trial *Trial) {
			modified, stop := alone.Modify(ctx, req, jsontree.Clone(req.Object.Desired))
			without, _ := r.Only(chainEnd{}).Modify(ctx, req, jsontree.Clone(req.Object.Desired))
			trial.Verdict = *cmp.Or(stop, new(resource.Proceed("")))
			if stop == nil && !reflect.DeepEqual(modified, without) {
				trial.Payload = modified
			}
		})
	}
}

// chainEnd ends the chain of one link: the rest decides nothing.
type chainEnd struct{}

// PreReconcileOwnerCheck proceeds.
func (chainEnd) PreReconcileOwnerCheck(
	context.Context, *resource.Object, extensions.Resolver, extensions.ARMClient, *slog.Logger, extensions.PreReconcileOwnerCheckFunc,
) (extensions.PreReconcileCheckResult, error) {
	return extensions.ProceedWithReconcile(), nil
}

// PreReconcileCheck requests a PUT.
func (chainEnd) PreReconcileCheck(
	context.Context, *resource.Object, *resource.Object, extensions.Resolver, extensions.ARMClient, *slog.Logger, extensions.PreReconcileCheckFunc,
) (extensions.PreReconcileCheckResult, error) {
	return extensions.ProceedWithReconcile(), nil
}

// PostReconcileCheck succeeds.
func (chainEnd) PostReconcileCheck(
	context.Context, *resource.Object, *resource.Object, extensions.Resolver, extensions.ARMClient, *slog.Logger, extensions.PostReconcileCheckFunc,
) (extensions.PostReconcileCheckResult, error) {
	return extensions.PostReconcileCheckResultSuccess(), nil
}
