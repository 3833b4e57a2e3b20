package expression

import (
	"fmt"
	"slices"

	"cel.dev/cel-go/common/ast"
	"cel.dev/cel-go/common/operators"
)

// Text returns the expression as it was written.
func (e Expression) Text() string { return e.text }

// Uses reports whether the expression reads a variable.
func (e Expression) Uses(variable string) bool {
	return len(ast.MatchDescendants(ast.NavigateAST(e.tree), isVariable(variable))) > 0
}

// Fields returns the fields of a variable that the expression reads, sorted: x.a and
// x["a"] read "a". It is an error if the variable is used otherwise, so that its fields
// are only known in an evaluation.
func (e Expression) Fields(variable string) ([]string, error) {
	var names []string
	for _, use := range ast.MatchDescendants(ast.NavigateAST(e.tree), isVariable(variable)) {
		parent, found := use.Parent()
		name := ""
		switch {
		case !found:
		case parent.Kind() == ast.SelectKind:
			name = parent.AsSelect().FieldName()
		case parent.Kind() == ast.CallKind && parent.AsCall().FunctionName() == operators.Index && parent.AsCall().Args()[1].Kind() == ast.LiteralKind:
			name, _ = parent.AsCall().Args()[1].AsLiteral().Value().(string)
		}
		if name == "" {
			return nil, fmt.Errorf("%s is only read by field: %s.name or %s[\"name\"]", variable, variable, variable)
		}
		names = append(names, name)
	}
	slices.Sort(names)
	return slices.Compact(names), nil
}

func isVariable(name string) ast.ExprMatcher {
	return func(e ast.NavigableExpr) bool { return e.Kind() == ast.IdentKind && e.AsIdent() == name }
}
