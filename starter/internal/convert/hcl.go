package convert

import (
	"errors"
	"slices"
	"strings"

	"github.com/armature-io/armature/resource"
	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
)

// Bounds of a file of Terraform: the parser is recursive and has none.
const (
	maxHCLBytes     = 2 << 20
	maxHCLOperators = 500
)

// parseHCL returns the body of a file; nil after a fault.
func (c *conversion) parseHCL(data []byte) *hclsyntax.Body {
	if len(data) > maxHCLBytes {
		c.fault(0, "the file is larger than %d MiB; split it", maxHCLBytes>>20)
		return nil
	}
	if line, ok := boundedHCL(data); !ok {
		c.fault(line, "expressions are nested deeper than %d levels; flatten them", maxDepth)
		return nil
	}
	file, diagnostics := hclsyntax.ParseConfig(data, c.file, hcl.InitialPos)
	if diagnostics.HasErrors() {
		for _, d := range diagnostics.Errs() {
			line, text := diagnosis(d)
			c.fault(line, "it is not a configuration of Terraform: %s", text)
		}
		return nil
	}
	body, _ := file.Body.(*hclsyntax.Body)
	return body
}

// diagnosis returns the line and the text of an error of the library.
func diagnosis(err error) (int, string) {
	d, ok := errors.AsType[*hcl.Diagnostic](err)
	if !ok {
		return 0, err.Error()
	}
	line := 0
	if d.Subject != nil {
		line = d.Subject.Start.Line
	}
	return line, d.Summary + ": " + d.Detail
}

// openers and closers of nested expressions.
var (
	openers = []hclsyntax.TokenType{hclsyntax.TokenOBrace, hclsyntax.TokenOBrack, hclsyntax.TokenOParen, hclsyntax.TokenTemplateInterp, hclsyntax.TokenTemplateControl, hclsyntax.TokenOQuote, hclsyntax.TokenOHeredoc}
	closers = []hclsyntax.TokenType{hclsyntax.TokenCBrace, hclsyntax.TokenCBrack, hclsyntax.TokenCParen, hclsyntax.TokenTemplateSeqEnd, hclsyntax.TokenCQuote, hclsyntax.TokenCHeredoc}
	chained = []hclsyntax.TokenType{
		hclsyntax.TokenQuestion, hclsyntax.TokenBang, hclsyntax.TokenMinus, hclsyntax.TokenPlus, hclsyntax.TokenStar, hclsyntax.TokenSlash, hclsyntax.TokenPercent,
		hclsyntax.TokenAnd, hclsyntax.TokenOr, hclsyntax.TokenEqualOp, hclsyntax.TokenNotEqual, hclsyntax.TokenLessThan, hclsyntax.TokenLessThanEq,
		hclsyntax.TokenGreaterThan, hclsyntax.TokenGreaterThanEq, hclsyntax.TokenTemplateInterp, hclsyntax.TokenTemplateControl, hclsyntax.TokenDot, hclsyntax.TokenOBrack,
	}
)

// boundedHCL reports whether the nesting of a file, and the number of operators of each
// expression, are bounded; else the line that is too deep. The library would otherwise
// recurse as deep as the file is long.
func boundedHCL(data []byte) (line int, ok bool) {
	tokens, _ := hclsyntax.LexConfig(data, "", hcl.InitialPos)
	depth := 0
	// operators has the number of operators in the expression of each level.
	operators := []int{0}
	for _, token := range tokens {
		switch {
		case slices.Contains(closers, token.Type):
			depth = max(0, depth-1)
			operators = operators[:depth+1]
		case token.Type == hclsyntax.TokenNewline, token.Type == hclsyntax.TokenComma:
			operators[depth] = 0
		}
		if slices.Contains(chained, token.Type) {
			operators[depth]++
		}
		if slices.Contains(openers, token.Type) {
			depth++
			operators = append(operators, 0)
		}
		if depth > maxDepth || operators[depth] > maxHCLOperators || depth > 0 && operators[depth-1] > maxHCLOperators {
			return token.Range.Start.Line, false
		}
	}
	return 0, true
}

// shown returns an expression as it is written, on one line, cut, and without credentials.
func (m *module) shown(expression hclsyntax.Node) string {
	written := expression.Range()
	data := m.data[written.Filename]
	if written.End.Byte > len(data) || written.Start.Byte > written.End.Byte {
		return "the expression"
	}
	text := resource.ReplaceCredentials(strings.Join(strings.Fields(string(data[written.Start.Byte:written.End.Byte])), " "), "...")
	if runes := []rune(text); len(runes) > 80 {
		text = string(runes[:77]) + "..."
	}
	return text
}
