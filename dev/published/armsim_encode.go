package main

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/klauspost/compress/zstd"
)

// Kinds of nodes in the simulator's data file.
const (
	kindAny = iota
	kindText
	kindInteger
	kindBoolean
	kindChoice
	kindOpenChoice
	kindList
	kindObject
	kindVariants
)

// encodeArmsim returns the data file: the index of the providers, and one zstd frame for
// each of them, so that a reader decodes only the providers it needs. armsim/published
// describes the form.
//
// It contains the types that can be written, in all their versions. Resource functions,
// bounds and patterns are left out. Of two types with the same name and version the one
// with more properties counts.
func encodeArmsim(nodes []packedNode) ([]byte, error) {
	providers := map[string]map[string]int{} // provider, Type@version, line of the body
	for _, n := range nodes {
		if n.Kind != "ResourceType" || n.Writable == 0 {
			continue
		}
		namespace, _, _ := strings.Cut(n.Name, "/")
		namespace = strings.ToLower(namespace)
		if providers[namespace] == nil {
			providers[namespace] = map[string]int{}
		}
		if other, twice := providers[namespace][n.Name]; !twice || nodes[n.Body.Ref].size() > nodes[other].size() {
			providers[namespace][n.Name] = n.Body.Ref
		}
	}
	packer, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedBestCompression), zstd.WithWindowSize(8<<20))
	if err != nil {
		return nil, err
	}
	var index, frames []byte
	index = binary.AppendUvarint(index, uint64(len(providers)))
	for _, namespace := range slices.Sorted(maps.Keys(providers)) {
		e := frameEncoder{nodes: nodes, numbers: map[string]int{}, byLine: map[int]int{}}
		raw, err := e.encode(providers[namespace])
		if err != nil {
			return nil, fmt.Errorf("%s: %w", namespace, err)
		}
		frame := packer.EncodeAll(raw, nil)
		index = appendText(index, namespace)
		index = binary.AppendUvarint(index, uint64(len(frame)))
		index = binary.AppendUvarint(index, uint64(len(raw)))
		frames = append(frames, frame...)
	}
	return append(index, frames...), nil
}

// size returns the number of properties of a body.
func (n packedNode) size() int { return len(n.Properties) + len(n.Base) }

func appendText(to []byte, text string) []byte {
	return append(binary.AppendUvarint(to, uint64(len(text))), text...)
}

// frameEncoder encodes the types of one provider.
type frameEncoder struct {
	nodes   []packedNode
	byLine  map[int]int    // number of a node in the frame, by its line
	numbers map[string]int // of nodes without references, by their content
	bodies  [][]uint64     // by number: kind and fields, texts and properties by number
	texts   numbered[string]
	members numbered[member]
}

// member is a property: the same name, flags and type are stored once.
type member struct {
	name        string
	flags, node int
}

// numbered numbers values in the order of their first use.
type numbered[T comparable] struct {
	values  []T
	numbers map[T]int
}

func (n *numbered[T]) number(value T) int {
	if number, known := n.numbers[value]; known {
		return number
	}
	if n.numbers == nil {
		n.numbers = map[T]int{}
	}
	n.numbers[value] = len(n.values)
	n.values = append(n.values, value)
	return len(n.values) - 1
}

// encode returns the frame, not compressed: texts, properties, nodes, and the types with
// their versions.
func (e *frameEncoder) encode(bodies map[string]int) ([]byte, error) {
	names := slices.SortedFunc(maps.Keys(bodies), func(a, b string) int {
		return cmp.Or(strings.Compare(strings.ToLower(a), strings.ToLower(b)), strings.Compare(a, b))
	})
	var types []byte
	for _, name := range names {
		node, err := e.node(bodies[name])
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		types = binary.AppendUvarint(appendText(types, name), uint64(node))
	}
	// One column after the other, since that compresses better.
	var members, nodes []byte
	for _, m := range e.members.values {
		members = binary.AppendUvarint(members, uint64(e.texts.number(m.name)))
	}
	for _, m := range e.members.values {
		members = binary.AppendUvarint(members, uint64(m.flags))
	}
	previous := 0
	for _, m := range e.members.values {
		members = binary.AppendVarint(members, int64(m.node-previous))
		previous = m.node
	}
	for _, fields := range e.bodies {
		for _, field := range fields {
			nodes = binary.AppendUvarint(nodes, field)
		}
	}
	var out []byte
	out = binary.AppendUvarint(out, uint64(len(e.texts.values)))
	for _, text := range e.texts.values {
		out = appendText(out, text)
	}
	out = append(binary.AppendUvarint(out, uint64(len(e.members.values))), members...)
	out = append(binary.AppendUvarint(out, uint64(len(e.bodies))), nodes...)
	return append(binary.AppendUvarint(out, uint64(len(names))), types...), nil
}

