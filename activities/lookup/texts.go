package lookup

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"cel.dev/cel-go/cel"

	"github.com/armature-io/armature/internal/expression"
	"github.com/armature-io/armature/internal/jsontree"
	"github.com/armature-io/armature/resource"
)

// filledText returns the text of a marker with the values that the resources of its refs
// show. A masked value is absent here: the PUT would write the mask.
func (r *Reader) filledText(ctx context.Context, text string, marker map[string]any) (any, error) {
	bodies := map[string]any{}
	ids := map[string]resource.ID{}
	references, _ := marker["refs"].(map[string]any)
	for _, name := range slices.Sorted(maps.Keys(references)) {
		reference, err := parseReference(references[name])
		if err != nil {
			return nil, fmt.Errorf("resolve $text: %w", err)
		}
		found, err := r.Resolve(ctx, reference)
		if err != nil {
			return nil, &UnresolvedError{ID: reference.ID, err: fmt.Errorf("resolve $text: %s: %w", reference.ID.Short(), err)}
		}
		bodies[name], ids[name] = withoutMasks(found.Object.Observed), reference.ID
	}
	env, err := expression.NewEnv(cel.Variable("ref", cel.DynType))
	if err != nil {
		return nil, fmt.Errorf("resolve $text: %w", err)
	}
	template, problems := expression.NewTemplate(env, text)
	if len(problems) > 0 {
		return nil, fmt.Errorf("resolve $text: %s", problems[0].Message)
	}
	filled, _, err := template.Fill(ctx, map[string]any{"ref": expression.Value(bodies)})
	if absent, ok := errors.AsType[*expression.AbsentError](err); ok {
		names, err := absent.Expression.Fields("ref")
		if err != nil || len(names) == 0 {
			return nil, fmt.Errorf("resolve $text: %w", absent)
		}
		return nil, &UnresolvedError{ID: ids[names[0]], err: fmt.Errorf("resolve $text: ${%s} has no value yet; a secret never has one here", absent.Expression.Text())}
	}
	if err != nil {
		return nil, fmt.Errorf("resolve $text: %w", err)
	}
	return filled, nil
}

// parseReference returns the resource of {"$ref": ID, "apiVersion": ...}.
func parseReference(value any) (resource.Reference, error) {
	marker, _ := value.(map[string]any)
	text, _ := marker[resource.RefMarker].(string)
	version, _ := marker["apiVersion"].(string)
	id, err := resource.ParseID(text)
	return resource.Reference{ID: id, APIVersion: version}, err
}

// withoutMasks returns a copy of a body without its masked values.
func withoutMasks(body any) any {
	return jsontree.Edit(body, func(_ string, value any) (any, jsontree.Next) {
		if resource.Masked(value) {
			return nil, jsontree.Omit
		}
		return value, jsontree.Inside
	})
}
