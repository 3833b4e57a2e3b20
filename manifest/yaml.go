package manifest

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/armature-io/armature/resource"
	"go.yaml.in/yaml/v3"
)

// jsonNumber is the form of a JSON number.
var jsonNumber = regexp.MustCompile(`^-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][-+]?[0-9]+)?$`)

// yamlLine matches the line in a syntax error of the YAML library.
var yamlLine = regexp.MustCompile(`^yaml: (?:line ([0-9]+): )?(.*)$`)

// readYAML reads the documents of one file and skips empty ones.
func (l *loader) readYAML(file string, data []byte) []*node {
	var documents []*node
	decoder := yaml.NewDecoder(bytes.NewReader(data))
	for {
		var document yaml.Node
		err := decoder.Decode(&document)
		if errors.Is(err, io.EOF) {
			return documents
		}
		if err != nil {
			l.report(brokenYAML(file, data, err))
			return documents
		}
		tree := &yamlTree{loader: l, file: file, budget: maxNodes}
		before := len(l.issues)
		root := tree.node(&document, newPath(), 0)
		if root == nil && document.Content[0].Kind == yaml.ScalarNode {
			root = &node{kind: kindText, position: start(document.Content[0])}
		}
		if l.values > maxValues {
			return nil
		}
		if root != nil && root.kind != kindNull && !l.dropForeign(file, root, before, "") && tree.budget > 0 {
			documents = append(documents, root)
		}
	}
}

func brokenYAML(file string, data []byte, err error) Issue {
	issue := Issue{File: file, Message: fmt.Sprintf("broken YAML: %v", err)}
	if parts := yamlLine.FindStringSubmatch(err.Error()); parts != nil {
		issue.Line, _ = strconv.Atoi(parts[1])
		issue.Message = "broken YAML: " + parts[2]
	}
	issue.Message += "; " + syntaxHint(data, issue.Line, err)
	return issue
}

// syntaxHint returns the remedy for a syntax error.
func syntaxHint(data []byte, line int, err error) string {
	lines := bytes.Split(data, []byte("\n"))
	switch text := err.Error(); {
	case bytes.HasPrefix(data, []byte("\x1f\x8b")), bytes.HasPrefix(data, []byte("PK")), bytes.IndexByte(data, 0) >= 0 && utf8.Valid(data):
		return "the file is not text; name a manifest"
	case strings.Contains(text, "UTF-8"), strings.Contains(text, "UTF-16"), strings.Contains(text, "control characters"):
		return "save the file as UTF-8 text"
	case strings.Contains(text, "unknown anchor"):
		return "write the anchor (&name) before its alias (*name), or put a text that begins with * in quotes"
	case line > 0 && line <= len(lines) && bytes.HasPrefix(bytes.TrimLeft(lines[line-1], " "), []byte("\t")):
		return "the line is indented with a tab; use spaces"
	}
	return "check indentation, quotes and brackets of this line and of those before it"
}

// yamlTree converts the nodes of one YAML document: it expands aliases and merge
// keys and reports duplicate keys and values that JSON cannot express.
type yamlTree struct {
	loader *loader
	file   string
	budget int
}

func (t *yamlTree) report(at *yaml.Node, path resource.Path, format string, args ...any) *node {
	t.loader.report(Issue{File: t.file, Line: at.Line, Column: at.Column, Path: path.String(), Message: fmt.Sprintf(format, args...)})
	return nil
}

// node returns nil after an issue that makes the rest unusable.
func (t *yamlTree) node(from *yaml.Node, path resource.Path, depth int) *node {
	t.budget--
	t.loader.values++
	switch {
	case t.budget == 0:
		return t.report(from, path, "the document contains more than %d values after expanding its aliases; split it, or use fewer aliases", maxNodes)
	case t.budget < 0:
		return nil
	case t.loader.values > maxValues:
		t.budget = 0
		return t.report(from, path[:min(3, len(path))], "%s", errTooMany)
	case depth > maxDepth:
		t.budget = 0
		return t.report(from, path[:min(3, len(path))], "values are nested deeper than %d levels, or an alias contains itself; flatten it, or remove the alias", maxDepth)
	}
	if tag := from.ShortTag(); from.Kind == yaml.MappingNode && tag != "!!map" || from.Kind == yaml.SequenceNode && tag != "!!seq" {
		return t.report(from, path, "has the YAML tag %s; only plain values are allowed; remove the tag", tag)
	}
	switch from.Kind {
	case yaml.DocumentNode:
		return t.node(from.Content[0], path, depth)
	case yaml.AliasNode:
		return t.node(from.Alias, path, depth+1)
	case yaml.MappingNode:
		return t.object(from, path, depth)
	case yaml.SequenceNode:
		list := &node{kind: kindList, position: start(from)}
		for i, item := range from.Content {
			if value := t.node(item, append(path, resource.Step{Index: i, IsIndex: true}), depth+1); value != nil {
				list.items = append(list.items, value)
			}
		}
		return list
	case yaml.ScalarNode:
		return t.scalar(from, path)
	}
	return &node{kind: kindNull, position: start(from)}
}

