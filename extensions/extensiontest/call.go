package extensiontest

import (
	"testing"

	"github.com/armature-io/armature/extensions"
	"github.com/armature-io/armature/internal/extensionhost"
	"github.com/armature-io/armature/resource"
)

// Call is the input of one call of a link, for a test of a single case. The link is called as
// in a pass: by itself in the chain, with the default after it. Secrets of the observed bodies
// are masked as on a worker; a modifier gets those of the resource. Only Object must be set.
type Call struct {
	Object, Owner *resource.Object
	Client        extensions.ARMClient
	Resolver      extensions.Resolver
	// Force is that of armature reconcile --force.
	Force bool
	// Purpose is that of the PUT, for Modify.
	Purpose extensions.Purpose
}

// CheckOwner returns the verdict of the owner check.
func (c Call) CheckOwner(t testing.TB, link any) resource.Verdict {
	t.Helper()
	return c.registry(t, link).CheckOwner(t.Context(), c.request())
}

// PreCheck returns the verdict of the pre-check.
func (c Call) PreCheck(t testing.TB, link any) resource.Verdict {
	t.Helper()
	return c.registry(t, link).PreCheck(t.Context(), c.request())
}

// PostCheck returns the verdict of the post-check.
func (c Call) PostCheck(t testing.TB, link any) resource.Verdict {
	t.Helper()
	return c.registry(t, link).PostCheck(t.Context(), c.request())
}

// Modify returns the modified payload, or the verdict by which the link stops the PUT.
func (c Call) Modify(t testing.TB, link any, payload map[string]any) (map[string]any, *resource.Verdict) {
	t.Helper()
	return c.registry(t, link).Modify(t.Context(), c.requestFor(c.Object), payload)
}

func (c Call) registry(t testing.TB, link any) *extensionhost.Registry {
	t.Helper()
	registry, err := extensionhost.New(extensions.Entry{Type: extensions.AllTypes, Link: link}, extensions.Entry{Type: extensions.AllTypes, Link: builtIn{}})
	if err != nil {
		t.Fatal(err)
	}
	return registry
}

func (c Call) request() extensionhost.Request {
	return c.requestFor(view().Own(c.Object))
}

func (c Call) requestFor(object *resource.Object) extensionhost.Request {
	return extensionhost.Request{Object: object, Owner: view().Other(c.Owner), Client: c.Client, Masker: view().Masker(), Resolver: c.Resolver, Force: c.Force, Purpose: c.Purpose}
}
