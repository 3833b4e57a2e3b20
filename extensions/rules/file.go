package rules

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/armature-io/armature/internal/nearest"
)

// maxFileBytes is the size of the largest rule file.
const maxFileBytes = 1 << 20

// file is a parsed rule file, whose rules are not compiled yet.
type file struct {
	name  string
	lines []string
	rules []*source
	tests []*Case
	// issues make the file invalid, warnings do not.
	issues, warnings Issues
}

// field is a scalar and its node.
type field struct {
	text string
	node *yaml.Node
}

// source is one rule before compilation: its scalars, and its lists and mappings.
type source struct {
	node   *yaml.Node
	fields map[string]field
	parts  map[string]*yaml.Node
}

func (s *source) text(name string) string { return s.fields[name].text }

// has reports whether the rule states a field.
func (s *source) has(name string) bool { return s.fieldNode(name) != nil }

// fieldNode returns the value of a field of any kind, nil where it is not stated.
func (s *source) fieldNode(name string) *yaml.Node {
	if part := s.parts[name]; part != nil {
		return part
	}
	return s.fields[name].node
}

// The fields of a file, of a rule and of a test.
func fileFields() []string { return []string{"rules", "tests"} }
func ruleFields() []string {
	return []string{
		"name", "type", "at", "read", "when", "block", "fail", "reason", "severity", "retry", "onlyBeforePut",
		"busy", "stopped", "path", "start", "code", "message", "advice", "set", "remove",
	}
}

// structured returns the fields of a rule that are lists or mappings.
func structured() []string { return []string{"read", "busy", "stopped", "code", "set", "remove"} }

func testFields() []string {
	return []string{
		"name", "rule", "desired", "observed", "owner", "reads", "payload", "error", "labels",
		"id", "ownerName", "now", "forced", "want", "message", "reason",
	}
}

// parse reads the YAML of a file and checks its fields.
func parse(name string, data []byte) *file {
	f := &file{name: name, lines: strings.Split(string(data), "\n")}
	if len(data) > maxFileBytes {
		f.issues = append(f.issues, Issue{File: name, Message: fmt.Sprintf("the file has %d bytes; the limit is %d", len(data), maxFileBytes)})
		return f
	}
	decoder := yaml.NewDecoder(bytes.NewReader(data))
	for {
		var document yaml.Node
		err := decoder.Decode(&document)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			f.issues = append(f.issues, f.yamlIssue(err))
			break
		}
		if len(document.Content) > 0 {
			f.document(document.Content[0])
		}
	}
	if len(f.issues) == 0 && len(f.rules) == 0 && len(f.tests) == 0 {
		f.issues = append(f.issues, Issue{File: name, Message: "the file has no rules; list them under rules"})
	}
	return f
}

// yamlIssue returns the issue for an error of the YAML library, with the line from
// its text.
func (f *file) yamlIssue(err error) Issue {
	issue := Issue{File: f.name, Column: 1, Message: strings.TrimPrefix(err.Error(), "yaml: ")}
	var line int
	if _, scanned := fmt.Sscanf(issue.Message, "line %d:", &line); scanned == nil {
		issue.Line = line
		_, issue.Message, _ = strings.Cut(issue.Message, ": ")
	}
	for at := max(line-2, 0); at < min(line+1, len(f.lines)); at++ {
		if unquotedNot.MatchString(f.lines[at]) {
			issue.Line, issue.Message = at+1, issue.Message+"; "+quoteHint
			break
		}
	}
	return issue
}

// unquotedNot matches a value that YAML takes for a tag: when: !forced.
var unquotedNot = regexp.MustCompile(`:\s+!`)

const quoteHint = "quote an expression that begins with !, which is a tag in YAML: when: '!forced'"

// report adds an issue at a node.
func (f *file) report(node *yaml.Node, format string, args ...any) {
	f.issues = append(f.issues, Issue{File: f.name, Line: node.Line, Column: node.Column, Message: fmt.Sprintf(format, args...)})
}

