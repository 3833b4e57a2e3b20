package extensiontest

import (
	"encoding/json"
	"maps"
	"strings"
	"testing"

	"github.com/armature-io/armature/internal/extensionhost"
	"github.com/armature-io/armature/resource"
)

// input is what a check is called with.
type input struct {
	request extensionhost.Request
	// resources are those that can be read; readErr is the error of every read instead.
	resources map[string]string
	readErr   error
	// nextErr is the error of the next link.
	nextErr error
}

func (r *trial) owner(t *testing.T) resource.ID {
	t.Helper()
	if r.suite.OwnerID != "" {
		return ID(t, r.suite.OwnerID)
	}
	return ID(t, r.suite.ID).Owner()
}

// passing returns an input with which the check passes.
func (r *trial) passing(t *testing.T) input {
	t.Helper()
	if r.states.AbsentBlocks {
		return r.with(t, r.states.Pass[0])
	}
	return r.of(t, r.body(t))
}

// blocking returns an input with which the check blocks, nil without one.
func (r *trial) blocking(t *testing.T) *input {
	t.Helper()
	var in input
	switch {
	case len(r.states.Block) > 0:
		in = r.with(t, r.states.Block[0])
	case r.states.AbsentBlocks:
		in = r.of(t, r.body(t))
	default:
		return nil
	}
	return &in
}

// body returns the body that has the property, without it.
func (r *trial) body(t *testing.T) map[string]any {
	t.Helper()
	text := r.suite.Observed
	if r.states.Of != "" {
		known := false
		for _, id := range keys(r.suite.Resources) {
			if strings.EqualFold(id, r.states.Of) {
				text, known = r.suite.Resources[id], true
			}
		}
		if !known {
			t.Fatalf("Of is %s, which is not in Resources", r.states.Of)
		}
	}
	body, err := resource.DecodeBody([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	if body == nil {
		body = map[string]any{}
	}
	if r.states.Of != "" {
		r.remove(t, body)
	}
	return body
}

// remove takes the property out of a recorded body.
func (r *trial) remove(t *testing.T, body map[string]any) {
	t.Helper()
	path := r.path(t)
	parent, _ := path[:len(path)-1].Get(body)
	if object, ok := parent.(map[string]any); ok {
		delete(object, path[len(path)-1].Name)
	}
}

func (r *trial) path(t *testing.T) resource.Path {
	t.Helper()
	path, err := resource.ParsePath(r.states.Path)
	if err != nil || len(path) == 0 {
		t.Fatalf("path %q of the states: %v", r.states.Path, err)
	}
	return path
}

// with returns an input with a value as the state.
func (r *trial) with(t *testing.T, value any) input {
	t.Helper()
	body, path := r.body(t), r.path(t)
	var at any = body
	for _, step := range path[:len(path)-1] {
		next, ok := step.Get(at)
		if object, isObject := at.(map[string]any); !ok && isObject {
			next = map[string]any{}
			object[step.Name] = next
		}
		at = next
	}
	object, ok := at.(map[string]any)
	if !ok {
		t.Fatalf("the path %s does not exist in %v: set Observed, or the body in Resources", r.states.Path, body)
	}
	object[path[len(path)-1].Name] = value
	return r.of(t, body)
}

// of returns an input with a body of the resource that has the property.
func (r *trial) of(t *testing.T, body map[string]any) input {
	t.Helper()
	desired := r.suite.Desired
	if desired == "" {
		desired = `{}`
	}
	in := input{resources: maps.Clone(r.suite.Resources)}
	in.request.Object = Object(t, r.suite.ID, desired, "")
	in.request.Object.Labels = maps.Clone(r.suite.Labels)
	in.request.Owner = &resource.Object{ID: r.owner(t), APIVersion: "2023-01-01", Observed: map[string]any{}}
	in.request.Owner.Managed = managedIn(r.suite.Managed, in.request.Owner.ID)
	switch {
	case r.states.Of != "":
		raw, err := json.Marshal(body)
		if err != nil {
			t.Fatal(err)
		}
		maps.DeleteFunc(in.resources, func(id, _ string) bool { return strings.EqualFold(id, r.states.Of) })
		in.resources[r.states.Of] = string(raw)
		observed := r.suite.Observed
		if observed == "" {
			observed = `{}`
		}
		own := Object(t, r.suite.ID, "", observed).Observed
		if r.point.readsOwner {
			in.request.Owner.Observed = own
		} else {
			in.request.Object.Observed = own
		}
	case r.point.readsOwner:
		in.request.Owner.Observed = body
	default:
		in.request.Object.Observed = body
	}
	in.request.Object, in.request.Owner = view().Own(in.request.Object), view().Other(in.request.Owner)
	return in
}
