package expression

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"slices"
	"unicode/utf8"

	"cel.dev/cel-go/cel"
	"cel.dev/cel-go/common/types"
	"cel.dev/cel-go/common/types/ref"
)

// ActionVariable is the variable with the answer of the action of an export.
const ActionVariable = "action"

// exportVariables returns the variables of the text of an export: the members of a body
// that ARM defines for all types, and the answer of an action. "type" is a name of CEL.
func exportVariables() []string {
	return []string{
		ActionVariable, "id", "name", "location", "kind", "sku", "plan", "identity", "tags", "zones", "etag", "managedBy",
		"extendedLocation", "systemData", "properties",
	}
}

// UsesOther reports whether the expression of an export reads another variable.
func (e Expression) UsesOther(variable string) bool {
	return slices.ContainsFunc(exportVariables(), func(name string) bool { return name != variable && e.Uses(name) })
}

// NewExportText compiles the text of an export.
func NewExportText(text string) (Template, []Problem) {
	variables := []cel.EnvOption{
		// fromBase64(text): the text in base64, as credentials of clusters are listed.
		cel.Function("fromBase64", cel.Overload("fromBase64_dyn", []*cel.Type{cel.DynType}, cel.StringType, cel.UnaryBinding(fromBase64))),
	}
	for _, name := range exportVariables() {
		variables = append(variables, cel.Variable(name, cel.DynType))
	}
	env, err := NewEnv(variables...)
	if err != nil {
		return Template{}, []Problem{{Line: 1, Column: 1, Message: err.Error()}}
	}
	return NewTemplate(env, text)
}

// FillExport returns the text with values of a body and of the answer of an action. Its
// errors name the expression and contain no value: a failed conversion of CEL would show it.
func (t Template) FillExport(ctx context.Context, body, action map[string]any) (string, error) {
	values := map[string]any{}
	for _, name := range exportVariables() {
		values[name] = Value(body[name])
	}
	values[ActionVariable] = Value(map[string]any(action))
	for _, part := range t.expressions {
		value, err := part.Eval(ctx, values)
		switch {
		case err != nil:
			return "", fmt.Errorf("${%s} failed: a value that it reads is absent or of another kind", part.text)
		case IsNull(value):
			return "", &AbsentError{Expression: part}
		}
	}
	filled, _, err := t.Fill(ctx, values)
	switch {
	case errors.As(err, new(*AbsentError)):
		return "", err
	case err != nil:
		return "", errors.New("the text cannot be filled in: each ${} needs a text, a number or a boolean, and all of it must stay below 64 KB")
	}
	return filled, nil
}

// fromBase64 returns the text in base64. Its errors contain no value.
func fromBase64(value ref.Val) ref.Val {
	decoded, err := base64.StdEncoding.DecodeString(string(stringOf(value)))
	if err != nil || !utf8.Valid(decoded) {
		return types.NewErr("fromBase64 needs a text in base64")
	}
	return types.String(decoded)
}
