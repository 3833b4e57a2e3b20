package activities

import (
	"cmp"
	"context"
	"log/slog"
	"net/http"
	"strings"
	"sync"

	"github.com/armature-io/armature/arm"
	"github.com/armature-io/armature/internal/jsontree"
	"github.com/armature-io/armature/resource"
)

// ignoredETags are the methods and types whose service refuses the ETags that it shows, as far
// as this worker has seen. A PATCH counts as a PUT.
type ignoredETags struct {
	seen sync.Map
	log  *slog.Logger
}

// ignoresETags reports whether a method of a type is sent without If-Match.
func (i *ignoredETags) ignoresETags(method, resourceType string) bool {
	_, ignored := i.seen.Load(method + " " + strings.ToLower(resourceType))
	return ignored
}

func (i *ignoredETags) noteIgnoredETags(method, resourceType string) {
	if _, known := i.seen.LoadOrStore(method+" "+strings.ToLower(resourceType), true); !known {
		i.log.Warn("the service refuses the ETags that it shows; the method is sent without If-Match for the type", "method", method, "type", resourceType)
	}
}

// withoutETags returns a body without its own ETag and those of the objects in it.
func withoutETags(body map[string]any) any {
	return jsontree.Edit(body, func(name string, value any) (any, jsontree.Next) {
		if strings.EqualFold(name, "etag") {
			return nil, jsontree.Omit
		}
		return value, jsontree.Inside
	})
}

// deleteUnchanged sends the DELETE of the resource that the pass has read, under its ETag.
// Where ARM refuses that and the ETag is not stable, or still the one that was refused, the
// service does not honour it. A changed resource is left to the next pass, which looks for
// contents again.
func (a *Activities) deleteUnchanged(ctx context.Context, in DeleteResourceInput) (arm.Operation, error) {
	id, version, options := in.Desired.ID, in.Desired.APIVersion, arm.DeleteOptionsOf(ctx)
	options.AddQuery(a.purger().Query(in.Desired))
	if in.ETag == "" || a.etags.ignoresETags(http.MethodDelete, id.Type()) {
		return a.Client.Delete(ctx, id, version, options)
	}
	unchanged := options
	unchanged.IfMatch = cmp.Or(options.IfMatch, in.ETag)
	operation, refusal := a.Client.Delete(ctx, id, version, unchanged)
	if !hasStatus(refusal, http.StatusPreconditionFailed) {
		return operation, refusal
	}
	now, err := a.Client.Get(ctx, id, version)
	switch {
	case arm.IsAbsent(err):
		return arm.Operation{Response: arm.Response{Status: http.StatusNotFound}, Done: true, Outcome: arm.OutcomeSucceeded}, nil
	case err != nil:
		return arm.Operation{}, refusal
	case now.ETag != in.ETag && a.hasStableETag(ctx, in.Desired, now.ETag):
		return arm.Operation{}, refusal
	}
	a.etags.noteIgnoredETags(http.MethodDelete, id.Type())
	if now.ETag != in.ETag {
		return arm.Operation{}, refusal
	}
	return a.Client.Delete(ctx, id, version, options)
}

// hasStableETag reports whether another read shows the same ETag.
func (a *Activities) hasStableETag(ctx context.Context, desired resource.Desired, etag string) bool {
	again, err := a.Client.Get(ctx, desired.ID, desired.APIVersion)
	return err != nil || again.ETag == etag
}
