package expression

import (
	"regexp"

	"cel.dev/cel-go/cel"
	"cel.dev/cel-go/common/ast"
	"cel.dev/cel-go/common/operators"
	"cel.dev/cel-go/common/types"
	"cel.dev/cel-go/common/types/ref"
	"cel.dev/cel-go/interpreter"
)

// absentIsNull evaluates a selection of something absent to null: an absent field
// blocks nothing, at any depth, and a rule needs no chain of has().
type absentIsNull struct {
	interpreter.InterpretableAttribute
}

// decorateAbsent implements cel.CustomDecoratorV2 by absentIsNull.
func decorateAbsent(i interpreter.InterpretableV2) (interpreter.InterpretableV2, error) {
	if attribute, ok := i.(interpreter.InterpretableAttribute); ok {
		return absentIsNull{attribute}, nil
	}
	return i, nil
}

// Exec implements interpreter.InterpretableV2.
func (a absentIsNull) Exec(frame *interpreter.ExecutionFrame) ref.Val {
	return nullIfAbsent(a.InterpretableAttribute.Exec(frame))
}

// Eval implements interpreter.Interpretable.
func (a absentIsNull) Eval(vars interpreter.Activation) ref.Val {
	return nullIfAbsent(a.InterpretableAttribute.Eval(vars))
}

// absentTexts are the errors of cel-go that mean "absent". The library exports no
// type for them; TestExpressions covers each of them.
var absentTexts = regexp.MustCompile(`no such key|no such field|index out of bounds|unsupported index type 'null_type'|no such overload: null_type|cannot index`)

// nullIfAbsent returns null for an error that means "absent", else the value.
func nullIfAbsent(value ref.Val) ref.Val {
	if failed, ok := value.(*types.Err); ok && absentTexts.MatchString(failed.String()) {
		return types.NullValue
	}
	return value
}

// hasMacro returns a replacement of CEL's has(): since absent is null, it is a
// comparison.
func hasMacro() cel.Macro {
	return cel.GlobalMacro("has", 1, func(factory cel.MacroExprFactory, _ ast.Expr, args []ast.Expr) (ast.Expr, *cel.Error) {
		if args[0].Kind() != ast.SelectKind && args[0].Kind() != ast.CallKind {
			return nil, factory.NewError(args[0].ID(), "has() needs a selection such as observed.properties.state")
		}
		return factory.NewCall(operators.NotEquals, args[0], factory.NewLiteral(types.NullValue)), nil
	})
}
