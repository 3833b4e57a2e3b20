package convert

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/armature-io/armature/starter/internal/cli"
	"go.yaml.in/yaml/v3"
)

// Encode returns a manifest as YAML below its comments, which are complete lines. It reads
// back as exactly one document with the values of root: a name or value of others never
// becomes another document or member.
func Encode(root *yaml.Node, comments string) ([]byte, error) {
	text := bytes.NewBufferString(comments)
	encoder := yaml.NewEncoder(text)
	encoder.SetIndent(2)
	cli.QuoteNodes(root)
	if err := encoder.Encode(root); err != nil {
		return nil, fmt.Errorf("encode it: %w", err)
	}
	written := cli.EscapeYAML(text.Bytes())
	decoder := yaml.NewDecoder(bytes.NewReader(written))
	var document, more yaml.Node
	if err := decoder.Decode(&document); err != nil {
		return nil, fmt.Errorf("it does not read back: %w", err)
	}
	if err := decoder.Decode(&more); !errors.Is(err, io.EOF) {
		return nil, errors.New("it reads back as more than one document")
	}
	if len(document.Content) != 1 || !equalNodes(document.Content[0], root) {
		return nil, errors.New("it reads back with other values")
	}
	return written, nil
}

// equalNodes reports whether two nodes have the same values in the same order.
func equalNodes(a, b *yaml.Node) bool {
	return a.Kind == b.Kind && a.Value == b.Value && a.ShortTag() == b.ShortTag() && slices.EqualFunc(a.Content, b.Content, equalNodes)
}
