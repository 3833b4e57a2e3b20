package manifest

import (
	"encoding/json"
	"fmt"

	"github.com/armature-io/armature/resource"
)

// kind is what a node is in JSON's terms.
type kind string

const (
	kindObject  kind = "a mapping"
	kindList    kind = "a list"
	kindText    kind = "a text"
	kindNumber  kind = "a number"
	kindBoolean kind = "true or false"
	kindNull    kind = "nothing"
)

// Bounds of a document, so that a small file cannot become a large tree.
const (
	maxNodes = 200_000
	maxDepth = 100
)

// node is one value of a document with its line: what YAML and JSON have in
// common. text holds a text, or a number or boolean as JSON writes it.
type node struct {
	kind   kind
	line   int
	text   string
	fields []field
	items  []*node
	// broken are the properties of an object whose values had a fault already.
	broken []string
}

// field is one property of an object, in the order of the document.
type field struct {
	name  string
	line  int
	value *node
}

// get is the value of a property, nil where it is absent.
func (n *node) get(name string) *node {
	if n == nil {
		return nil
	}
	for _, f := range n.fields {
		if f.name == name {
			return f.value
		}
	}
	return nil
}

// textOf is the text of a property, "" where it is no text.
func (n *node) textOf(name string) string {
	if value := n.get(name); value != nil && value.kind == kindText {
		return value.text
	}
	return ""
}

// scalar is a leaf as encoding/json takes it; numbers stay as written.
func (n *node) scalar() any {
	switch n.kind {
	case kindText:
		return n.text
	case kindNumber:
		return json.Number(n.text)
	case kindBoolean:
		return n.text == "true"
	}
	return nil
}

// found describes a node in a fault without showing its value.
func (n *node) found() string {
	return fmt.Sprintf("found %s", string(n.kind))
}

// pathRoom is the depth to which a path of newPath grows in place.
const pathRoom = 16

// newPath is the empty path for one walk through a document. The walk appends to
// it on the way down and keeps no path, so siblings share their room: a path for
// each value would be most of what a load allocates.
func newPath() resource.Path { return make(resource.Path, 0, pathRoom) }
