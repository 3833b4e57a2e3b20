package main

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"slices"
	"strings"

	"github.com/klauspost/compress/zstd"

	"github.com/armature-io/armature/types"
)

// magic starts the packed file.
const magic = "ARMATURE-TYPES-1\n"

// Bits of a node, after its kind.
const (
	bitMin = 1 << iota
	bitMax
	bitPattern
	bitSensitive
	bitAdditional
)

// encode returns the packed file of shapes (internal/azuretypes has its format). Nodes that are the same pointer are written
// once per provider. The names of the types decide the provider.
func encode(shapes []types.Shape) ([]byte, error) {
	compressor, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedBestCompression), zstd.WithWindowSize(8<<20))
	if err != nil {
		return nil, err
	}
	defer func() { _ = compressor.Close() }()
	shapes = slices.Clone(shapes)
	slices.SortStableFunc(shapes, func(a, b types.Shape) int {
		return cmp.Or(strings.Compare(strings.ToLower(a.Type), strings.ToLower(b.Type)), strings.Compare(a.Version, b.Version))
	})
	byProvider := map[string][]types.Shape{}
	var keys []string
	for i, s := range shapes {
		if i > 0 && strings.EqualFold(s.Type, shapes[i-1].Type) && s.Version == shapes[i-1].Version {
			return nil, fmt.Errorf("encode types: %s@%s is given twice", s.Type, s.Version)
		}
		key, _, _ := strings.Cut(strings.ToLower(s.Type), "/")
		if byProvider[key] == nil {
			keys = append(keys, key)
		}
		byProvider[key] = append(byProvider[key], s)
	}
	directory, frames := newWriter(), []byte(nil)
	directory.number(len(keys))
	for _, key := range keys {
		name, _, _ := strings.Cut(newestOf(byProvider[key]).Type, "/")
		frame := compressor.EncodeAll(encodeFrame(byProvider[key]), nil)
		directory.text(name)
		directory.number(len(frame))
		frames = append(frames, frame...)
	}
	writeDirectory(directory, keys, byProvider)
	compressed := compressor.EncodeAll(directory.bytes(), nil)
	out := binary.AppendUvarint([]byte(magic), uint64(len(compressed)))
	return slices.Concat(out, compressed, frames), nil
}

// newestOf returns the shape of the newest version.
func newestOf(shapes []types.Shape) types.Shape {
	return slices.MaxFunc(shapes, func(a, b types.Shape) int { return strings.Compare(a.Version, b.Version) })
}

// writeDirectory writes the types of all providers with their versions.
func writeDirectory(w *writer, keys []string, byProvider map[string][]types.Shape) {
	type entry struct{ provider, first, count int }
	var entries []entry
	for p, key := range keys {
		for i, s := range byProvider[key] {
			if i > 0 && strings.EqualFold(s.Type, byProvider[key][i-1].Type) {
				entries[len(entries)-1].count++
				continue
			}
			entries = append(entries, entry{provider: p, first: i, count: 1})
		}
	}
	// Keys are compared byte by byte: "a-b" sorts before "a/b".
	name := func(e entry) string { return strings.ToLower(byProvider[keys[e.provider]][e.first].Type) }
	slices.SortFunc(entries, func(a, b entry) int { return strings.Compare(name(a), name(b)) })
	w.number(len(entries))
	for _, e := range entries {
		versions := byProvider[keys[e.provider]][e.first : e.first+e.count]
		w.text(name(e))
		w.text(versions[len(versions)-1].Type)
		w.number(e.provider)
		w.number(len(versions))
		for i, s := range versions {
			w.text(s.Version)
			w.flag(s.Writable != 0)
			w.number(e.first + i)
		}
	}
}

