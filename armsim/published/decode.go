package published

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/klauspost/compress/zstd"
)

// header begins the packed file, whose format internal/azuretypes describes.
const header = "ARMATURE-TYPES-1\n"

// The kinds of packed nodes.
const (
	packedAny = iota
	packedBoolean
	packedText
	packedLiteral
	packedInteger
	packedList
	packedObject
	packedUnion
	packedDiscriminated
)

// The bits of packed nodes that announce further fields.
const (
	hasMinimum    = 1
	hasMaximum    = 2
	hasPattern    = 4
	hasAdditional = 16
)

var errTruncated = errors.New("the data ends too early, or a number in it is out of range")

// provider is a frame, and its types once they are decoded: by type in lower case, in
// ascending order of their versions.
type provider struct {
	types func() (map[string][]Type, error)
}

// readIndex reads the providers of the directory and cuts the frames. The types that the
// directory lists stand in the frames too.
func readIndex(from []byte) (map[string]*provider, error) {
	rest, found := bytes.CutPrefix(from, []byte(header))
	if !found {
		return nil, errors.New("read the published types: the data is of another format")
	}
	d := decoder{rest: rest}
	directory, err := unpack(d.cut(d.size()))
	if err != nil {
		return nil, fmt.Errorf("read the index of the published types: %w", err)
	}
	index := map[string]*provider{}
	for range directory.size() {
		namespace := strings.ToLower(directory.text())
		frame := d.cut(directory.number())
		index[namespace] = &provider{sync.OnceValues(func() (map[string][]Type, error) { return readFrame(frame) })}
	}
	if d.failed || directory.failed || len(d.rest) > 0 {
		return nil, fmt.Errorf("read the index of the published types: %w", errTruncated)
	}
	return index, nil
}

// unpack decompresses a part and reads its texts.
func unpack(part []byte) (*decoder, error) {
	unpacker, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1))
	if err != nil {
		return nil, err
	}
	defer unpacker.Close()
	raw, err := unpacker.DecodeAll(part, nil)
	if err != nil {
		return nil, err
	}
	d := &decoder{rest: raw}
	lengths := make([]int, d.size())
	total := d.number()
	for i := range lengths {
		lengths[i] = d.number()
	}
	all := decoder{rest: d.cut(total)}
	for _, length := range lengths {
		d.texts = append(d.texts, string(all.cut(length)))
	}
	if d.failed || all.failed || len(all.rest) > 0 {
		return nil, errTruncated
	}
	return d, nil
}

// readFrame returns the types of a frame that a PUT can create.
func readFrame(frame []byte) (map[string][]Type, error) {
	d, err := unpack(frame)
	if err != nil {
		return nil, err
	}
	d.nodes = make([]Node, d.size())
	for i := range d.nodes {
		d.node(i)
	}
	for _, u := range d.unions {
		u.resolve(d.nodes)
	}
	types := map[string][]Type{}
	for range d.size() {
		t := Type{Name: d.text(), Version: d.text(), Body: d.at(d.number())}
		_, writable := d.number(), d.number()
		for range d.size() { // actions
			d.text()
			d.number()
			if d.number() == 1 {
				d.number()
			}
		}
		if writable != 0 {
			key := strings.ToLower(t.Name)
			types[key] = append(types[key], t)
		}
	}
	if d.failed || len(d.rest) > 0 {
		return nil, errTruncated
	}
	return types, nil
}

// decoder reads numbers and texts. After a failure it returns zero values.
type decoder struct {
	rest   []byte
	failed bool
	texts  []string
	nodes  []Node
	unions []union
}

// union is a node whose elements may not be read yet.
type union struct {
	node     int
	elements []int
}

// resolve makes the node a choice of its literals, which is open if it has a text too. A union
// with any other element accepts everything.
func (u union) resolve(nodes []Node) {
	n := &nodes[u.node]
	n.Kind = Choice
	for _, at := range u.elements {
		switch element := nodes[at]; {
		case element.Kind == Text:
			n.Kind = OpenChoice
		case element.Kind == Choice && len(element.Values) == 1:
			n.Values = append(n.Values, element.Values[0])
		default:
			*n = Node{Kind: Any}
			return
		}
	}
}

// node reads the node at a position. Bounds and marks of secrets are left out.
func (d *decoder) node(at int) {
	n := &d.nodes[at]
	kind, bits := d.number(), d.number()
	for _, bound := range []int{hasMinimum, hasMaximum} {
		if bits&bound != 0 {
			d.skip()
		}
	}
	if bits&hasPattern != 0 {
		d.text()
	}
	switch kind {
	case packedAny:
		n.Kind = Any
	case packedBoolean:
		n.Kind = Boolean
	case packedText:
		n.Kind = Text
	case packedLiteral:
		n.Kind, n.Values = Choice, []string{d.text()}
	case packedInteger:
		n.Kind = Integer
	case packedList:
		n.Kind, n.Item = List, d.at(d.number())
	case packedObject:
		n.Kind, n.Name, n.Fields = Object, d.text(), d.properties()
		if bits&hasAdditional != 0 {
			n.Additional = d.at(d.number())
		}
	case packedUnion:
		u := union{node: at, elements: make([]int, d.size())}
		for i := range u.elements {
			u.elements[i] = d.number()
			d.at(u.elements[i])
		}
		d.unions = append(d.unions, u)
	case packedDiscriminated:
		n.Kind, n.Name, n.Fields, n.Discriminator = Variants, d.text(), d.properties(), d.text()
		n.Variants = map[string]*Node{}
		for range d.size() {
			value := d.text()
			n.Variants[value] = d.at(d.number())
		}
	default:
		d.failed = true
	}
}

func (d *decoder) properties() []*Property {
	properties := make([]Property, d.size())
	fields := make([]*Property, len(properties))
	for i := range properties {
		properties[i] = Property{Name: d.text(), Flags: d.number(), Type: d.at(d.number())}
		fields[i] = &properties[i]
	}
	return fields
}

// at returns the node at a position, which may not be read yet.
func (d *decoder) at(position int) *Node {
	if position >= len(d.nodes) {
		d.failed = true
		return &Node{}
	}
	return &d.nodes[position]
}

func (d *decoder) number() int {
	value, length := binary.Uvarint(d.rest)
	if length <= 0 || value > 1<<31 {
		d.failed, d.rest = true, nil
		return 0
	}
	d.rest = d.rest[length:]
	return int(value)
}

// skip passes a number of any size.
func (d *decoder) skip() {
	end := slices.IndexFunc(d.rest, func(b byte) bool { return b < 0x80 })
	if end < 0 {
		d.failed, d.rest = true, nil
		return
	}
	d.rest = d.rest[end+1:]
}

// size reads the length of a list or part: each entry has at least one byte.
func (d *decoder) size() int {
	size := d.number()
	if size > len(d.rest) {
		d.failed, d.rest = true, nil
		return 0
	}
	return size
}

func (d *decoder) cut(size int) []byte {
	if size > len(d.rest) {
		d.failed, d.rest = true, nil
		return nil
	}
	out := d.rest[:size]
	d.rest = d.rest[size:]
	return out
}

func (d *decoder) text() string {
	number := d.number()
	if number >= len(d.texts) {
		d.failed = true
		return ""
	}
	return d.texts[number]
}
