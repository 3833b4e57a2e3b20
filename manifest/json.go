package manifest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"unicode/utf8"

	"github.com/armature-io/armature/resource"
)

// readJSON reads the documents of one file: JSON objects in sequence, or lists of
// them. The YAML reader supports neither surrogate pairs (\ud83d\ude00) nor long
// keys.
func (l *loader) readJSON(file string, data []byte) []*node {
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.UseNumber()
	tree := &jsonTree{loader: l, file: file, data: data, decoder: decoder}
	var documents []*node
	for {
		before := len(l.issues)
		root, err := tree.node(newPath(), 0)
		if errors.Is(err, io.EOF) {
			return documents
		}
		if err != nil {
			l.report(Issue{File: file, Line: tree.errorLine(err), Message: "broken JSON: " + jsonErrorText(err)})
			return documents
		}
		roots, paths := []*node{root}, []string{""}
		if root.kind == kindList {
			roots, paths = root.items, nil
			for i := range roots {
				paths = append(paths, fmt.Sprintf("[%d]", i))
			}
		}
		for i, document := range roots {
			if document.kind != kindNull && !l.dropForeign(file, document, before, paths[i]) {
				documents = append(documents, document)
			}
		}
	}
}

// errTooDeep refuses deeply nested values.
var errTooDeep = fmt.Errorf("values are nested deeper than %d levels; flatten it", maxDepth)

// jsonErrorText returns the text of a decoder error with its remedy.
func jsonErrorText(err error) string {
	switch {
	case errors.Is(err, errTooDeep), errors.Is(err, errTooMany):
		return err.Error()
	case errors.Is(err, io.ErrUnexpectedEOF):
		return "unexpected end of file; close brackets and quotes, or get the complete file"
	}
	return err.Error() + "; check commas, quotes and brackets here (JSON has no comments)"
}

// isJSON reports whether stdin contains JSON: complete values and nothing else.
func isJSON(data []byte) bool {
	decoder := json.NewDecoder(bytes.NewReader(data))
	for values := 0; ; values++ {
		var value json.RawMessage
		if err := decoder.Decode(&value); err != nil {
			return errors.Is(err, io.EOF) && values > 0
		}
	}
}

// jsonTree reads values token by token, to know lines and duplicate keys.
type jsonTree struct {
	loader  *loader
	file    string
	data    []byte
	decoder *json.Decoder
	// line and column are the position of the offset counted, from 0.
	counted      int64
	line, column int
}

// token reads one token and returns the position where it starts. Offsets only grow, so
// each byte is counted once.
func (t *jsonTree) token() (json.Token, position, error) {
	start := t.afterSpace()
	token, err := t.decoder.Token()
	passed := t.data[t.counted:start]
	if lines := bytes.Count(passed, []byte("\n")); lines > 0 {
		t.line, t.column = t.line+lines, 0
		passed = passed[bytes.LastIndexByte(passed, '\n')+1:]
	}
	t.counted, t.column = start, t.column+utf8.RuneCount(passed)
	return token, position{line: t.line + 1, column: t.column + 1}, err
}

// afterSpace returns the offset of the next token.
func (t *jsonTree) afterSpace() int64 {
	offset := t.decoder.InputOffset()
	for offset < int64(len(t.data)) && bytes.IndexByte([]byte(" \t\r\n:,"), t.data[offset]) >= 0 {
		offset++
	}
	return offset
}

// errorLine returns the line of a syntax error: the decoder's, or that after the
// last valid token, whichever is later.
func (t *jsonTree) errorLine(err error) int {
	end := t.afterSpace()
	var syntax *json.SyntaxError
	if errors.As(err, &syntax) && syntax.Offset <= int64(len(t.data)) {
		end = max(end, syntax.Offset-1)
	}
	return bytes.Count(t.data[:end], []byte("\n")) + 1
}

func (t *jsonTree) node(path resource.Path, depth int) (*node, error) {
	token, at, err := t.token()
	if err != nil {
		if depth > 0 {
			err = insideValue(err)
		}
		return nil, err
	}
	t.loader.values++
	switch {
	case depth > maxDepth:
		return nil, errTooDeep
	case t.loader.values > maxValues:
		return nil, errTooMany
	}
	leaf := &node{position: at}
	switch value := token.(type) {
	case json.Delim:
		if value == '{' {
			return t.object(leaf, path, depth)
		}
		return t.list(leaf, path, depth)
	case string:
		leaf.kind, leaf.text = kindText, value
	case json.Number:
		leaf.kind, leaf.text = kindNumber, value.String()
	case bool:
		leaf.kind, leaf.text = kindBoolean, fmt.Sprint(value)
	default:
		leaf.kind = kindNull
	}
	return leaf, nil
}

func (t *jsonTree) list(list *node, path resource.Path, depth int) (*node, error) {
	list.kind = kindList
	for i := 0; t.decoder.More(); i++ {
		item, err := t.node(append(path, resource.Step{Index: i, IsIndex: true}), depth+1)
		if err != nil {
			return nil, err
		}
		list.items = append(list.items, item)
	}
	return list, t.end()
}

func (t *jsonTree) object(object *node, path resource.Path, depth int) (*node, error) {
	object.kind = kindObject
	lines := map[string]int{}
	for t.decoder.More() {
		token, nameAt, err := t.token()
		if err != nil {
			return nil, insideValue(err)
		}
		name, _ := token.(string)
		at := append(path, resource.Step{Name: name})
		value, err := t.node(at, depth+1)
		if err != nil {
			return nil, err
		}
		if first, twice := lines[name]; twice {
			t.loader.report(Issue{File: t.file, Line: nameAt.line, Column: nameAt.column, Path: at.String(),
				Message: fmt.Sprintf("duplicate key, first in line %d; remove one", first)})
			continue
		}
		lines[name] = nameAt.line
		object.fields = append(object.fields, field{name: name, position: nameAt, value: value})
	}
	return object, t.end()
}

// end reads the closing delimiter of a list or an object.
func (t *jsonTree) end() error {
	_, err := t.decoder.Token()
	return insideValue(err)
}

// insideValue converts the end of the file inside a value to an error.
func insideValue(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}
