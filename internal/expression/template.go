package expression

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"cel.dev/cel-go/cel"
	"cel.dev/cel-go/common/types"
)

// Template is a message with expressions in it: Parent ${ownerName} is gone.
type Template struct {
	// texts and expressions alternate; a text is first and last.
	texts       []string
	expressions []Expression
}

// NewTemplate compiles a message. Names of resources behind ref may have dashes. The positions of problems are within it.
func NewTemplate(env *cel.Env, text string) (Template, []Problem) {
	var t Template
	var problems []Problem
	rest, offset := text, 0
	for {
		start := strings.Index(rest, "${")
		if start < 0 {
			break
		}
		end := closing(rest[start+2:])
		if end < 0 {
			return t, append(problems, Problem{Line: 1, Column: offset + start + 1, Message: "${ is not closed by }"})
		}
		t.texts = append(t.texts, rest[:start])
		inside := quoteNames(rest[start+2 : start+2+end])
		compiled, found := Compile(env, inside, nil)
		for _, p := range found {
			line, column := offsetPosition(text, offset+start+2)
			if p.Line == 1 {
				p.Column += column
			}
			p.Line += line
			problems = append(problems, p)
		}
		compiled.line, compiled.column = offsetPosition(text, offset+start+2)
		t.expressions = append(t.expressions, compiled)
		offset += start + 2 + end + 1
		rest = rest[start+2+end+1:]
	}
	t.texts = append(t.texts, rest)
	return t, problems
}

// offsetPosition returns the number of lines, and of columns in the last one, before
// an offset.
func offsetPosition(text string, offset int) (line, column int) {
	before := text[:offset]
	return strings.Count(before, "\n"), len(before) - strings.LastIndex(before, "\n") - 1
}

// closing returns the index of the } that ends an expression, -1 for none. It skips
// nested braces and strings.
func closing(text string) int {
	depth, quote := 0, byte(0)
	for i := range len(text) {
		switch c := text[i]; {
		case quote != 0:
			if c == quote && text[i-1] != '\\' {
				quote = 0
			}
		case c == '"' || c == '\'':
			quote = c
		case c == '{':
			depth++
		case c == '}' && depth == 0:
			return i
		case c == '}':
			depth--
		}
	}
	return -1
}

// Render returns the message with the values of its expressions. It is an error if the
// message has more than [maxAnswer] bytes.
func (t Template) Render(ctx context.Context, vars map[string]any) (string, error) {
	var b strings.Builder
	for i, compiled := range t.expressions {
		b.WriteString(t.texts[i])
		value, err := compiled.Eval(ctx, vars)
		if err != nil {
			return "", err
		}
		b.WriteString(Text(value))
		if b.Len() > maxAnswer {
			return "", fmt.Errorf("the message is over the limit of %d bytes", maxAnswer)
		}
	}
	b.WriteString(t.texts[len(t.texts)-1])
	return b.String(), nil
}

// Expressions returns the expressions of the text, in its order.
func (t Template) Expressions() []Expression { return t.expressions }

// Fill returns the text with the values of its expressions, and whether some are left:
// an expression that reads one of the variables in keep stays as it is. A value is a text,
// a number or a boolean; any other is an error that names the expression.
func (t Template) Fill(ctx context.Context, variables map[string]any, keep ...string) (text string, left bool, err error) {
	left = slices.ContainsFunc(t.expressions, func(e Expression) bool { return slices.ContainsFunc(keep, e.Uses) })
	var b strings.Builder
	for i, part := range t.expressions {
		b.WriteString(t.texts[i])
		if slices.ContainsFunc(keep, part.Uses) {
			b.WriteString("${" + part.text + "}")
			continue
		}
		value, err := part.Eval(ctx, variables)
		if err != nil {
			return "", false, fmt.Errorf("${%s}: %w", part.text, err)
		}
		switch value.(type) {
		case types.String, types.Int, types.Uint, types.Double, types.Bool:
		case types.Null:
			return "", false, &AbsentError{Expression: part}
		default:
			return "", false, fmt.Errorf("${%s} is %s; a text, a number or a boolean is needed", part.text, value.Type().TypeName())
		}
		filled := Text(value)
		if left && strings.Contains(filled, "${") {
			filled = "${" + strconv.Quote(filled) + "}"
		}
		b.WriteString(filled)
		if b.Len() > maxAnswer {
			return "", false, fmt.Errorf("the text is over the limit of %d bytes", maxAnswer)
		}
	}
	b.WriteString(t.texts[len(t.texts)-1])
	return b.String(), left, nil
}

// AbsentError is the error of an expression whose value is absent.
type AbsentError struct{ Expression Expression }

func (e *AbsentError) Error() string { return fmt.Sprintf("${%s} has no value", e.Expression.text) }
