package expression

import (
	"math"
	"strings"

	"cel.dev/cel-go/cel"
	celfunctions "cel.dev/cel-go/common/functions"
	"cel.dev/cel-go/common/operators"
	"cel.dev/cel-go/common/types"
	"cel.dev/cel-go/common/types/ref"
	"cel.dev/cel-go/common/types/traits"
	"cel.dev/cel-go/interpreter"
)

// Bounds of one call. The library adds up the cost of a call after it, when its result
// is in memory, and takes lists that share their parts for small ones; so the calls
// whose work or result grows faster than their arguments are weighed before.
const (
	// maxAnswer bounds a text that a function makes, in bytes.
	maxAnswer = 64 << 10
	// maxItems bounds a list that a function makes.
	maxItems = 100_000
	// bytesPerCost is the work, in bytes or list items, that costs one unit. The
	// library counts the same for a traversal of a string.
	bytesPerCost = 10
	// maxWork bounds the work of one call, so that it ends before the limit of the
	// evaluation is looked at.
	maxWork = MaxCost * bytesPerCost
)

// effort is what a call takes: work in bytes or items, and the size of the text or list
// that it returns, 0 for one that is no longer than the arguments.
type effort struct{ work, text, items uint64 }

// weighed returns, by the name of a function, what a call of it takes. Functions that
// are not in the table take a time that does not depend on their arguments, or copy
// one argument at most.
func weighed() map[string]func(args []ref.Val) effort {
	whole := func(args []ref.Val) effort {
		work := weigh(maxWork+1, args...)
		return effort{work: work, text: work}
	}
	read := func(args []ref.Val) effort { return effort{work: weigh(maxWork+1, args...)} }
	product := func(args []ref.Val) effort {
		return effort{work: weigh(maxWork+1, args[0]) * max(1, weigh(maxWork+1, args[1:]...)) / bytesPerCost}
	}
	return map[string]func(args []ref.Val) effort{
		operators.Add:       sum,
		operators.Equals:    smaller,
		operators.NotEquals: smaller,
		operators.In:        contents,
		"among":             contents,
		"quote":             whole, "lower": whole, "inFlight": whole, "broken": whole,
		"format":        whole,
		"join":          joined,
		"replace":       replaced,
		"indexOf":       product,
		"lastIndexOf":   product,
		"matches":       product,
		"split":         read,
		"sum":           read,
		"strings.quote": whole,
		"upperAscii":    whole,
		"lowerAscii":    whole,
		"reverse":       whole,
		"string":        whole,
		"bytes":         whole,
	}
}

// weigh returns the size of values with all that is in them: bytes of texts, one for
// anything else. It stops at limit, because a list that contains itself twice at each of
// 40 levels has more than a trillion items.
func weigh(limit uint64, values ...ref.Val) uint64 {
	total := uint64(0)
	var add func(ref.Val)
	add = func(value ref.Val) {
		total++
		switch v := value.(type) {
		case types.String:
			total += uint64(len(v))
		case types.Bytes:
			total += uint64(len(v))
		case traits.Mapper:
			for it := v.Iterator(); total < limit && it.HasNext() == types.True; {
				key := it.Next()
				add(key)
				if member, found := v.Find(key); found {
					add(member)
				}
			}
		case traits.Lister:
			for it := v.Iterator(); total < limit && it.HasNext() == types.True; {
				add(it.Next())
			}
		}
	}
	for _, value := range values {
		if total < limit {
			add(value)
		}
	}
	return total
}

// sum returns the effort of an addition. Lists are joined without a copy.
func sum(args []ref.Val) effort {
	var e effort
	for _, arg := range args {
		switch v := arg.(type) {
		case types.String:
			e.text += uint64(len(v))
		case types.Bytes:
			e.text += uint64(len(v))
		case traits.Lister:
			size, _ := v.Size().(types.Int)
			e.items += uint64(max(0, size))
		}
	}
	e.work = e.text
	return e
}

// smaller returns the effort of a comparison, which ends with the smaller value.
func smaller(args []ref.Val) effort {
	work := uint64(math.MaxUint64)
	for _, arg := range args {
		if arg.Type() != types.ListType && arg.Type() != types.MapType {
			return effort{work: 1}
		}
	}
	for _, arg := range args {
		work = min(work, weigh(min(work, maxWork+1), arg))
	}
	return effort{work: work}
}

// contents returns the effort of a search in the last argument.
func contents(args []ref.Val) effort {
	list, ok := args[1].(traits.Lister)
	if !ok {
		return effort{work: 1}
	}
	return effort{work: weigh(maxWork+1, list)}
}

// joined returns the effort of list.join(separator).
func joined(args []ref.Val) effort {
	work := weigh(maxWork+1, args...)
	list, _ := args[0].(traits.Lister)
	if len(args) == 1 || list == nil {
		return effort{work: work, text: work}
	}
	size, _ := list.Size().(types.Int)
	return effort{work: work, text: work + uint64(max(0, size))*uint64(len(stringOf(args[1])))}
}

