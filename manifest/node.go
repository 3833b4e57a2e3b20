package manifest

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/armature-io/armature/resource"
)

// kind is the JSON type of a node, as messages call it.
type kind string

const (
	kindObject  kind = "a mapping"
	kindList    kind = "a list"
	kindText    kind = "a text"
	kindNumber  kind = "a number"
	kindBoolean kind = "true or false"
	kindNull    kind = "nothing"
)

// Bounds of a document, so that a small file cannot expand to a large tree, and of all files
// of a load together: a value takes about 300 bytes.
const (
	maxNodes  = 200_000
	maxDepth  = 100
	maxValues = 1_000_000
)

// errTooMany refuses files with more than maxValues values.
var errTooMany = fmt.Errorf("the files contain more than %d values up to here; name fewer files in one command", maxValues)

// position is a place in a file. Line and column count from 1; column counts characters
// and is 0 if it is unknown. file is "" for the file of the manifest, else the one of a
// patch or a project from which the value comes.
type position struct {
	line, column int
	file         string
}

// in returns the file of the position, for a value of a manifest in a file.
func (p position) in(file string) string { return cmp.Or(p.file, file) }

// node is one value of a YAML or JSON document with the position where it starts. text
// is a text, or the JSON form of a number or boolean.
type node struct {
	position
	kind   kind
	text   string
	fields []field
	items  []*node
	// broken are the properties with an issue in the value.
	broken []string
}

// field is one property of an object, in the order of the document, with the position
// of its name.
type field struct {
	position
	name  string
	value *node
}

// has reports whether an object has a property, ignoring case.
func (n *node) has(name string) bool {
	return n != nil && slices.ContainsFunc(n.fields, func(f field) bool { return strings.EqualFold(f.name, name) })
}

// get returns the value of a property, nil if it is absent.
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

// textOf returns the text of a property, "" if it is not a text.
func (n *node) textOf(name string) string {
	if value := n.get(name); value != nil && value.kind == kindText {
		return value.text
	}
	return ""
}

// scalar returns a leaf in the form of encoding/json; numbers keep their digits.
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

// found describes a node in an issue without its value.
func (n *node) found() string {
	return fmt.Sprintf("found %s", string(n.kind))
}

// pathCapacity is the depth to which a path of newPath grows without an allocation.
const pathCapacity = 16

// newPath returns an empty path for one walk through a document. The walk appends
// to it and keeps no path, so siblings share its array: a path per value would be
// most of the allocations of a load.
func newPath() resource.Path { return make(resource.Path, 0, pathCapacity) }

// plain returns a value in the form of encoding/json, with markers as objects.
func (n *node) plain() any {
	switch n.kind {
	case kindObject:
		object := make(map[string]any, len(n.fields))
		for _, f := range n.fields {
			object[f.name] = f.value.plain()
		}
		return object
	case kindList:
		list := make([]any, len(n.items))
		for i, item := range n.items {
			list[i] = item.plain()
		}
		return list
	}
	return n.scalar()
}

// compact returns a value as JSON on one line.
func (n *node) compact() string {
	raw, err := compact(n.plain())
	if err != nil {
		return string(n.kind)
	}
	return string(raw)
}
