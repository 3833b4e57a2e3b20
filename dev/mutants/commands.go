package main

import (
	"go/ast"
	"go/types"
)

// workflowPackage is the package of the SDK whose functions issue commands.
const workflowPackage = "go.temporal.io/sdk/workflow"

// effect is what a call does to the order of commands.
type effect int

// The effects of calls. A second wait, cancellation, or error for continue-as-new, directly after
// the first has none.
const (
	effectNone effect = iota
	effectWait
	effectCommand
)

// effects are the effects of the functions of workflowPackage.
var effects = map[string]effect{
	"ExecuteActivity": effectCommand, "ExecuteLocalActivity": effectCommand, "ExecuteChildWorkflow": effectCommand,
	"NewTimer": effectCommand, "NewTimerWithOptions": effectCommand, "Sleep": effectCommand,
	"AwaitWithTimeout": effectCommand, "AwaitWithOptions": effectCommand,
	"SideEffect": effectCommand, "SideEffectWithOptions": effectCommand, "MutableSideEffect": effectCommand,
	"GetVersion": effectCommand, "SignalExternalWorkflow": effectCommand, "RequestCancelExternalWorkflow": effectCommand,
	"UpsertSearchAttributes": effectCommand, "UpsertTypedSearchAttributes": effectCommand, "UpsertMemo": effectCommand,
	"Await": effectWait, "NewContinueAsNewError": effectWait, "NewContinueAsNewErrorWithOptions": effectWait,
}

// callGraph has the effect of each function of a package.
type callGraph struct {
	*source
	effects map[types.Object]effect
	// values are the functions of the package that are used as values: a dynamic call may be
	// one of each with its signature.
	values []*types.Func
	// cancels are the variables and fields that have a workflow.CancelFunc as another type.
	cancels map[types.Object]bool
}

func newCallGraph(s *source) *callGraph {
	g := &callGraph{source: s, effects: map[types.Object]effect{}, cancels: map[types.Object]bool{}}
	called := map[*ast.Ident]bool{}
	for _, file := range s.files {
		ast.Inspect(file, func(node ast.Node) bool {
			switch node := node.(type) {
			case *ast.CallExpr:
				called[calleeName(node)] = true
			case *ast.Ident:
				if f, ok := s.info.Uses[node].(*types.Func); ok && f.Pkg() == s.pkg && !called[node] {
					g.values = append(g.values, f)
				}
			case *ast.AssignStmt:
				g.noteCancels(node)
			}
			return true
		})
	}
	for changed := true; changed; {
		changed = false
		for _, file := range s.files {
			for _, declaration := range file.Decls {
				f, ok := declaration.(*ast.FuncDecl)
				if !ok || f.Body == nil {
					continue
				}
				object, reached := s.info.Defs[f.Name], g.of(f.Body)
				if reached > g.effects[object] {
					g.effects[object], changed = reached, true
				}
			}
		}
	}
	return g
}

// noteCancels notes the variables and fields to which an assignment gives a CancelFunc.
func (g *callGraph) noteCancels(assign *ast.AssignStmt) {
	if len(assign.Lhs) != len(assign.Rhs) {
		return
	}
	for i, value := range assign.Rhs {
		if !isCancelFunc(g.info.TypeOf(value)) {
			continue
		}
		switch to := assign.Lhs[i].(type) {
		case *ast.SelectorExpr:
			g.cancels[g.info.ObjectOf(to.Sel)] = true
		case *ast.Ident:
			g.cancels[g.info.ObjectOf(to)] = true
		}
	}
}

func isCancelFunc(t types.Type) bool {
	named, ok := types.Unalias(t).(*types.Named)
	return ok && named.Obj().Name() == "CancelFunc"
}

// of returns the largest effect of the calls in a node.
func (g *callGraph) of(node ast.Node) effect {
	largest := effectNone
	ast.Inspect(node, func(node ast.Node) bool {
		if call, ok := node.(*ast.CallExpr); ok {
			largest = max(largest, g.call(call))
		}
		return true
	})
	return largest
}

// call returns the effect of a call, without that of its arguments.
func (g *callGraph) call(call *ast.CallExpr) effect {
	if isCancelFunc(g.info.TypeOf(call.Fun)) {
		return effectWait
	}
	name := calleeName(call)
	if name == nil {
		return effectNone
	}
	switch object := g.info.Uses[name].(type) {
	case *types.Func:
		switch {
		case object.Pkg() == nil:
			return effectNone
		case object.Pkg().Path() == workflowPackage && object.Name() == "Go":
			return min(g.value(call.Args[1]), effectWait)
		case object.Pkg().Path() == workflowPackage:
			return effects[object.Name()]
		}
		return g.effects[object.Origin()]
	case *types.Var:
		if g.cancels[object] {
			return effectWait
		}
		return g.dynamic(object.Type())
	}
	return effectNone
}

// value returns the effect of a call of a function value.
func (g *callGraph) value(expr ast.Expr) effect {
	switch expr := expr.(type) {
	case *ast.FuncLit:
		return g.of(expr.Body)
	case *ast.SelectorExpr:
		return g.effects[g.info.Uses[expr.Sel]]
	case *ast.Ident:
		return g.effects[g.info.Uses[expr]]
	}
	return effectNone
}

// dynamic returns the effect of a call of a value with a signature that has parameters.
func (g *callGraph) dynamic(t types.Type) effect {
	signature, ok := t.Underlying().(*types.Signature)
	if !ok || signature.Params().Len() == 0 {
		return effectNone
	}
	largest := effectNone
	for _, f := range g.values {
		if types.Identical(withoutReceiver(f.Signature()), signature) {
			largest = max(largest, g.effects[f])
		}
	}
	return largest
}

func withoutReceiver(s *types.Signature) *types.Signature {
	return types.NewSignatureType(nil, nil, nil, s.Params(), s.Results(), s.Variadic())
}

// calleeName returns the name by which a call names its function, nil for other calls.
func calleeName(call *ast.CallExpr) *ast.Ident {
	fun := ast.Unparen(call.Fun)
	switch index := fun.(type) {
	case *ast.IndexExpr:
		fun = index.X
	case *ast.IndexListExpr:
		fun = index.X
	}
	switch fun := fun.(type) {
	case *ast.Ident:
		return fun
	case *ast.SelectorExpr:
		return fun.Sel
	}
	return nil
}
