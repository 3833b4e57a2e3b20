package convert

import (
	"strings"

	"github.com/armature-io/armature/resource"
)

// call is a parsed expression of an ARM template: a function with its arguments, or a
// literal, followed by the members that are read of it.
type call struct {
	function string
	args     []*call
	literal  string
	isText   bool
	// path is what follows: ".a.b[0]".
	path string
}

// maxExpression is the length of an expression in bytes; ARM allows 24,576 characters.
// Source: https://learn.microsoft.com/azure/azure-resource-manager/templates/best-practices
const maxExpression = 24_576

// expressionParser parses an expression of an ARM template. Its depth is bounded by
// maxDepth.
type expressionParser struct {
	text string
	at   int
}

// parseExpression returns nil for what is not an expression that the grammar knows.
func parseExpression(text string) *call {
	if len(text) > maxExpression {
		return nil
	}
	p := &expressionParser{text: text[1 : len(text)-1]}
	parsed := p.call(0)
	p.space()
	if parsed == nil || p.at != len(p.text) {
		return nil
	}
	return parsed
}

func (p *expressionParser) space() {
	for p.at < len(p.text) && strings.ContainsRune(" \t\r\n", rune(p.text[p.at])) {
		p.at++
	}
}

// take reports whether the next character is c, and passes it.
func (p *expressionParser) take(c byte) bool {
	p.space()
	if p.at < len(p.text) && p.text[p.at] == c {
		p.at++
		return true
	}
	return false
}

// word returns the characters of a name or a number.
func (p *expressionParser) word() string {
	p.space()
	start := p.at
	for p.at < len(p.text) {
		c := p.text[p.at]
		if c != '_' && c != '-' && (c < '0' || c > '9') && (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') {
			break
		}
		p.at++
	}
	return p.text[start:p.at]
}

// quoted returns the text in quotes; two quotes are one.
func (p *expressionParser) quoted() (string, bool) {
	var b strings.Builder
	for p.at < len(p.text) {
		c := p.text[p.at]
		p.at++
		if c != '\'' {
			b.WriteByte(c)
			continue
		}
		if p.at == len(p.text) || p.text[p.at] != '\'' {
			return b.String(), true
		}
		b.WriteByte('\'')
		p.at++
	}
	return "", false
}

func (p *expressionParser) call(depth int) *call {
	if depth > maxDepth {
		return nil
	}
	if p.take('\'') {
		text, ok := p.quoted()
		if !ok {
			return nil
		}
		return &call{literal: text, isText: true}
	}
	c := &call{literal: p.word()}
	if c.literal == "" {
		return nil
	}
	if !p.take('(') {
		return c
	}
	c.function, c.literal = c.literal, ""
	for !p.take(')') {
		if len(c.args) > 0 && !p.take(',') {
			return nil
		}
		arg := p.call(depth + 1)
		if arg == nil {
			return nil
		}
		c.args = append(c.args, arg)
	}
	return c.members(p)
}

// members reads the members behind a call: .name, [0] and ['name'].
func (c *call) members(p *expressionParser) *call {
	for {
		switch {
		case p.take('.'):
			name := p.word()
			if name == "" {
				return nil
			}
			c.path += "." + name
		case p.take('['):
			if p.take('\'') {
				name, ok := p.quoted()
				if !ok || strings.ContainsAny(name, "']") {
					return nil
				}
				c.path += "['" + name + "']"
			} else {
				index := p.word()
				if index == "" || strings.Trim(index, "0123456789") != "" {
					return nil
				}
				c.path += "[" + index + "]"
			}
			if !p.take(']') {
				return nil
			}
		default:
			return c
		}
	}
}

// resolve returns the value of a text: itself, or of an expression a text or a reference.
// from is the resource that contains it; it gives the subscription and the group.
func (c *conversion) resolve(text string, from resource.ID) (*value, error) {
	if strings.HasPrefix(text, "[[") {
		return textValue(0, text[1:]), nil
	}
	if !isExpression(text) {
		return textValue(0, text), nil
	}
	parsed := parseExpression(text)
	if parsed == nil {
		return nil, expressionError(text, "it is not understood; write the value into the snapshot")
	}
	e := evaluator{conversion: c, from: from, expression: text}
	return e.value(parsed)
}
