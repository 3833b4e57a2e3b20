package published

import (
	"encoding/binary"
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/klauspost/compress/zstd"
)

var errTruncated = errors.New("the data ends too early, or a number in it is out of range")

// provider is a frame, and its types once they are decoded: by type in lower case, in
// ascending order of their versions.
type provider struct {
	types func() (map[string][]Type, error)
}

// readIndex reads the index and cuts the frames.
func readIndex(from []byte) (map[string]*provider, error) {
	d := decoder{rest: from}
	count := d.size()
	type entry struct {
		namespace string
		size, raw int
	}
	entries := make([]entry, 0, count)
	for range count {
		entries = append(entries, entry{d.text(), d.size(), d.number()})
	}
	index := make(map[string]*provider, count)
	for _, e := range entries {
		frame := d.cut(e.size)
		index[e.namespace] = &provider{sync.OnceValues(func() (map[string][]Type, error) { return readFrame(frame, e.raw) })}
	}
	if d.failed || len(d.rest) > 0 {
		return nil, fmt.Errorf("read the index of the published types: %w", errTruncated)
	}
	return index, nil
}

// readFrame decodes a frame.
func readFrame(frame []byte, size int) (map[string][]Type, error) {
	unpacker, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1))
	if err != nil {
		return nil, err
	}
	defer unpacker.Close()
	raw, err := unpacker.DecodeAll(frame, make([]byte, 0, size))
	if err != nil {
		return nil, err
	}
	d := decoder{rest: raw}
	d.texts = make([]string, d.size())
	for i := range d.texts {
		d.texts[i] = d.text()
	}
	fields := make([]Property, d.size())
	for i := range fields {
		fields[i].Name = d.knownText()
	}
	for i := range fields {
		fields[i].Flags = d.number()
	}
	numbers, last := make([]int, len(fields)), 0
	for i := range fields {
		last += d.difference()
		numbers[i] = last
	}
	d.fields, d.nodes = fields, make([]Node, d.size())
	for i, number := range numbers {
		fields[i].Type = d.at(number)
	}
	for i := range d.nodes {
		d.node(&d.nodes[i])
	}
	types := map[string][]Type{}
	for range d.size() {
		name, version, _ := strings.Cut(d.text(), "@")
		key := strings.ToLower(name)
		types[key] = append(types[key], Type{name, version, d.at(d.number())})
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
	fields []Property
	nodes  []Node
}

// node reads a node: its kind, and then for a choice its values; for a list its item;
// for an object its name, the type of further members (0: none, else 1 more than the
// number) and its properties; for variants the name, the discriminator, the common
// properties, and the variants with their values. Properties are their number in the
// table.
func (d *decoder) node(n *Node) {
	n.Kind = Kind(d.number())
	switch n.Kind {
	case Any, Text, Integer, Boolean:
	case Choice, OpenChoice:
		n.Values = make([]string, d.size())
		for i := range n.Values {
			n.Values[i] = d.knownText()
		}
	case List:
		n.Item = d.at(d.number())
	case Object:
		n.Name = d.knownText()
		if additional := d.number(); additional > 0 {
			n.Additional = d.at(additional - 1)
		}
		n.Fields = d.properties()
	case Variants:
		n.Name, n.Discriminator = d.knownText(), d.knownText()
		n.Fields = d.properties()
		count := d.size()
		n.Variants = make(map[string]*Node, count)
		for range count {
			value := d.knownText()
			n.Variants[value] = d.at(d.number())
		}
	default:
		d.failed = true
	}
}

func (d *decoder) properties() []*Property {
	fields := make([]*Property, d.size())
	for i := range fields {
		number := d.number()
		if number >= len(d.fields) {
			d.failed = true
			return nil
		}
		fields[i] = &d.fields[number]
	}
	return fields
}

// at returns the node with a number, which may not be read yet.
func (d *decoder) at(number int) *Node {
	if number < 0 || number >= len(d.nodes) {
		d.failed = true
		return &Node{}
	}
	return &d.nodes[number]
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

func (d *decoder) difference() int {
	value, length := binary.Varint(d.rest)
	if length <= 0 {
		d.failed, d.rest = true, nil
		return 0
	}
	d.rest = d.rest[length:]
	return int(value)
}

// size reads the length of a table or text: each entry has at least one byte.
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

func (d *decoder) text() string { return string(d.cut(d.size())) }

func (d *decoder) knownText() string {
	number := d.number()
	if number >= len(d.texts) {
		d.failed = true
		return ""
	}
	return d.texts[number]
}
