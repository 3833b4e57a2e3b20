package extensionhost

import (
	"encoding/json"

	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/secrets"
)

// Masker returns a masker that shows the values that facts declare public.
func (r *Registry) Masker(masker *secrets.Masker) *secrets.Masker {
	return masker.WithPublic(func(resourceType string) []string { return r.Facts(resourceType).Comparison.PublicPaths() })
}

// View shows the bodies of a test to links as a worker does: with secrets masked.
type View struct{ masker *secrets.Masker }

// viewKey makes the masks of tests. They protect nothing.
const viewKey = "the key of masks in tests of authors"

// View returns the view of a worker with these facts.
func (r *Registry) View() View { return View{r.Masker(secrets.NewMasker([]byte(viewKey)))} }

// Masker returns the masker of the view, for a Request.
func (v View) Masker() *secrets.Masker { return v.masker }

// Own returns the resource under reconciliation as a pre-check or post-check sees it: masked by
// its type, and by its manifest.
func (v View) Own(object *resource.Object) *resource.Object {
	if !object.Exists() {
		return object
	}
	spec := resource.Desired{ID: object.ID}
	if body, err := json.Marshal(object.Desired); err == nil {
		spec.Body = body
	}
	target := spec.WithSecrets().Target()
	shown := *object
	shown.Observed = v.masker.MaskPaths(v.masker.Mask(object.ID.Type(), object.Observed, target.Plain), target.Secret)
	return &shown
}

// Other returns an owner or another resource as all points see it: masked by its type.
func (v View) Other(object *resource.Object) *resource.Object {
	if !object.Exists() {
		return object
	}
	shown := *object
	shown.Observed = v.masker.Mask(object.ID.Type(), object.Observed, nil)
	return &shown
}