func (f *file) document(node *yaml.Node) {
	f.fields(node, "a rule file", fileFields(), func(key, value *yaml.Node) {
		if value.Kind != yaml.SequenceNode {
			f.report(value, "%s must be a list", key.Value)
			return
		}
		for _, item := range value.Content {
			if key.Value == "rules" {
				f.rule(item)
			} else {
				f.test(item)
			}
		}
	})
}

// fields calls take for the fields of a mapping and reports unknown and repeated
// names.
func (f *file) fields(node *yaml.Node, what string, known []string, take func(key, value *yaml.Node)) {
	if node.Kind == yaml.AliasNode {
		f.report(node, "YAML aliases are not supported; write %s in full", what)
		return
	}
	if node.Kind != yaml.MappingNode {
		f.report(node, "%s must be a mapping with the fields %s", what, strings.Join(known, ", "))
		return
	}
	seen := map[string]bool{}
	for i := 0; i+1 < len(node.Content); i += 2 {
		key, value := node.Content[i], node.Content[i+1]
		switch {
		case !slices.Contains(known, key.Value):
			f.report(key, "unknown field %q%s; the fields of %s are %s", key.Value, nearest.Suggest(key.Value, known), what, strings.Join(known, ", "))
		case seen[key.Value]:
			f.report(key, "field %q is repeated", key.Value)
		default:
			seen[key.Value] = true
			take(key, value)
		}
	}
}

func (f *file) rule(node *yaml.Node) {
	rule := &source{node: node, fields: map[string]field{}, parts: map[string]*yaml.Node{}}
	f.fields(node, "a rule", ruleFields(), func(key, value *yaml.Node) {
		if slices.Contains(structured(), key.Value) {
			rule.parts[key.Value] = value
			return
		}
		if strings.HasPrefix(value.Tag, "!") && !strings.HasPrefix(value.Tag, "!!") {
			f.report(value, "%s has the YAML tag %s; %s", key.Value, value.Tag, quoteHint)
			return
		}
		if value.Kind != yaml.ScalarNode || value.Tag == "!!null" {
			f.report(value, "%s must be a string", key.Value)
			return
		}
		rule.fields[key.Value] = field{text: value.Value, node: value}
	})
	if node.Kind == yaml.MappingNode {
		f.rules = append(f.rules, rule)
	}
}

// texts returns the texts of a list, or of one text.
func (f *file) texts(what string, node *yaml.Node) []field {
	items := []*yaml.Node{node}
	if node.Kind == yaml.SequenceNode {
		items = node.Content
	}
	var found []field
	for _, item := range items {
		if item.Kind != yaml.ScalarNode || item.Tag == "!!null" || strings.TrimSpace(item.Value) == "" {
			f.report(item, "%s must be a text or a list of texts", what)
			continue
		}
		found = append(found, field{text: item.Value, node: item})
	}
	if len(items) == 0 {
		f.report(node, "%s is an empty list", what)
	}
	return found
}

// entries calls take for the entries of a mapping from names to values.
func (f *file) entries(what string, node *yaml.Node, take func(key, value *yaml.Node)) {
	if node.Kind != yaml.MappingNode || len(node.Content) == 0 {
		f.report(node, "%s must be a mapping with at least one entry", what)
		return
	}
	for i := 0; i+1 < len(node.Content); i += 2 {
		take(node.Content[i], node.Content[i+1])
	}
}

// position returns the line and column in the file for a line and column of the
// text in a scalar, all starting at 1.
func (f *file) position(node *yaml.Node, line, column int) (int, int) {
	switch node.Style {
	case yaml.LiteralStyle, yaml.FoldedStyle:
		if node.Style == yaml.FoldedStyle {
			line = 1
		}
		at := node.Line + line
		if at-1 < len(f.lines) {
			text := f.lines[at-1]
			column += len(text) - len(strings.TrimLeft(text, " "))
		}
		return at, column
	case yaml.SingleQuotedStyle, yaml.DoubleQuotedStyle:
		column++
	}
	if line > 1 {
		return node.Line + line - 1, column
	}
	return node.Line, node.Column + column - 1
}
