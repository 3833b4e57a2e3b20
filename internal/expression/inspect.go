package expression

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"cel.dev/cel-go/cel"
	"cel.dev/cel-go/common/ast"
	"cel.dev/cel-go/common/operators"
	"cel.dev/cel-go/common/types"
	"cel.dev/cel-go/common/types/ref"
	"cel.dev/cel-go/common/types/traits"

	"github.com/armature-io/armature/internal/text"
)

// IsZero reports whether the expression was never compiled.
func (e Expression) IsZero() bool { return e.program == nil }

// Tree returns the checked form of the expression.
func (e Expression) Tree() *ast.AST { return e.tree }

// Position returns the line and column of a node within the text that was compiled,
// starting at 1. For a part of a template it is the template's text.
func (e Expression) Position(node ast.Expr) (line, column int) {
	before := 0
	for first := node; first != nil; {
		node, first = first, nil
		switch node.Kind() {
		case ast.SelectKind:
			first = node.AsSelect().Operand()
		case ast.CallKind:
			call := node.AsCall()
			if call.IsMemberFunction() {
				first = call.Target()
			} else if call.FunctionName() == operators.Index {
				first = call.Args()[0]
			} else if !strings.Contains(call.FunctionName(), "_") {
				before = len(call.FunctionName()) // the tree has the position of the bracket
			}
		}
	}
	start := e.tree.SourceInfo().GetStartLocation(node.ID())
	line, column = start.Line(), start.Column()+1-before
	if line == 1 {
		column += e.column
	}
	return line + e.line, column
}

// Spelled returns a node of the expression in a normal form.
func (e Expression) Spelled(node ast.Expr) string {
	text, err := cel.ExprToString(node, e.tree.SourceInfo())
	if err != nil {
		return e.text
	}
	return text
}

// Constant returns the value of an expression that has the same one for all values of its
// variables, and whether it is one.
func (e Expression) Constant() (ref.Val, bool) { return e.ConstantFor(nil) }

// ConstantFor is Constant for known values of some variables.
func (e Expression) ConstantFor(known map[string]any) (ref.Val, bool) {
	program, err := e.env.Program(e.checked, cel.EvalOptions(cel.OptPartialEval), cel.CostLimit(MaxCost), cel.CustomDecoratorV2(decorateAbsent))
	if err != nil {
		return nil, false
	}
	var unknown []*cel.AttributePatternType
	for _, variable := range e.env.Variables() {
		if _, isKnown := known[variable.Name()]; !isKnown {
			unknown = append(unknown, cel.AttributePattern(variable.Name()))
		}
	}
	if known == nil {
		known = map[string]any{}
	}
	vars, err := cel.PartialVars(known, unknown...)
	if err != nil {
		return nil, false
	}
	value, _, err := program.Eval(vars)
	return value, err == nil && value != nil && !types.IsUnknownOrError(value)
}

// maxSeenRunes bounds the text of one value in Seen.
const maxSeenRunes = 120

// Seen returns what the expression compares, with the values for some variables:
// `text(owner, "properties.state") is "Starting"`.
func (e Expression) Seen(ctx context.Context, variables map[string]any) []string {
	return e.Operands().Seen(ctx, variables)
}

// Operands are the parts of an expression whose values decide it, ready to evaluate.
type Operands []Expression

// Operands returns what the expression compares.
func (e Expression) Operands() Operands {
	var found Operands
	for _, node := range operands(e.tree.Expr()) {
		// A part with the variable of a loop does not compile by itself.
		if part, problems := Compile(e.env, e.Spelled(node), nil); len(problems) == 0 {
			found = append(found, part)
		}
	}
	return found
}

// Seen returns the values of the operands for some variables.
func (o Operands) Seen(ctx context.Context, variables map[string]any) []string {
	return o.lines(ctx, variables, func(value ref.Val, err error) string {
		if err != nil {
			return "an error: " + err.Error()
		}
		return shownValue(value)
	})
}

// Scalars is Seen without operands that are objects, lists or errors.
func (o Operands) Scalars(ctx context.Context, variables map[string]any) []string {
	return o.lines(ctx, variables, func(value ref.Val, err error) string {
		switch value.(type) {
		case nil, traits.Mapper, traits.Lister:
			return ""
		}
		if err != nil {
			return ""
		}
		return shownValue(value)
	})
}

