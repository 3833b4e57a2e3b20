package types

import (
	"encoding/binary"
	"errors"
	"fmt"
	"sync"

	"github.com/klauspost/compress/zstd"
)

// magic starts the packed file, whose format internal/azuretypes describes.
const magic = "ARMATURE-TYPES-1\n"

// Bits of a node, after its kind.
const (
	bitMin = 1 << iota
	bitMax
	bitPattern
	bitSensitive
	bitAdditional
)

// provider is a resource provider; its frame is decoded at the first use.
type provider struct {
	name string
	load func() ([]Shape, error)
}

// resource returns a copy of the shape at a position of the frame; nil if the frame is
// damaged, which a test excludes.
func (p *provider) resource(at int) *Shape {
	shapes, err := p.load()
	if err != nil || at >= len(shapes) {
		return nil
	}
	shape := shapes[at]
	return &shape
}

// readIndex decodes the directory.
func readIndex(data []byte) (*index, error) {
	if len(data) < len(magic) || string(data[:len(magic)]) != magic {
		return nil, errors.New("read types: not a file of published types of this format")
	}
	data = data[len(magic):]
	length, n := binary.Uvarint(data)
	if n <= 0 || uint64(len(data)-n) < length {
		return nil, errors.New("read types: the directory is cut off")
	}
	in, err := newReader(data[n : n+int(length)])
	if err != nil {
		return nil, fmt.Errorf("read directory of types: %w", err)
	}
	frames := data[n+int(length):]
	x := &index{providers: make([]*provider, in.number())}
	for i := range x.providers {
		p := &provider{name: in.text()}
		size := in.number()
		if in.failed || size > len(frames) {
			return nil, errors.New("read types: a frame is cut off")
		}
		frame := frames[:size]
		frames = frames[size:]
		p.load = sync.OnceValues(func() ([]Shape, error) { return readFrame(frame) })
		x.providers[i] = p
	}
	x.types = make([]publishedType, in.number())
	for i := range x.types {
		t := publishedType{key: in.text(), name: in.text(), provider: x.provider(in.number())}
		t.versions = make([]publishedVersion, in.number())
		for j := range t.versions {
			t.versions[j] = publishedVersion{name: in.text(), writable: in.number() == 1, resource: in.number()}
		}
		x.types[i] = t
	}
	if in.failed {
		return nil, errors.New("read types: the directory is cut off")
	}
	return x, nil
}

// provider returns the provider at a position; an empty one if there is none.
func (x *index) provider(at int) *provider {
	if at >= len(x.providers) {
		return &provider{load: func() ([]Shape, error) { return nil, nil }}
	}
	return x.providers[at]
}

// reader reads numbers and texts of a decompressed part. After the first failure all
// reads return zero values.
type reader struct {
	rest   []byte
	texts  []string
	failed bool
}

// newReader decompresses a part and reads its table of texts.
func newReader(compressed []byte) (*reader, error) {
	decoder, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true))
	if err != nil {
		return nil, err
	}
	defer decoder.Close()
	raw, err := decoder.DecodeAll(compressed, nil)
	if err != nil {
		return nil, err
	}
	r := &reader{rest: raw}
	count, size := r.number(), r.number()
	lengths := make([]int, count)
	for i := range lengths {
		lengths[i] = r.number()
	}
	if r.failed || size > len(r.rest) {
		return nil, errors.New("the table of texts is cut off")
	}
	all := string(r.rest[:size])
	r.rest = r.rest[size:]
	r.texts = make([]string, count)
	for i, length := range lengths {
		if length > len(all) {
			return nil, errors.New("the table of texts is cut off")
		}
		r.texts[i], all = all[:length], all[length:]
	}
	return r, nil
}

func (r *reader) number() int { return int(r.uvarint()) }

func (r *reader) uvarint() uint64 {
	value, n := binary.Uvarint(r.rest)
	if n <= 0 {
		r.failed, r.rest = true, nil
		return 0
	}
	r.rest = r.rest[n:]
	return value
}

func (r *reader) signed() *int64 {
	value, n := binary.Varint(r.rest)
	if n <= 0 {
		r.failed, r.rest = true, nil
		return nil
	}
	r.rest = r.rest[n:]
	return &value
}

func (r *reader) text() string {
	at := r.number()
	if at >= len(r.texts) {
		r.failed = true
		return ""
	}
	return r.texts[at]
}

// readFrame decodes the nodes and resources of a provider.
func readFrame(compressed []byte) ([]Shape, error) {
	in, err := newReader(compressed)
	if err != nil {
		return nil, err
	}
	f := frame{reader: in, nodes: make([]Node, in.number())}
	for i := range f.nodes {
		f.readNode(&f.nodes[i])
	}
	shapes := make([]Shape, in.number())
	for i := range shapes {
		shapes[i] = f.readResource()
	}
	if in.failed || len(in.rest) > 0 {
		return nil, errors.New("the frame is damaged")
	}
	return shapes, nil
}

// frame is a provider's frame while it is decoded.
type frame struct {
	*reader
	nodes []Node
}

func (f *frame) node() *Node {
	at := f.number()
	if at >= len(f.nodes) {
		f.failed = true
		return nil
	}
	return &f.nodes[at]
}

func (f *frame) readNode(n *Node) {
	n.Kind = Kind(f.number())
	bits := f.number()
	n.Sensitive = bits&bitSensitive != 0
	if bits&(bitMin|bitMax|bitPattern) != 0 {
		n.Bounds = &Bounds{}
		if bits&bitMin != 0 {
			n.Bounds.Min = f.signed()
		}
		if bits&bitMax != 0 {
			n.Bounds.Max = f.signed()
		}
		if bits&bitPattern != 0 {
			n.Bounds.Pattern = f.text()
		}
	}
	switch n.Kind {
	case Literal:
		n.Name = f.text()
	case List:
		n.Item = f.node()
	case Union:
		n.Elements = make([]*Node, f.count())
		for i := range n.Elements {
			n.Elements[i] = f.node()
		}
	case Object:
		n.Name, n.Properties = f.text(), f.properties()
		if bits&bitAdditional != 0 {
			n.Additional = f.node()
		}
	case Discriminated:
		n.Name, n.Properties, n.Discriminator = f.text(), f.properties(), f.text()
		n.Variants = make([]Variant, f.count())
		for i := range n.Variants {
			n.Variants[i] = Variant{Value: f.text(), Type: f.node()}
		}
	}
}

// count returns a number of things that each take at least a byte.
func (f *frame) count() int {
	n := f.number()
	if n > len(f.rest) {
		f.failed = true
		return 0
	}
	return n
}

func (f *frame) properties() []Property {
	properties := make([]Property, f.count())
	for i := range properties {
		properties[i] = Property{Name: f.text(), Flags: Flags(f.number()), Type: f.node()}
	}
	return properties
}

func (f *frame) readResource() Shape {
	s := Shape{
		Type: f.text(), Version: f.text(), Body: f.node(),
		Readable: Scope(f.number()), Writable: Scope(f.number()),
	}
	s.Actions = make([]Action, f.count())
	for i := range s.Actions {
		s.Actions[i] = Action{Name: f.text(), Output: f.node()}
		if f.number() == 1 {
			s.Actions[i].Input = f.node()
		}
	}
	return s
}