func (t *yamlTree) object(from *yaml.Node, path resource.Path, depth int) *node {
	object := &node{kind: kindObject, position: start(from)}
	lines := make(map[string]int, len(from.Content)/2)
	var merged []*yaml.Node
	for i := 0; i+1 < len(from.Content); i += 2 {
		key, value := from.Content[i], from.Content[i+1]
		if key.Kind == yaml.AliasNode {
			key = key.Alias
		}
		if key.Kind == yaml.ScalarNode && key.ShortTag() == "!!merge" {
			merged = append(merged, value)
			continue
		}
		if key.Kind != yaml.ScalarNode || key.ShortTag() == "!!null" {
			t.report(key, path, "a key is %s; keys must be texts: put it in quotes", describe(key))
			continue
		}
		at := append(path, resource.Step{Name: key.Value})
		if first, twice := lines[key.Value]; twice {
			t.report(key, at, "duplicate key, first in line %d; remove one", first)
			continue
		}
		lines[key.Value] = key.Line
		if read := t.node(value, at, depth+1); read != nil {
			object.fields = append(object.fields, field{name: key.Value, position: start(key), value: read})
		} else {
			object.broken = append(object.broken, key.Value)
		}
	}
	for _, value := range merged {
		t.merge(object, lines, value, path, depth)
	}
	return object
}

// merge adds the members of a merge key (<<) that the object does not state; the
// first mapping that has a key wins. stated are the lines of keys.
func (t *yamlTree) merge(object *node, stated map[string]int, from *yaml.Node, path resource.Path, depth int) {
	value := t.node(from, path, depth+1)
	if value == nil {
		return
	}
	sources := []*node{value}
	if value.kind == kindList {
		sources = value.items
	}
	for _, source := range sources {
		if source.kind != kindObject {
			t.report(from, path, "the merge key << contains %s; it needs a mapping or a list of mappings, for example <<: *name", source.kind)
			return
		}
		for _, f := range source.fields {
			if _, found := stated[f.name]; !found {
				stated[f.name] = f.line
				object.fields = append(object.fields, f)
			}
		}
	}
}

func (t *yamlTree) scalar(from *yaml.Node, path resource.Path) *node {
	leaf := &node{kind: kindText, position: start(from), text: from.Value}
	const stated = yaml.TaggedStyle | yaml.SingleQuotedStyle | yaml.DoubleQuotedStyle | yaml.LiteralStyle | yaml.FoldedStyle
	switch tag := from.ShortTag(); tag {
	case "!!null":
		return &node{kind: kindNull, position: start(from)}
	case "!!bool":
		leaf.kind, leaf.text = kindBoolean, strings.ToLower(from.Value)
		if leaf.text != "true" && leaf.text != "false" {
			return t.report(from, path, "is tagged as a boolean; write true or false")
		}
	case "!!int", "!!float":
		leaf.kind = kindNumber
		if !jsonNumber.MatchString(from.Value) {
			return t.report(from, path, "%sis not a valid JSON number; write it in decimal digits, or in quotes if it is a text", shown(from.Value, path))
		}
	case "!!str":
		if from.Style&stated == 0 && jsonNumber.MatchString(from.Value) {
			return t.report(from, path, "%sis a number out of range; write it in quotes if it is a text", shown(from.Value, path))
		}
	case "!!timestamp", "!!merge":
	default:
		return t.report(from, path, "has the YAML tag %s; only plain values are allowed; remove the tag", tag)
	}
	return leaf
}

// shown returns a value for an issue, followed by a space, or "" if its path is
// secret.
func shown(value string, path resource.Path) string {
	for _, step := range path {
		if resource.SecretName(step.Name) {
			return ""
		}
	}
	return fmt.Sprintf("%q ", value)
}

// start returns the position where a node starts.
func start(n *yaml.Node) position { return position{line: n.Line, column: n.Column} }

func describe(n *yaml.Node) string {
	switch n.Kind {
	case yaml.MappingNode:
		return string(kindObject)
	case yaml.SequenceNode:
		return string(kindList)
	}
	return "empty"
}
