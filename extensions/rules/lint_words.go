package rules

import (
	"context"
	"slices"
	"strings"

	"cel.dev/cel-go/common/ast"
	"cel.dev/cel-go/common/operators"

	"github.com/armature-io/armature/internal/expression"
	"github.com/armature-io/armature/internal/nearest"
	"github.com/armature-io/armature/resource"
	"github.com/armature-io/armature/types"
)

func noContext() context.Context { return context.Background() }

// stateWords are the words of states in Azure's usual letters, for types that publish no
// values.
func stateWords() []string {
	return []string{
		"Succeeded", "Failed", "Canceled", "Accepted", "Creating", "Updating", "Deleting", "Running", "Starting", "Started", "Stopping", "Stopped",
		"Provisioning", "Ready", "Disabled", "Enabled", "Pending", "Approved", "Rejected", "Online", "Offline", "Paused", "Pausing", "Resuming", "Scaling",
	}
}

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
			l.word(p, e, node, e.Spelled(value), word, publishedWords(shapes[at.variable], at.path))
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

// publishedWords returns the published values of a text of a type, and for a state the
// usual words.
func publishedWords(resourceType string, path resource.Path) []string {
	var words []string
	for _, version := range types.Versions(resourceType) {
		shape := types.Lookup(resourceType, version)
		if shape == nil {
			continue
		}
		found, _ := shape.Find(path)
		for _, property := range found {
			values, _ := property.Type.Values()
			words = append(words, values...)
		}
	}
	last := strings.ToLower(path.LastName())
	if !strings.HasSuffix(last, "state") && !strings.HasSuffix(last, "status") {
		return words
	}
	// Azure returns usual words that a type does not publish, in the letters of the others.
	for _, usual := range stateWords() {
		if !slices.ContainsFunc(words, func(word string) bool { return strings.EqualFold(word, usual) }) {
			words = append(words, usual)
		}
	}
	return words
}