// node returns the number of a node, and encodes it when it is new.
func (e *frameEncoder) node(line int) (int, error) {
	if number, known := e.byLine[line]; known {
		return number, nil
	}
	n := e.nodes[line]
	if fields, isLeaf, err := e.leaf(n); err != nil || isLeaf {
		content := fmt.Sprint(fields)
		number, known := e.numbers[content]
		if !known {
			number = len(e.bodies)
			e.bodies, e.numbers[content] = append(e.bodies, fields), number
		}
		e.byLine[line] = number
		return number, err
	}
	number := len(e.bodies)
	e.byLine[line], e.bodies = number, append(e.bodies, nil) // a type may contain itself
	fields, err := e.compound(n)
	e.bodies[number] = fields
	return number, err
}

// leaf encodes a node without references.
func (e *frameEncoder) leaf(n packedNode) (fields []uint64, isLeaf bool, err error) {
	switch n.Kind {
	case "AnyType":
		return []uint64{kindAny}, true, nil
	case "StringType":
		return []uint64{kindText}, true, nil
	case "IntegerType":
		return []uint64{kindInteger}, true, nil
	case "BooleanType":
		return []uint64{kindBoolean}, true, nil
	case "StringLiteralType":
		return []uint64{kindChoice, 1, uint64(e.texts.number(n.Value))}, true, nil
	case "UnionType":
		fields, err = e.choice(n)
		return fields, true, err
	}
	return nil, false, nil
}

// choice encodes a union: texts, and whether others are legal.
func (e *frameEncoder) choice(n packedNode) ([]uint64, error) {
	elements, err := n.union()
	if err != nil {
		return nil, err
	}
	kind, values := uint64(kindChoice), []uint64{}
	for _, element := range elements {
		switch target := e.nodes[element.Ref]; target.Kind {
		case "StringType":
			kind = kindOpenChoice
		case "StringLiteralType":
			values = append(values, uint64(e.texts.number(target.Value)))
		default:
			return nil, fmt.Errorf("a union of %s, which the form cannot express", target.Kind)
		}
	}
	return slices.Concat([]uint64{kind, uint64(len(values))}, values), nil
}

// compound encodes a node with references.
func (e *frameEncoder) compound(n packedNode) ([]uint64, error) {
	switch n.Kind {
	case "ArrayType":
		item, err := e.node(n.Item.Ref)
		return []uint64{kindList, uint64(item)}, err
	case "ObjectType":
		additional := 0 // 0: none, else the number of the node and 1
		if n.Additional != nil {
			node, err := e.node(n.Additional.Ref)
			if err != nil {
				return nil, err
			}
			additional = node + 1
		}
		properties, err := e.properties(n.Properties)
		return slices.Concat([]uint64{kindObject, uint64(e.texts.number(n.Name)), uint64(additional)}, properties), err
	case "DiscriminatedObjectType":
		return e.variants(n)
	}
	return nil, fmt.Errorf("a node of kind %q, which the form cannot express", n.Kind)
}

func (e *frameEncoder) properties(of map[string]packedProperty) ([]uint64, error) {
	fields := []uint64{uint64(len(of))}
	for _, name := range slices.Sorted(maps.Keys(of)) {
		node, err := e.node(of[name].Type.Ref)
		if err != nil {
			return nil, err
		}
		fields = append(fields, uint64(e.members.number(member{name, of[name].Flags, node})))
	}
	return fields, nil
}

func (e *frameEncoder) variants(n packedNode) ([]uint64, error) {
	base, err := e.properties(n.Base)
	if err != nil {
		return nil, err
	}
	elements, err := n.variants()
	if err != nil {
		return nil, err
	}
	fields := slices.Concat([]uint64{kindVariants, uint64(e.texts.number(n.Name)), uint64(e.texts.number(n.Discriminator))}, base)
	fields = append(fields, uint64(len(elements)))
	for _, value := range slices.Sorted(maps.Keys(elements)) {
		node, err := e.node(elements[value].Ref)
		if err != nil {
			return nil, err
		}
		fields = append(fields, uint64(e.texts.number(value)), uint64(node))
	}
	return fields, nil
}
