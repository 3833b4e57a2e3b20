package rules

import (
	"context"
	"slices"
	"strings"

	"cel.dev/cel-go/common/ast"
	"cel.dev/cel-go/common/operators"

	"github.com/armature-io/armature/internal/expression"
	"github.com/armature-io/armature/internal/nearest"
	"github.com/armature-io/armature/types"
)

func noContext() context.Context { return context.Background() }

// comparisons warns of texts that are compared with == or in and that Azure writes in
// other letters: CEL compares them with their case.
func (l *lint) comparisons(p part, e expression.Expression, shapes map[string]string) {
	ast.PreOrderVisit(e.Tree().Expr(), ast.NewExprVisitor(func(node ast.Expr) {
		if node.Kind() != ast.CallKind {
			return
		}
		call := node.AsCall()
		args := call.Args()
		switch call.FunctionName() {
		case operators.Equals, operators.NotEquals:
			l.words(p, e, args[0], []ast.Expr{args[1]}, shapes)
			l.words(p, e, args[1], []ast.Expr{args[0]}, shapes)
		case operators.In:
			if args[1].Kind() == ast.ListKind {
				l.words(p, e, args[0], args[1].AsList().Elements(), shapes)
			}
		case "among":
			if args[1].Kind() == ast.ListKind {
				l.amongWords(p, e, args[0], args[1].AsList().Elements(), shapes)
			}
		}
	}))
}

// words warns of the literals with which a value is compared.
func (l *lint) words(p part, e expression.Expression, value ast.Expr, literals []ast.Expr, shapes map[string]string) {
	lowered := value.Kind() == ast.CallKind && slices.Contains([]string{"lower", "lowerAscii"}, value.AsCall().FunctionName())
	at, isPath := bodyPathOf(value, shapes)
	if !lowered && (!isPath || len(at.path) == 0 || at.malformed != nil) {
		return
	}
	for _, node := range literals {
		word, ok := "", false
		if node.Kind() == ast.LiteralKind {
			word, ok = node.AsLiteral().Value().(string)
		}
		switch {
		case !ok || word == "":
		case lowered:
			if word != strings.ToLower(word) {
				l.warnAt(p, e, node, "%s is in lower case and never %q; compare it with %q", e.Spelled(value), word, strings.ToLower(word))
			}
		default:
			l.word(p, e, node, e.Spelled(value), word, types.Words(shapes[at.variable], at.path))
		}
	}
}

// amongWords warns of misspelt literals that among compares, which ignores the case of letters.
func (l *lint) amongWords(p part, e expression.Expression, value ast.Expr, literals []ast.Expr, shapes map[string]string) {
	at, isPath := bodyPathOf(value, shapes)
	if !isPath || len(at.path) == 0 || at.malformed != nil {
		return
	}
	published := types.Words(shapes[at.variable], at.path)
	for _, node := range literals {
		word := ""
		if node.Kind() == ast.LiteralKind {
			word, _ = node.AsLiteral().Value().(string)
		}
		if match := types.NearWord(word, published); match != "" {
			l.warnAt(p, e, node, "%q is no published value of %s (did you mean %s?)", word, e.Spelled(value), match)
		}
	}
}

// word warns of one literal.
func (l *lint) word(p part, e expression.Expression, node ast.Expr, value, word string, published []string) {
	if slices.Contains(published, word) {
		return
	}
	for _, known := range published {
		if strings.EqualFold(known, word) {
			l.warnAt(p, e, node, "Azure writes %q, and == compares letters with their case; write among(%s, [%q]), which ignores it", known, value, known)
			return
		}
	}
	if match := nearest.Match(word, published); match != "" {
		l.warnAt(p, e, node, "%q is no published value of %s (did you mean %s?)", word, value, match)
	}
}
