package expression

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"cel.dev/cel-go/cel"
	"cel.dev/cel-go/common/ast"
	"cel.dev/cel-go/common/types"
	"cel.dev/cel-go/common/types/ref"
	"cel.dev/cel-go/common/types/traits"
	"cel.dev/cel-go/ext"

	"github.com/armature-io/armature/resource"
)

// MaxCost bounds one evaluation in CEL's units. A condition on a body of some
// thousand properties costs a few thousand.
const MaxCost = 200_000

// interruptCheckFrequency is the number of loop steps between two checks of the
// context.
const interruptCheckFrequency = 100

// NewEnv returns the language of expressions with variables.
func NewEnv(variables ...cel.EnvOption) (*cel.Env, error) {
	options := []cel.EnvOption{
		cel.ClearMacros(),
		cel.Macros(hasMacro(), cel.AllMacro, cel.ExistsMacro, cel.ExistsOneMacro, cel.MapMacro, cel.MapFilterMacro, cel.FilterMacro),
		ext.Strings(),
		cel.CustomTypeAdapter(adapter{}),
	}
	return cel.NewEnv(slices.Concat(options, functions(), variables)...)
}

// functions returns the functions that Armature adds to CEL.
func functions() []cel.EnvOption {
	dyn, str := cel.DynType, cel.StringType
	one := func(name string, result *cel.Type, do func(ref.Val) ref.Val) cel.EnvOption {
		return cel.Function(name, cel.Overload(name+"_dyn", []*cel.Type{dyn}, result, cel.UnaryBinding(do)))
	}
	two := func(name string, second, result *cel.Type, do func(a, b ref.Val) ref.Val) cel.EnvOption {
		return cel.Function(name, cel.Overload(name+"_dyn_"+second.String(), []*cel.Type{dyn, second}, result, cel.BinaryBinding(do)))
	}
	return []cel.EnvOption{
		// at(body, path): the value at a path such as list[name=x].c, or null.
		two("at", str, dyn, func(body, path ref.Val) ref.Val { return valueAt(body, path) }),
		// text(body, path): the text there, "" for anything else.
		two("text", str, str, func(body, path ref.Val) ref.Val { return stringOf(valueAt(body, path)) }),
		// state(body): properties.provisioningState, "" where it is absent.
		one("state", str, func(body ref.Val) ref.Val {
			return stringOf(valueAt(body, types.String("properties.provisioningState")))
		}),
		// among(text, list): whether it is one of them, ignoring case.
		two("among", cel.ListType(str), cel.BoolType, equalFoldAny),
		// lower(text): in lower case, "" for anything else.
		one("lower", str, func(v ref.Val) ref.Val { return types.String(strings.ToLower(string(stringOf(v)))) }),
		// inFlight(text), broken(text): the meaning of a provisioning state.
		one("inFlight", cel.BoolType, func(v ref.Val) ref.Val { return types.Bool(resource.InFlight(string(stringOf(v)))) }),
		one("broken", cel.BoolType, func(v ref.Val) ref.Val { return types.Bool(resource.Broken(string(stringOf(v)))) }),
		// quote(value): its text in double quotes, for messages.
		one("quote", str, func(v ref.Val) ref.Val { return types.String(strconv.Quote(Text(v))) }),
		// items(value): the list, [] for anything else.
		one("items", cel.ListType(dyn), func(v ref.Val) ref.Val {
			if list, ok := v.(traits.Lister); ok {
				return list
			}
			return types.NewDynamicList(adapter{}, []any{})
		}),
		// sum(list): the sum of the numbers in it; other values count nothing.
		one("sum", cel.DoubleType, sumOf),
		// number(value, otherwise): the number, or the second one.
		cel.Function("number", cel.Overload("number_dyn_double", []*cel.Type{dyn, dyn}, cel.DoubleType, cel.BinaryBinding(number))),
	}
}

// valueAt returns the value at a path of a body, null where it is absent.
func valueAt(body, path ref.Val) ref.Val {
	members, ok := body.(object)
	if !ok {
		return types.NullValue
	}
	text, _ := path.(types.String)
	parsed, err := resource.ParsePath(string(text))
	if err != nil {
		return types.NewErr("%s", err)
	}
	found, _ := parsed.Get(members.members)
	return adapter{}.NativeToValue(found)
}

// stringOf returns a string, "" for a value of another kind.
func stringOf(value ref.Val) types.String {
	text, _ := value.(types.String)
	return text
}

// equalFoldAny returns whether a string is in a list, ignoring case.
func equalFoldAny(value, list ref.Val) ref.Val {
	others, ok := list.(traits.Lister)
	if !ok {
		return types.NewErr("among needs a list of strings")
	}
	for it := others.Iterator(); it.HasNext() == types.True; {
		if other := it.Next(); strings.EqualFold(string(stringOf(other)), string(stringOf(value))) {
			return types.True
		}
	}
	return types.False
}

// sumOf returns the sum of the numbers in a list, 0 for anything else.
func sumOf(value ref.Val) ref.Val {
	total := types.Double(0)
	list, ok := value.(traits.Lister)
	if !ok {
		return total
	}
	for it := list.Iterator(); it.HasNext() == types.True; {
		if n, isNumber := number(it.Next(), types.Double(0)).(types.Double); isNumber {
			total += n
		}
	}
	return total
}

// number returns the first of two values that is a number.
func number(value, otherwise ref.Val) ref.Val {
	for _, candidate := range []ref.Val{value, otherwise} {
		switch v := candidate.(type) {
		case types.Int, types.Uint, types.Double:
			return v.ConvertToType(types.DoubleType)
		}
	}
	return types.NewErr("number needs a number as its second argument")
}

// Expression is a compiled condition or a part of a message.
type Expression struct {
	program cel.Program
	text    string
	tree    *ast.AST
	// env and checked are what the program was made of.
	env     *cel.Env
	checked *cel.Ast
	// line and column are the start of the expression in the text of a template, from 0.
	line, column int
}

// Eval returns the value of the expression.
func (e Expression) Eval(ctx context.Context, variables map[string]any) (ref.Val, error) {
	value, _, err := e.program.ContextEval(ctx, variables)
	return value, withLimit(err)
}

// Problem is an error at a line and column of an expression, starting at 1.
type Problem struct {
	Line, Column int
	Message      string
}

// Compile returns an expression that is type-checked and ready to evaluate. want is
// the type that it must have, nil for any.
func Compile(env *cel.Env, text string, want *cel.Type) (Expression, []Problem) {
	checked, issues := env.Compile(text)
	if issues.Err() != nil {
		var problems []Problem
		for _, issue := range issues.Errors() {
			problems = append(problems, Problem{Line: issue.Location.Line(), Column: issue.Location.Column() + 1, Message: issue.Message + hint(env, issue.Message)})
		}
		return Expression{}, problems
	}
	if got := checked.OutputType(); want != nil && !got.IsExactType(want) && !got.IsExactType(cel.DynType) {
		return Expression{}, []Problem{{Line: 1, Column: 1, Message: fmt.Sprintf("the expression has type %s, want %s", got, want)}}
	}
	program, err := env.Program(checked, cel.CostLimit(MaxCost), cel.CostTracking(costs{weighed()}),
		cel.InterruptCheckFrequency(interruptCheckFrequency), cel.CustomDecoratorV2(decorateAbsent), cel.CustomDecoratorV2(decorateBounds(env)))
	if err != nil {
		return Expression{}, []Problem{{Line: 1, Column: 1, Message: err.Error()}}
	}
	return Expression{program: program, text: text, tree: checked.NativeRep(), env: env, checked: checked}, nil
}
