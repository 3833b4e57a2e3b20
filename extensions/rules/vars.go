package rules

import (
	"context"
	"fmt"
	"time"

	"cel.dev/cel-go/cel"
	"cel.dev/cel-go/common/types"

	"github.com/armature-io/armature/internal/expression"
	"github.com/armature-io/armature/resource"
)

// variable is a name with its type.
type variable struct {
	name string
	kind *cel.Type
}

// declared returns the variables of expressions at a point.
func declared(at point) []variable {
	if at == atError {
		return []variable{{"error", cel.DynType}, {"apiVersion", cel.StringType}}
	}
	found := []variable{
		{"owner", cel.DynType}, {"ownerID", cel.StringType}, {"ownerName", cel.StringType},
		{"now", cel.TimestampType}, {"forced", cel.BoolType},
	}
	if at == atOwner {
		return found
	}
	found = append(found, variable{"desired", cel.DynType}, variable{"observed", cel.DynType},
		variable{"id", cel.StringType}, variable{"name", cel.StringType}, variable{"labels", cel.DynType})
	if at == atPayload {
		found = append(found, variable{"payload", cel.DynType})
	}
	return found
}

// variables returns the names of the variables at a point.
func variables(at point) []string {
	var names []string
	for _, variable := range declared(at) {
		names = append(names, variable.name)
	}
	return names
}

// environment returns the language of expressions at a point, with a variable for each
// resource or list that the rule reads.
func environment(at point, reads []read) (*cel.Env, error) {
	var options []cel.EnvOption
	for _, variable := range declared(at) {
		options = append(options, cel.Variable(variable.name, variable.kind))
	}
	for _, other := range reads {
		kind := cel.DynType
		if other.isMany() {
			kind = cel.ListType(cel.DynType)
		}
		options = append(options, cel.Variable(other.name, kind))
	}
	return expression.NewEnv(options...)
}

// input is what a rule is evaluated for.
type input struct {
	obj, owner *resource.Object
	payload    map[string]any
	labels     map[string]string
	forced     bool
	now        time.Time
}

// bodyOf returns the observed body of a resource, null for none.
func bodyOf(object *resource.Object) any {
	if object == nil {
		return types.NullValue
	}
	return expression.Value(object.Observed)
}

// vars returns the variables of the rule's expressions.
func (r *rule) vars(in input) map[string]any {
	vars := map[string]any{"owner": bodyOf(in.owner), "ownerID": "", "ownerName": "", "now": in.now, "forced": in.forced}
	if in.owner != nil {
		vars["ownerID"], vars["ownerName"] = in.owner.ID.String(), in.owner.ID.Name()
	}
	if r.at != atOwner {
		vars["desired"], vars["observed"] = expression.Value(in.obj.Desired), bodyOf(in.obj)
		vars["id"], vars["name"] = in.obj.ID.String(), in.obj.ID.Name()
		labels := map[string]any{}
		for key, value := range in.labels {
			labels[key] = value
		}
		vars["labels"] = expression.Value(labels)
	}
	if r.at == atPayload {
		vars["payload"] = expression.Value(in.payload)
	}
	return vars
}

// applies reports whether the condition of the rule is true. A rule without one always
// applies.
func (r *rule) applies(ctx context.Context, vars map[string]any) (bool, error) {
	if r.when.IsZero() {
		return true, nil
	}
	value, err := r.when.Eval(ctx, vars)
	if err != nil {
		return false, fmt.Errorf("evaluate the condition: %w", err)
	}
	result, ok := value.(types.Bool)
	if !ok {
		return false, fmt.Errorf("the condition evaluates to %s, not to true or false", expression.Text(value))
	}
	return bool(result), nil
}

// evaluate reports whether the condition of a check is true, and returns the message if
// it is. A rule that only reads never applies.
func (r *rule) evaluate(ctx context.Context, vars map[string]any) (applies bool, message string, err error) {
	if r.when.IsZero() {
		return false, "", nil
	}
	if applies, err = r.applies(ctx, vars); err != nil || !applies {
		return false, "", err
	}
	if message, err = r.message.Render(ctx, vars); err != nil {
		return false, "", fmt.Errorf("fill in the message: %w", err)
	}
	return true, message, nil
}

// labelsOf returns the labels of a resource's manifest.
func labelsOf(obj *resource.Object) map[string]string { return obj.Labels }