// lines returns a line for each operand that show shows, each line once.
func (o Operands) lines(ctx context.Context, variables map[string]any, show func(ref.Val, error) string) []string {
	var seen []string
	for _, part := range o {
		shown := show(part.Eval(ctx, variables))
		if line := part.text + " is " + text.Cut(shown, maxSeenRunes); shown != "" && !slices.Contains(seen, line) {
			seen = append(seen, line)
		}
	}
	return seen
}

// shownValue returns a value for a line of Seen: a text in quotes.
func shownValue(value ref.Val) string {
	if value.Type() == types.StringType {
		return fmt.Sprintf("%q", Text(value))
	}
	return Text(value)
}

// operands returns the parts of an expression whose values decide it: what operators and
// functions are applied to, but a function that reads a body counts itself.
func operands(node ast.Expr) []ast.Expr {
	var found []ast.Expr
	below := func(nodes ...ast.Expr) {
		for _, node := range nodes {
			found = append(found, operands(node)...)
		}
	}
	switch node.Kind() {
	case ast.LiteralKind:
	case ast.CallKind:
		call := node.AsCall()
		if slices.Contains([]string{"at", "text", "state", "number", operators.Index}, call.FunctionName()) {
			return []ast.Expr{node}
		}
		if call.IsMemberFunction() {
			below(call.Target())
		}
		below(call.Args()...)
	case ast.ListKind:
		below(node.AsList().Elements()...)
	case ast.ComprehensionKind:
		below(node.AsComprehension().IterRange())
	default:
		return []ast.Expr{node}
	}
	return found
}

// Cost returns the units that an evaluation takes, at most limit, and whether it is more.
func (e Expression) Cost(ctx context.Context, variables map[string]any, limit uint64) (cost uint64, more bool) {
	program, err := e.env.Program(e.checked, cel.CostLimit(limit), cel.CostTracking(costs{weighed()}),
		cel.InterruptCheckFrequency(interruptCheckFrequency), cel.CustomDecoratorV2(decorateAbsent))
	if err != nil {
		return 0, false
	}
	_, details, err := program.ContextEval(ctx, variables)
	if err != nil || details == nil || details.ActualCost() == nil {
		return limit, true
	}
	return *details.ActualCost(), false
}

// IsNull reports whether a value is null.
func IsNull(value ref.Val) bool { return value == types.NullValue || value.Type() == types.NullType }

// Native returns a value as it would be decoded from JSON. It is an error for a value
// that JSON does not have, such as a time.
func Native(value ref.Val) (any, error) {
	switch v := value.(type) {
	case object:
		return v.members, nil
	case types.String, types.Bool, types.Int, types.Uint:
		return v.Value(), nil
	case types.Double:
		if f := float64(v); math.IsNaN(f) || math.IsInf(f, 0) {
			return nil, fmt.Errorf("%s has no form in JSON", Text(value))
		}
		return v.Value(), nil
	case types.Null:
		return nil, nil
	}
	switch v := value.(type) {
	case traits.Mapper:
		return nativeMap(v)
	case traits.Lister:
		return nativeList(v)
	}
	return nil, fmt.Errorf("a value of type %s has no form in JSON; convert it with string()", strings.TrimPrefix(value.Type().TypeName(), "google.protobuf."))
}

// nativeList is Native for a list.
func nativeList(items traits.Lister) (any, error) {
	list := []any{}
	for it := items.Iterator(); it.HasNext() == types.True; {
		item, err := Native(it.Next())
		if err != nil {
			return nil, err
		}
		list = append(list, item)
	}
	return list, nil
}

// nativeMap is Native for a map, whose keys become texts.
func nativeMap(members traits.Mapper) (any, error) {
	made := map[string]any{}
	for it := members.Iterator(); it.HasNext() == types.True; {
		key := it.Next()
		member, _ := members.Find(key)
		native, err := Native(member)
		if err != nil {
			return nil, err
		}
		made[Text(key)] = native
	}
	return made, nil
}
