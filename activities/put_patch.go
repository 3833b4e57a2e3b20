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

// patchBody returns the body of a PATCH. It replaces tags as a whole, so the tags of others go
// with the stated ones.
func (p *put) patchBody(resolved map[string]any) map[string]any {
	object := p.request.Object
	sent := drift.Patch(resolved, object.Desired, object.Observed, p.request.Comparison())
	if _, _, tags := jsontree.Member(sent.Body, "tags"); tags {
		drift.KeepTags(sent.Body, object.Desired, object.Observed, p.request.Baseline)
	}
	p.kept = sent.Kept
	return sent.Body
}
