package rules

import (
	"maps"
	"slices"
	"strings"

	"cel.dev/cel-go/common/ast"
	"cel.dev/cel-go/common/operators"

	"github.com/armature-io/armature/internal/expression"
	"github.com/armature-io/armature/types"
)

// eachPaths warns of paths of IDs that the type does not have, or at which it has no texts.
func (l *lint) eachPaths(r *rule, shapes map[string]string) {
	for _, other := range r.reads {
		if other.each.path == nil {
			continue
		}
		node, shape := r.parts[partIndex(r, "read "+other.name)].node, shapes[other.each.variable]
		switch missing := types.Missing(shape, other.each.path); {
		case missing != "":
			l.file.warn(node, "each: %s has no %s", shape, missing)
		case !mayBeText(shape, other.each.path):
			l.file.warn(node, "each: %s of %s is no text, and so no ID; name the property with the ID, such as %s.id", other.each.path, shape, other.each)
		}
	}
}

// wholeLists warns of a list that is read like the body of one resource.
func (l *lint) wholeLists(p part, e expression.Expression, lists map[string]string) {
	ast.PreOrderVisit(e.Tree().Expr(), ast.NewExprVisitor(func(node ast.Expr) {
		if node.Kind() != ast.CallKind || !slices.Contains([]string{"at", "text", "state", "number"}, node.AsCall().FunctionName()) {
			return
		}
		if list := node.AsCall().Args()[0]; list.Kind() == ast.IdentKind && isList(lists, list.AsIdent()) {
			name := list.AsIdent()
			l.warnAt(p, e, node, "%s is a list of resources and has no properties; ask one of them: %s.exists(x, %s(x) == ...)", name, name, node.AsCall().FunctionName())
		}
	}))
}

func isList(lists map[string]string, name string) bool {
	_, found := lists[name]
	return found
}

// withElements returns the shapes with those of the variables of loops over lists that the
// rule reads. A name with which loops over different types are written has none.
func withElements(e expression.Expression, shapes, lists map[string]string) map[string]string {
	if len(lists) == 0 {
		return shapes
	}
	loops := map[string][]string{}
	ast.PreOrderVisit(e.Tree().Expr(), ast.NewExprVisitor(func(node ast.Expr) {
		if node.Kind() == ast.ComprehensionKind {
			loop := node.AsComprehension()
			loops[loop.IterVar()] = append(loops[loop.IterVar()], elementType(loop.IterRange(), lists))
		}
	}))
	found := maps.Clone(shapes)
	for name, over := range loops {
		other := func(resourceType string) bool { return !strings.EqualFold(resourceType, over[0]) }
		if _, taken := shapes[name]; !taken && over[0] != "" && !slices.ContainsFunc(over, other) {
			found[name] = over[0]
		}
	}
	return found
}

// elementType returns the type of the resources over which a loop goes: those of a list, or of
// some of its elements.
func elementType(over ast.Expr, lists map[string]string) string {
	switch over.Kind() {
	case ast.IdentKind:
		return lists[over.AsIdent()]
	case ast.CallKind:
		if call := over.AsCall(); call.FunctionName() == "items" {
			return elementType(call.Args()[0], lists)
		}
	case ast.ComprehensionKind:
		if loop := over.AsComprehension(); isFilter(loop) {
			return elementType(loop.IterRange(), lists)
		}
	}
	return ""
}

// isFilter reports whether a loop is that of the macro filter: condition ? result + [element] :
// result.
func isFilter(loop ast.ComprehensionExpr) bool {
	step := loop.LoopStep()
	if step.Kind() != ast.CallKind || step.AsCall().FunctionName() != operators.Conditional {
		return false
	}
	added := step.AsCall().Args()[1]
	if added.Kind() != ast.CallKind || added.AsCall().FunctionName() != operators.Add {
		return false
	}
	list := added.AsCall().Args()[1]
	if list.Kind() != ast.ListKind || len(list.AsList().Elements()) != 1 {
		return false
	}
	element := list.AsList().Elements()[0]
	return element.Kind() == ast.IdentKind && element.AsIdent() == loop.IterVar()
}
