package activities

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/armature-io/armature/resource"
)

// resolveReferences replaces every {"$ref": ID, "path": ...} of a body by the
// value that the resource shows; the input is not changed, and is the answer where
// it has none.
func (r *ownerReader) resolveReferences(ctx context.Context, body map[string]any) (map[string]any, error) {
	if !holdsReference(body) {
		return body, nil
	}
	resolved, err := r.resolveIn(ctx, body)
	if err != nil {
		return nil, err
	}
	object, _ := resolved.(map[string]any)
	return object, nil
}

func (r *ownerReader) resolveIn(ctx context.Context, value any) (any, error) {
	switch at := value.(type) {
	case map[string]any:
		if _, marker := at[resource.RefMarker]; marker {
			return r.valueOf(ctx, at)
		}
		copied := make(map[string]any, len(at))
		for name, child := range at {
			resolved, err := r.resolveIn(ctx, child)
			if err != nil {
				return nil, err
			}
			copied[name] = resolved
		}
		return copied, nil
	case []any:
		copied := make([]any, len(at))
		for i, child := range at {
			resolved, err := r.resolveIn(ctx, child)
			if err != nil {
				return nil, err
			}
			copied[i] = resolved
		}
		return copied, nil
	}
	return value, nil
}

// holdsReference reports whether a marker is anywhere in a value.
func holdsReference(value any) bool {
	return anywhere(value, func(at any) bool {
		object, _ := at.(map[string]any)
		_, marker := object[resource.RefMarker]
		return marker
	})
}

// holdsMask reports whether a mask is anywhere in a value.
func holdsMask(value any) bool { return anywhere(value, resource.Masked) }

// anywhere reports whether a value, or one that it holds, is what is looked for.
func anywhere(value any, is func(any) bool) bool {
	if is(value) {
		return true
	}
	switch at := value.(type) {
	case map[string]any:
		for _, child := range at {
			if anywhere(child, is) {
				return true
			}
		}
	case []any:
		return slices.ContainsFunc(at, func(child any) bool { return anywhere(child, is) })
	}
	return false
}

// valueOf reads the value that one marker names. A masked value is refused: it
// would be written as its mask.
func (r *ownerReader) valueOf(ctx context.Context, marker map[string]any) (any, error) {
	text, _ := marker[resource.RefMarker].(string)
	path, _ := marker["path"].(string)
	apiVersion, _ := marker["apiVersion"].(string)
	id, err := resource.ParseID(text)
	if err != nil {
		return nil, fmt.Errorf("resolve $ref: %w", err)
	}
	found, err := r.Resolve(ctx, resource.Reference{ID: id, APIVersion: apiVersion})
	if err != nil {
		return nil, &unresolved{id: id, err: fmt.Errorf("resolve $ref to %s: %w", id.Short(), err)}
	}
	value, ok := found.Object.At(path)
	if !ok || value == nil {
		return nil, &unresolved{id: id, err: fmt.Errorf("resolve $ref: %s does not show %s yet", id.Short(), path)}
	}
	if holdsMask(value) {
		return nil, &unresolved{id: id, err: fmt.Errorf("resolve $ref: %s of %s is a secret, which a manifest cannot read; use $secret", path, id.Short())}
	}
	return value, nil
}

// unresolved is the error of a $ref whose value cannot be had from a resource.
type unresolved struct {
	id  resource.ID
	err error
}

func (e *unresolved) Error() string { return e.err.Error() }
func (e *unresolved) Unwrap() error { return e.err }

// refVerdict blocks for a $ref, and names the resource whose change lifts it.
func refVerdict(err error) resource.Verdict {
	verdict := resource.Block(resource.ReasonReferenceNotReady, err.Error())
	var missing *unresolved
	if errors.As(err, &missing) {
		verdict.WaitingFor = []resource.ID{missing.id}
	}
	return verdict
}
