package convert

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strconv"

	"go.yaml.in/yaml/v3"
)

// yamlLine matches the line in an error of the YAML library.
var yamlLine = regexp.MustCompile(`^yaml: (?:line ([0-9]+): )?(.*)$`)

// jsonNumber is the form of a JSON number.
var jsonNumber = regexp.MustCompile(`^-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][-+]?[0-9]+)?$`)

// readYAML returns the documents of a file without the empty ones. Aliases and merge keys
// are expanded.
func readYAML(data []byte) ([]*value, error) {
	decoder := yaml.NewDecoder(bytes.NewReader(data))
	var documents []*value
	r := &yamlReader{}
	for {
		var document yaml.Node
		err := decoder.Decode(&document)
		if errors.Is(err, io.EOF) {
			return documents, nil
		}
		if err != nil {
			parts := yamlLine.FindStringSubmatch(err.Error())
			if parts == nil {
				return nil, failAt(1, "it is not YAML: %v", err)
			}
			line, _ := strconv.Atoi(parts[1])
			return nil, failAt(max(line, 1), "it is not YAML: %s; name a file of the format that --from states", parts[2])
		}
		v, err := r.value(&document, 0)
		if err != nil {
			return nil, err
		}
		if v.kind != null {
			documents = append(documents, v)
		}
	}
}

type yamlReader struct{ values int }

func (r *yamlReader) value(n *yaml.Node, depth int) (*value, error) {
	if r.values++; r.values > maxValues {
		return nil, failAt(n.Line, "it contains more than %d values after expanding its aliases; split it", maxValues)
	}
	if depth > maxDepth {
		return nil, failAt(n.Line, "values are nested deeper than %d levels, or an alias contains itself", maxDepth)
	}
	switch n.Kind {
	case yaml.DocumentNode:
		return r.value(n.Content[0], depth)
	case yaml.AliasNode:
		return r.value(n.Alias, depth+1)
	case yaml.SequenceNode:
		v := &value{kind: list, line: n.Line}
		for _, item := range n.Content {
			read, err := r.value(item, depth+1)
			if err != nil {
				return nil, err
			}
			v.items = append(v.items, read)
		}
		return v, nil
	case yaml.MappingNode:
		return r.object(n, depth)
	}
	return yamlScalar(n)
}

func (r *yamlReader) object(n *yaml.Node, depth int) (*value, error) {
	v := &value{kind: object, line: n.Line}
	lines := map[string]int{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key := n.Content[i]
		if key.Kind != yaml.ScalarNode {
			return nil, failAt(key.Line, "a name is not a text; put it in quotes")
		}
		if key.ShortTag() == "!!merge" {
			continue
		}
		if first := lines[key.Value]; first > 0 {
			return nil, failAt(key.Line, "the name %q is there twice, first in line %d; remove one", key.Value, first)
		}
		lines[key.Value] = key.Line
		member, err := r.value(n.Content[i+1], depth+1)
		if err != nil {
			return nil, err
		}
		v.fields = append(v.fields, field{name: key.Value, line: key.Line, value: member})
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		if n.Content[i].ShortTag() != "!!merge" {
			continue
		}
		merged, err := r.value(n.Content[i+1], depth+1)
		if err != nil {
			return nil, err
		}
		for _, source := range append([]*value{merged}, merged.items...) {
			for _, f := range source.fields {
				if lines[f.name] == 0 {
					lines[f.name] = f.line
					v.fields = append(v.fields, f)
				}
			}
		}
	}
	return v, nil
}

func yamlScalar(n *yaml.Node) (*value, error) {
	v := &value{kind: text, line: n.Line, text: n.Value}
	switch tag := n.ShortTag(); tag {
	case "!!null":
		return &value{line: n.Line}, nil
	case "!!bool":
		var b bool
		if err := n.Decode(&b); err != nil {
			return nil, failAt(n.Line, "a value has the tag of a boolean; write true or false")
		}
		v.kind, v.text = boolean, fmt.Sprint(b)
	case "!!int", "!!float":
		if !jsonNumber.MatchString(n.Value) {
			return nil, failAt(n.Line, "a number has no JSON form; write it in decimal digits, or in quotes if it is a text")
		}
		v.kind = number
	case "!!str", "!!timestamp", "!!merge":
	default:
		return nil, failAt(n.Line, "a value has the YAML tag %s; only plain values are allowed", tag)
	}
	return v, nil
}
