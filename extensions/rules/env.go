package rules

import (
	"fmt"
	"strconv"
	"strings"

	"cel.dev/cel-go/cel"
	"cel.dev/cel-go/common/types"
	"cel.dev/cel-go/common/types/ref"
	"cel.dev/cel-go/common/types/traits"
	"cel.dev/cel-go/ext"

	"github.com/armature-io/armature/resource"
)

// costLimit bounds one evaluation in CEL's units: a condition over a body of some
// thousand properties takes a few thousand.
const costLimit = 200_000

// checkEvery is how many steps of a loop pass between two looks at the context.
const checkEvery = 100

// environment is what an expression may name at a point.
func environment(at point) (*cel.Env, error) {
	options := []cel.EnvOption{
		cel.ClearMacros(),
		cel.Macros(hasMacro(), cel.AllMacro, cel.ExistsMacro, cel.ExistsOneMacro, cel.MapMacro, cel.MapFilterMacro, cel.FilterMacro),
		ext.Strings(),
		cel.CustomTypeAdapter(adapter{}),
		cel.Variable("owner", cel.DynType), cel.Variable("ownerID", cel.StringType), cel.Variable("ownerName", cel.StringType),
		cel.Variable("now", cel.TimestampType), cel.Variable("forced", cel.BoolType),
	}
	if at != atOwner {
		options = append(options,
			cel.Variable("desired", cel.DynType), cel.Variable("observed", cel.DynType),
			cel.Variable("id", cel.StringType), cel.Variable("name", cel.StringType))
	}
	return cel.NewEnv(append(options, functions()...)...)
}

// functions are the helpers beside those of CEL.
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
		two("at", str, dyn, func(body, path ref.Val) ref.Val { return lookUp(body, path) }),
		// text(body, path): the text there, "" for anything else.
		two("text", str, str, func(body, path ref.Val) ref.Val { return textOf(lookUp(body, path)) }),
		// state(body): properties.provisioningState, "" where it is absent.
		one("state", str, func(body ref.Val) ref.Val { return textOf(lookUp(body, types.String("properties.provisioningState"))) }),
		// among(text, list): is it one of them, ignoring case?
		two("among", cel.ListType(str), cel.BoolType, among),
		// lower(text): in lower case, "" for anything else.
		one("lower", str, func(v ref.Val) ref.Val { return types.String(strings.ToLower(string(textOf(v)))) }),
		// inFlight(text), broken(text): what the word means as a provisioning state.
		one("inFlight", cel.BoolType, func(v ref.Val) ref.Val { return types.Bool(resource.InFlight(string(textOf(v)))) }),
		one("broken", cel.BoolType, func(v ref.Val) ref.Val { return types.Bool(resource.Broken(string(textOf(v)))) }),
		// quote(value): its text in double quotes, for messages.
		one("quote", str, func(v ref.Val) ref.Val { return types.String(strconv.Quote(shown(v))) }),
		// items(value): the list, [] for anything else.
		one("items", cel.ListType(dyn), func(v ref.Val) ref.Val {
			if list, ok := v.(traits.Lister); ok {
				return list
			}
			return types.NewDynamicList(adapter{}, []any{})
		}),
		// number(value, otherwise): the number, or the second one.
		cel.Function("number", cel.Overload("number_dyn_double", []*cel.Type{dyn, dyn}, cel.DoubleType, cel.BinaryBinding(number))),
	}
}

func lookUp(body, path ref.Val) ref.Val {
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

func textOf(value ref.Val) types.String {
	text, _ := value.(types.String)
	return text
}

func among(value, list ref.Val) ref.Val {
	words, ok := list.(traits.Lister)
	if !ok {
		return types.NewErr("among wants a list of texts")
	}
	for it := words.Iterator(); it.HasNext() == types.True; {
		if word := it.Next(); strings.EqualFold(string(textOf(word)), string(textOf(value))) {
			return types.True
		}
	}
	return types.False
}

func number(value, otherwise ref.Val) ref.Val {
	for _, candidate := range []ref.Val{value, otherwise} {
		switch v := candidate.(type) {
		case types.Int, types.Uint, types.Double:
			return v.ConvertToType(types.DoubleType)
		}
	}
	return types.NewErr("number wants a number to fall back to")
}

// expression is a compiled condition or a part of a message.
type expression struct {
	program cel.Program
	text    string
}

// problem is a fault in an expression, at a line and column of its text (from 1).
type problem struct {
	line, column int
	message      string
}

// compile checks the types of an expression and plans it. want is the type that
// it must have, nil for any.
func compile(env *cel.Env, text string, want *cel.Type) (expression, []problem) {
	checked, issues := env.Compile(text)
	if issues.Err() != nil {
		var problems []problem
		for _, issue := range issues.Errors() {
			problems = append(problems, problem{line: issue.Location.Line(), column: issue.Location.Column() + 1, message: issue.Message})
		}
		return expression{}, problems
	}
	if got := checked.OutputType(); want != nil && !got.IsExactType(want) && !got.IsExactType(cel.DynType) {
		return expression{}, []problem{{line: 1, column: 1, message: fmt.Sprintf("it gives %s, and %s is wanted", got, want)}}
	}
	program, err := env.Program(checked, cel.CostLimit(costLimit), cel.InterruptCheckFrequency(checkEvery), cel.CustomDecoratorV2(decorateLenient))
	if err != nil {
		return expression{}, []problem{{line: 1, column: 1, message: err.Error()}}
	}
	return expression{program: program, text: text}, nil
}
