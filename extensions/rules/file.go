package rules

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/armature-io/armature/internal/nearest"
)

// maxFile is the largest rule file, in bytes.
const maxFile = 1 << 20

// file is a rule file as it is written, checked for form.
type file struct {
	name  string
	lines []string
	rules []*source
	tests []*Case
	// faults refuse the file, warnings do not.
	faults, warnings Faults
}

// field is a scalar with its place.
type field struct {
	text string
	node *yaml.Node
}

// source is one rule as it is written.
type source struct {
	node   *yaml.Node
	fields map[string]field
}

func (s *source) text(name string) string { return s.fields[name].text }

// The fields of a file, of a rule and of a test.
func fileFields() []string { return []string{"rules", "tests"} }
func ruleFields() []string {
	return []string{"name", "type", "at", "when", "block", "fail", "reason", "severity", "retry", "onlyBeforePut"}
}
func testFields() []string {
	return []string{"name", "rule", "desired", "observed", "owner", "forced", "want", "message"}
}

// parse reads the form of a file.
func parse(name string, data []byte) *file {
	f := &file{name: name, lines: strings.Split(string(data), "\n")}
	if len(data) > maxFile {
		f.faults = append(f.faults, Fault{File: name, Message: fmt.Sprintf("it has %d bytes, more than %d", len(data), maxFile)})
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
			f.faults = append(f.faults, yamlFault(name, err))
			break
		}
		if len(document.Content) > 0 {
			f.document(document.Content[0])
		}
	}
	if len(f.faults) == 0 && len(f.rules) == 0 {
		f.faults = append(f.faults, Fault{File: name, Message: "it holds no rules: write them in a list under rules"})
	}
	return f
}

// yamlFault takes the line out of the library's text.
func yamlFault(name string, err error) Fault {
	fault := Fault{File: name, Column: 1, Message: strings.TrimPrefix(err.Error(), "yaml: ")}
	var line int
	if _, scanned := fmt.Sscanf(fault.Message, "line %d:", &line); scanned == nil {
		fault.Line = line
		_, fault.Message, _ = strings.Cut(fault.Message, ": ")
	}
	return fault
}

func (f *file) fault(node *yaml.Node, format string, args ...any) {
	f.faults = append(f.faults, Fault{File: f.name, Line: node.Line, Column: node.Column, Message: fmt.Sprintf(format, args...)})
}

func (f *file) document(node *yaml.Node) {
	f.fields(node, "a rule file", fileFields(), func(key, value *yaml.Node) {
		if value.Kind != yaml.SequenceNode {
			f.fault(value, "%s is a list", key.Value)
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

// fields walks a mapping and refuses unknown and repeated names.
func (f *file) fields(node *yaml.Node, what string, known []string, take func(key, value *yaml.Node)) {
	if node.Kind == yaml.AliasNode {
		f.fault(node, "aliases are not taken: write %s out", what)
		return
	}
	if node.Kind != yaml.MappingNode {
		f.fault(node, "%s is a mapping with the fields %s", what, strings.Join(known, ", "))
		return
	}
	seen := map[string]bool{}
	for i := 0; i+1 < len(node.Content); i += 2 {
		key, value := node.Content[i], node.Content[i+1]
		switch {
		case !slices.Contains(known, key.Value):
			f.fault(key, "unknown field %q%s; the fields of %s are %s", key.Value, nearest.Suggest(key.Value, known), what, strings.Join(known, ", "))
		case seen[key.Value]:
			f.fault(key, "the field %q stands twice", key.Value)
		default:
			seen[key.Value] = true
			take(key, value)
		}
	}
}

func (f *file) rule(node *yaml.Node) {
	rule := &source{node: node, fields: map[string]field{}}
	f.fields(node, "a rule", ruleFields(), func(key, value *yaml.Node) {
		if value.Kind != yaml.ScalarNode || value.Tag == "!!null" {
			f.fault(value, "%s is a text", key.Value)
			return
		}
		rule.fields[key.Value] = field{text: value.Value, node: value}
	})
	if node.Kind == yaml.MappingNode {
		f.rules = append(f.rules, rule)
	}
}

// at is the place in the file of line and column (both from 1) of a text that
// stands in a scalar.
func (f *file) at(node *yaml.Node, line, column int) (int, int) {
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
