package expression

import (
	"regexp"
	"strings"

	"cel.dev/cel-go/common/ast"
	"cel.dev/cel-go/common/operators"
)

// Reference is the variable with the observed values of other resources.
const Reference = "ref"

// Read is a value below a field of a variable: of x.a.b[0].c, the field "a" and the steps
// "b", "", "c". A step of a list is "".
type Read struct {
	Field string
	Steps []string
}

// Reads returns the values that the expression reads below the fields of a variable, as
// far as the expression itself names their steps.
func (e Expression) Reads(variable string) []Read {
	var reads []Read
	for _, use := range ast.MatchDescendants(ast.NavigateAST(e.tree), isVariable(variable)) {
		var steps []string
		for node, found := use.Parent(); found; node, found = node.Parent() {
			step, ok := stepOf(node)
			if !ok {
				break
			}
			steps = append(steps, step)
		}
		if len(steps) > 1 {
			reads = append(reads, Read{Field: steps[0], Steps: steps[1:]})
		}
	}
	return reads
}

// stepOf returns the step that a node takes from its operand.
func stepOf(node ast.NavigableExpr) (string, bool) {
	switch {
	case node.Kind() == ast.SelectKind:
		return node.AsSelect().FieldName(), true
	case node.Kind() == ast.CallKind && node.AsCall().FunctionName() == operators.Index && node.AsCall().Args()[1].Kind() == ast.LiteralKind:
		name, _ := node.AsCall().Args()[1].AsLiteral().Value().(string)
		return name, true
	}
	return "", false
}

// dashedName is the name of a resource behind the variable of references that is no name of
// the language.
var dashedName = regexp.MustCompile(`^([0-9A-Za-z_]+(?:-[0-9A-Za-z_]+)+|[0-9][0-9A-Za-z_]*)[.\[]`)

// quoteNames writes names of resources that have dashes, or begin with a digit, as the
// language needs them: ref.my-sql.id becomes ref["my-sql"].id. A subtraction from a whole
// resource has no meaning, so nothing else can be meant.
func quoteNames(text string) string {
	var b strings.Builder
	quote := byte(0)
	for i := 0; i < len(text); i++ {
		c := text[i]
		b.WriteByte(c)
		switch {
		case quote != 0:
			if c == quote && text[i-1] != '\\' {
				quote = 0
			}
		case c == '"' || c == '\'':
			quote = c
		case c == '.' && isReference(text[:i]):
			if name := dashedName.FindStringSubmatch(text[i+1:]); name != nil {
				written := strings.TrimSuffix(b.String(), ".")
				b.Reset()
				b.WriteString(written + `["` + name[1] + `"]`)
				i += len(name[1])
			}
		}
	}
	return b.String()
}

// partOfName is the end of a text that continues in a name.
var partOfName = regexp.MustCompile(`[0-9A-Za-z_.\]]$`)

// isReference reports whether a text ends with the variable of references.
func isReference(text string) bool {
	before, found := strings.CutSuffix(text, Reference)
	return found && !partOfName.MatchString(before)
}
