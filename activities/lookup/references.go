package lookup

import (
	"context"
	"fmt"

	"github.com/armature-io/armature/internal/jsontree"
	"github.com/armature-io/armature/resource"
)

// ResolveReferences returns a body in which every {"$ref": ID, "path": ...} is
// replaced by the value that the resource shows, and every {"$text": ...} by the text with
// such values in it. It does not change its input, and
// returns it where it has no reference. The error is an [UnresolvedError] where the
// resource does not show the value.
func (r *Reader) ResolveReferences(ctx context.Context, body map[string]any) (map[string]any, error) {
	if !jsontree.Contains(body, isReference) {
		return body, nil
	}
	resolved, err := r.resolveIn(ctx, body)
	if err != nil {
		return nil, err
	}
	object, _ := resolved.(map[string]any)
	return object, nil
}

func (r *Reader) resolveIn(ctx context.Context, body map[string]any) (any, error) {
	var failure error
	resolved := jsontree.Edit(body, func(_ string, value any) (any, jsontree.Next) {
		node, _ := value.(map[string]any)
		if failure != nil || !isReference(node) {
			return value, jsontree.Inside
		}
		if text, isText := node[resource.TextMarker].(string); isText {
			value, failure = r.filledText(ctx, text, node)
		} else {
			value, failure = r.referencedValue(ctx, node)
		}
		return value, jsontree.Done
	})
	return resolved, failure
}

func isReference(value any) bool {
	object, _ := value.(map[string]any)
	_, reference := object[resource.RefMarker]
	_, text := object[resource.TextMarker].(string)
	return reference || text
}

// ContainsMask reports whether a value is a mask, or contains one.
func ContainsMask(value any) bool { return jsontree.Contains(value, resource.Masked) }

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
