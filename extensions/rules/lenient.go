package rules

import (
	"strings"

	"cel.dev/cel-go/cel"
	"cel.dev/cel-go/common/ast"
	"cel.dev/cel-go/common/operators"
	"cel.dev/cel-go/common/types"
	"cel.dev/cel-go/common/types/ref"
	"cel.dev/cel-go/interpreter"
)

// absentIsNull makes a selection from what is not there null: a field that is
// absent blocks nothing, at any depth, and a rule needs no ladder of has().
type absentIsNull struct {
	interpreter.InterpretableAttribute
}

// decorateLenient is for cel.CustomDecoratorV2.
func decorateLenient(i interpreter.InterpretableV2) (interpreter.InterpretableV2, error) {
	if attribute, ok := i.(interpreter.InterpretableAttribute); ok {
		return absentIsNull{attribute}, nil
	}
	return i, nil
}

// Exec implements interpreter.InterpretableV2.
func (a absentIsNull) Exec(frame *interpreter.ExecutionFrame) ref.Val {
	return nullFor(a.InterpretableAttribute.Exec(frame))
}

// Eval implements interpreter.Interpretable.
func (a absentIsNull) Eval(vars interpreter.Activation) ref.Val {
	return nullFor(a.InterpretableAttribute.Eval(vars))
}

// nullFor keeps every error but "it is not there". The library has no type for
// it that others see.
func nullFor(value ref.Val) ref.Val {
	failed, ok := value.(*types.Err)
	if !ok {
		return value
	}
	text := failed.String()
	for _, absent := range []string{"no such key", "no such field", "index out of bounds", "unsupported index type 'null_type'", "no such overload: null_type", "cannot index"} {
		if strings.Contains(text, absent) {
			return types.NullValue
		}
	}
	return value
}

// hasMacro replaces CEL's has(): with absent as null it is a comparison.
func hasMacro() cel.Macro {
	return cel.GlobalMacro("has", 1, func(factory cel.MacroExprFactory, _ ast.Expr, args []ast.Expr) (ast.Expr, *cel.Error) {
		if args[0].Kind() != ast.SelectKind && args[0].Kind() != ast.CallKind {
			return nil, factory.NewError(args[0].ID(), "has() wants a selection such as observed.properties.state")
		}
		return factory.NewCall(operators.NotEquals, args[0], factory.NewLiteral(types.NullValue)), nil
	})
}