// encodeFrame returns the frame of a provider, not compressed.
func encodeFrame(shapes []types.Shape) []byte {
	w := newWriter()
	nodes := nodeTable{positions: map[*types.Node]int{}}
	for _, s := range shapes {
		nodes.add(s.Body)
		for _, action := range s.Actions {
			nodes.add(action.Output)
			nodes.add(action.Input)
		}
	}
	w.number(len(nodes.order))
	for _, n := range nodes.order {
		w.node(n, nodes)
	}
	w.number(len(shapes))
	for _, s := range shapes {
		w.text(s.Type)
		w.text(s.Version)
		w.number(nodes.positions[s.Body])
		w.number(int(s.Readable))
		w.number(int(s.Writable))
		w.number(len(s.Actions))
		for _, action := range s.Actions {
			w.text(action.Name)
			w.number(nodes.positions[action.Output])
			w.flag(action.Input != nil)
			if action.Input != nil {
				w.number(nodes.positions[action.Input])
			}
		}
	}
	return w.bytes()
}

// nodeTable has the nodes of a frame, members before the objects that contain them.
type nodeTable struct {
	order     []*types.Node
	positions map[*types.Node]int
}

func (t *nodeTable) add(n *types.Node) {
	if n == nil {
		return
	}
	if _, known := t.positions[n]; known {
		return
	}
	t.positions[n] = -1 // a node may contain itself
	for _, p := range n.Properties {
		t.add(p.Type)
	}
	for _, v := range n.Variants {
		t.add(v.Type)
	}
	for _, element := range n.Elements {
		t.add(element)
	}
	t.add(n.Item)
	t.add(n.Additional)
	t.positions[n] = len(t.order)
	t.order = append(t.order, n)
}

// writer collects numbers and texts.
type writer struct {
	body  []byte
	texts []string
	known map[string]int
}

func newWriter() *writer { return &writer{known: map[string]int{}} }

func (w *writer) number(n int) { w.body = binary.AppendUvarint(w.body, uint64(n)) }

func (w *writer) flag(set bool) {
	if set {
		w.number(1)
	} else {
		w.number(0)
	}
}

func (w *writer) text(text string) {
	at, known := w.known[text]
	if !known {
		at = len(w.texts)
		w.known[text], w.texts = at, append(w.texts, text)
	}
	w.number(at)
}

// bytes returns the table of texts and the body.
func (w *writer) bytes() []byte {
	all := strings.Join(w.texts, "")
	out := binary.AppendUvarint(nil, uint64(len(w.texts)))
	out = binary.AppendUvarint(out, uint64(len(all)))
	for _, text := range w.texts {
		out = binary.AppendUvarint(out, uint64(len(text)))
	}
	return slices.Concat(out, []byte(all), w.body)
}

func (w *writer) node(n *types.Node, nodes nodeTable) {
	bits := 0
	set := func(bit int, when bool) {
		if when {
			bits |= bit
		}
	}
	bounds := types.Bounds{}
	if n.Bounds != nil {
		bounds = *n.Bounds
	}
	set(bitMin, bounds.Min != nil)
	set(bitMax, bounds.Max != nil)
	set(bitPattern, bounds.Pattern != "")
	set(bitSensitive, n.Sensitive)
	set(bitAdditional, n.Additional != nil)
	w.number(int(n.Kind))
	w.number(bits)
	for _, bound := range []*int64{bounds.Min, bounds.Max} {
		if bound != nil {
			w.body = binary.AppendVarint(w.body, *bound)
		}
	}
	if bounds.Pattern != "" {
		w.text(bounds.Pattern)
	}
	w.members(n, nodes.positions)
}

func (w *writer) members(n *types.Node, positions map[*types.Node]int) {
	properties := func() {
		w.number(len(n.Properties))
		for _, p := range n.Properties {
			w.text(p.Name)
			w.number(int(p.Flags))
			w.number(positions[p.Type])
		}
	}
	switch n.Kind {
	case types.Literal:
		w.text(n.Name)
	case types.List:
		w.number(positions[n.Item])
	case types.Union:
		w.number(len(n.Elements))
		for _, element := range n.Elements {
			w.number(positions[element])
		}
	case types.Object:
		w.text(n.Name)
		properties()
		if n.Additional != nil {
			w.number(positions[n.Additional])
		}
	case types.Discriminated:
		w.text(n.Name)
		properties()
		w.text(n.Discriminator)
		w.number(len(n.Variants))
		for _, v := range n.Variants {
			w.text(v.Value)
			w.number(positions[v.Type])
		}
	}
}
