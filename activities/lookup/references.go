package lookup

import (
	"context"
	"fmt"
	"slices"

	"github.com/armature-io/armature/resource"
)

// ResolveReferences returns a body in which every {"$ref": ID, "path": ...} is
// replaced by the value that the resource shows, and every {"$text": ...} by the text with
// such values in it. It does not change its input, and
// returns it where it has no reference. The error is an [UnresolvedError] where the
// resource does not show the value.
func (r *Reader) ResolveReferences(ctx context.Context, body map[string]any) (map[string]any, error) {
	if !contains(body, isReference) {
		return body, nil
	}
	resolved, err := r.resolveIn(ctx, body)
	if err != nil {
		return nil, err
	}
	object, _ := resolved.(map[string]any)
	return object, nil
}

func (r *Reader) resolveIn(ctx context.Context, value any) (any, error) {
	var err error
	switch node := value.(type) {
	case map[string]any:
		if text, ok := node[resource.TextMarker].(string); ok {
			return r.filledText(ctx, text, node)
		}
		if isReference(node) {
			return r.referencedValue(ctx, node)
		}
		resolved := make(map[string]any, len(node))
		for name, child := range node {
			if resolved[name], err = r.resolveIn(ctx, child); err != nil {
				return nil, err
			}
		}
		return resolved, nil
	case []any:
		resolved := make([]any, len(node))
		for i, child := range node {
			if resolved[i], err = r.resolveIn(ctx, child); err != nil {
				return nil, err
			}
		}
		return resolved, nil
	}
	return value, nil
}

func isReference(value any) bool {
	object, _ := value.(map[string]any)
	_, reference := object[resource.RefMarker]
	_, text := object[resource.TextMarker].(string)
	return reference || text
}

// ContainsMask reports whether a value is a mask, or contains one.
func ContainsMask(value any) bool { return contains(value, resource.Masked) }

func contains(value any, match func(any) bool) bool {
	if match(value) {
		return true
	}
	switch node := value.(type) {
	case map[string]any:
		for _, child := range node {
			if contains(child, match) {
				return true
			}
		}
	case []any:
		return slices.ContainsFunc(node, func(child any) bool { return contains(child, match) })
	}
	return false
}

// referencedValue reads the value of one marker. It refuses a masked value: the PUT
// would write the mask.
func (r *Reader) referencedValue(ctx context.Context, marker map[string]any) (any, error) {
	text, _ := marker[resource.RefMarker].(string)
	path, _ := marker["path"].(string)
	apiVersion, _ := marker["apiVersion"].(string)
	id, err := resource.ParseID(text)
	if err != nil {
		return nil, fmt.Errorf("resolve $ref: %w", err)
	}
	found, err := r.Resolve(ctx, resource.Reference{ID: id, APIVersion: apiVersion})
	if err != nil {
		return nil, &UnresolvedError{ID: id, err: fmt.Errorf("resolve $ref to %s: %w", id.Short(), err)}
	}
	value, ok := found.Object.At(path)
	if !ok || value == nil {
		return nil, &UnresolvedError{ID: id, err: fmt.Errorf("resolve $ref: %s does not show %s yet", id.Short(), path)}
	}
	if ContainsMask(value) {
		return nil, &UnresolvedError{ID: id, err: fmt.Errorf("resolve $ref: %s of %s is a secret, which a manifest cannot read; use $secret", path, id.Short())}
	}
	return value, nil
}

// UnresolvedError is the error of a $ref to a value that the resource ID does not
// show.
type UnresolvedError struct {
	ID  resource.ID
	err error
}

func (e *UnresolvedError) Error() string { return e.err.Error() }

// Unwrap returns the cause.
func (e *UnresolvedError) Unwrap() error { return e.err }