// replaced returns the effort of text.replace(old, new), whose result is counted.
func replaced(args []ref.Val) effort {
	text, old := string(stringOf(args[0])), string(stringOf(args[1]))
	copies := uint64(strings.Count(text, old))
	return effort{
		work: uint64(len(text)) * max(1, uint64(len(old))) / bytesPerCost,
		text: uint64(len(text)) + copies*uint64(len(stringOf(args[2]))),
	}
}

// boundedCall is a call whose effort is bounded before it is made.
type boundedCall struct {
	interpreter.InterpretableCall
	implementation *celfunctions.Overload
	effort         func(args []ref.Val) effort
}

// decorateBounds implements cel.CustomDecoratorV2 by boundedCall.
func decorateBounds(env *cel.Env) interpreter.InterpretableDecoratorV2 {
	table, declared := weighed(), env.Functions()
	return func(i interpreter.InterpretableV2) (interpreter.InterpretableV2, error) {
		call, ok := i.(interpreter.InterpretableCall)
		if !ok || table[call.Function()] == nil {
			return i, nil
		}
		bounded := boundedCall{InterpretableCall: call, effort: table[call.Function()]}
		switch call.Function() {
		case operators.Equals:
			bounded.implementation = &celfunctions.Overload{Binary: types.Equal}
		case operators.NotEquals:
			bounded.implementation = &celfunctions.Overload{Binary: func(a, b ref.Val) ref.Val {
				equal, ok := types.Equal(a, b).(types.Bool)
				return types.Bool(!ok || !bool(equal))
			}}
		default:
			overloads, err := declared[call.Function()].Bindings()
			if err != nil {
				return nil, err
			}
			for _, overload := range overloads {
				if overload.Operator == call.OverloadID() || overload.Operator == call.Function() && bounded.implementation == nil {
					bounded.implementation = overload
				}
			}
		}
		if bounded.implementation == nil {
			return i, nil
		}
		return bounded, nil
	}
}

// Eval implements interpreter.Interpretable.
func (b boundedCall) Eval(vars interpreter.Activation) ref.Val {
	return b.Exec(interpreter.AsFrame(vars))
}

// Exec implements interpreter.InterpretableV2.
func (b boundedCall) Exec(frame *interpreter.ExecutionFrame) ref.Val {
	values := make([]ref.Val, len(b.Args()))
	for i, arg := range b.Args() {
		if values[i] = arg.Exec(frame); types.IsUnknownOrError(values[i]) {
			return values[i]
		}
	}
	switch e := b.effort(values); {
	case e.work > maxWork:
		return types.NewErrWithNodeID(b.ID(), "%s: over the cost limit: it would read over %d bytes", b.name(), maxWork)
	case e.text > maxAnswer:
		return types.NewErrWithNodeID(b.ID(), "%s: over the cost limit: its answer would have over %d bytes", b.name(), maxAnswer)
	case e.items > maxItems:
		return types.NewErrWithNodeID(b.ID(), "%s: over the cost limit: its answer would have over %d items", b.name(), maxItems)
	}
	result := b.call(values)
	if text, ok := result.(types.String); ok && len(text) > maxAnswer {
		return types.NewErrWithNodeID(b.ID(), "%s: over the cost limit: its answer has over %d bytes", b.name(), maxAnswer)
	}
	return types.LabelErrNode(b.ID(), result)
}

// name returns the function as the author of a rule writes it.
func (b boundedCall) name() string { return strings.Trim(b.Function(), "_@") }

// call calls the implementation as the library does.
func (b boundedCall) call(args []ref.Val) ref.Val {
	do := b.implementation
	if do.OperandTrait != 0 && !args[0].Type().HasTrait(do.OperandTrait) {
		return types.NewErr("no such overload: %s", b.Function())
	}
	switch {
	case len(args) == 1 && do.Unary != nil:
		return do.Unary(args[0])
	case len(args) == 2 && do.Binary != nil:
		return do.Binary(args[0], args[1])
	case do.Function != nil:
		return do.Function(args...)
	}
	return types.NewErr("no such overload: %s", b.Function())
}

// costs counts what calls take by the size of their arguments.
type costs struct {
	table map[string]func(args []ref.Val) effort
}

// CallCost implements interpreter.ActualCostEstimator. It returns nil, for the library's
// own count, where the table has no row.
func (c costs) CallCost(function, _ string, args []ref.Val, _ ref.Val) *uint64 {
	count := c.table[function]
	if count == nil {
		return nil
	}
	for _, arg := range args {
		if types.IsUnknownOrError(arg) {
			return nil
		}
	}
	cost := 1 + count(args).work/bytesPerCost
	return &cost
}
