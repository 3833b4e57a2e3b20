package activities

import (
	"net/http"
	"strings"

	"github.com/armature-io/armature/drift"
	"github.com/armature-io/armature/internal/jsontree"
	"github.com/armature-io/armature/resource"
)

// patches reports whether the write is a PATCH: the manifest asks for it, or the type has
// no PUT for a resource that exists.
func (p *put) patches() bool {
	if p.in.Desired.Put == resource.PutPatch {
		return true
	}
	_, only := p.patchOnly.Load(strings.ToLower(p.in.Desired.ID.Type()))
	return only && p.request.Object.Exists()
}

// hasNoPut reports whether ARM refused a PUT because the type has none, of a resource
// that exists: a PATCH is sent instead, from now on.
func (p *put) hasNoPut(err error) bool {
	if !hasStatus(err, http.StatusMethodNotAllowed) || p.patches() || !p.request.Object.Exists() {
		return false
	}
	p.patchOnly.Store(strings.ToLower(p.in.Desired.ID.Type()), true)
	p.log.Warn("the service has no PUT of the type; it is changed by PATCH", "type", p.in.Desired.ID.Type())
	return true
}

// patchBody returns the body of a PATCH: the stated part, without what is ignored. A PATCH
// replaces tags as a whole, so the tags of others go with the stated ones.
func (p *put) patchBody(stated map[string]any) map[string]any {
	// The items of a list are sent with the values of others, because a PATCH replaces it.
	ignore := p.request.Comparison().Ignore
	body := drift.Payload(stated, p.request.Object.Observed, ignore)
	withoutIgnored(body, ignore)
	drift.WithoutUnverified(body, p.request.Comparison())
	if _, _, tags := jsontree.Member(body, "tags"); tags {
		drift.KeepTags(body, p.request.Object.Desired, p.request.Object.Observed, p.request.Baseline)
	}
	return body
}

// withoutIgnored removes ignored paths of properties from the body of a PATCH: what it
// does not state stays as it is.
func withoutIgnored(body map[string]any, ignore []string) {
	for _, path := range resource.ParsePaths(ignore) {
		at := body
		for i, step := range path {
			name, _, found := jsontree.Member(at, step.Name)
			if !found {
				break
			}
			if i == len(path)-1 {
				delete(at, name)
				break
			}
			next, isObject := at[name].(map[string]any)
			if !isObject {
				break
			}
			at = next
		}
	}
}
