package extensions

import (
	"context"
	"log/slog"
	"strings"

	"github.com/armature-io/armature/drift"
	"github.com/armature-io/armature/resource"
)

// keepChildren is the modifier of the types whose PUT deletes the children that
// its body does not list: it lists those that Azure shows and the body does not
// name, so that a PUT of the parent never deletes a child. A child that goes
// away itself is left out. obj is what a GET shows now, unmasked.
func keepChildren(
	ctx context.Context,
	path string,
	payload map[string]any,
	obj *resource.Object,
	owner *resource.Object,
	resolver Resolver,
	client ARMClient,
	log *slog.Logger,
	next ARMResourceModifierFunc,
) (map[string]any, error) {
	value, _ := obj.At(path)
	shown, _ := value.([]any)
	if len(shown) == 0 {
		return next(ctx, payload, obj, owner, resolver, client, log)
	}
	parsed, err := resource.ParsePath(path)
	if err != nil {
		return nil, err
	}
	held, _ := parsed.Get(payload)
	stated, isList := held.([]any)
	if held != nil && !isList {
		return next(ctx, payload, obj, owner, resolver, client, log) // for ARM to refuse
	}
	// A copy: the parsed path leads into obj, which stays as it is.
	kept := append([]any{}, stated...)
	for _, child := range shown {
		object, _ := child.(map[string]any)
		name, _ := object["name"].(string)
		if name == "" || named(stated, name) || leaving(object) {
			continue
		}
		kept = append(kept, drift.Clone(object))
	}
	set(payload, parsed, kept)
	return next(ctx, payload, obj, owner, resolver, client, log)
}

// named reports whether a list has an item of a name; ARM's names ignore case.
func named(list []any, name string) bool {
	for _, item := range list {
		object, _ := item.(map[string]any)
		if text, _ := object["name"].(string); strings.EqualFold(text, name) {
			return true
		}
	}
	return false
}

// leaving reports whether a child is being deleted.
func leaving(child map[string]any) bool {
	properties, _ := child["properties"].(map[string]any)
	state, _ := properties["provisioningState"].(string)
	return strings.EqualFold(state, "Deleting")
}

// set writes a value at a path of properties, making the objects on the way.
func set(body map[string]any, path resource.Path, value any) {
	at := body
	for _, step := range path[:len(path)-1] {
		found, _ := step.Get(at)
		next, ok := found.(map[string]any)
		if !ok {
			next = map[string]any{}
			at[spelt(at, step.Name)] = next
		}
		at = next
	}
	at[spelt(at, path[len(path)-1].Name)] = value
}

// spelt is the property's name as the body spells it.
func spelt(body map[string]any, name string) string {
	for known := range body {
		if strings.EqualFold(known, name) {
			return known
		}
	}
	return name
}
