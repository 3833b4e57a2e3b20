package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"

	"github.com/klauspost/compress/zstd"
)

// packedRef names a node by the number of its line.
type packedRef struct {
	Ref int `json:"$ref"`
}

type packedProperty struct {
	Type  packedRef `json:"type"`
	Flags int       `json:"flags"`
}

// packedNode is one line of the packed descriptions: a JSON object per distinct node.
type packedNode struct {
	Kind          string                    `json:"$type"`
	Name          string                    `json:"name"`
	Value         string                    `json:"value"`
	Body          packedRef                 `json:"body"`
	Writable      int                       `json:"writableScopes"`
	Properties    map[string]packedProperty `json:"properties"`
	Base          map[string]packedProperty `json:"baseProperties"`
	Additional    *packedRef                `json:"additionalProperties"`
	Discriminator string                    `json:"discriminator"`
	Item          packedRef                 `json:"itemType"`
	// Elements is a map in an object with a discriminator, and a list in a union.
	Elements json.RawMessage `json:"elements"`
}

// writeArmsim writes the data file of the simulator's reader (armsim/published) from the
// packed descriptions, a zstd file with one node per line.
func writeArmsim(path string, out io.Writer) error {
	nodes, err := readPacked(path)
	if err != nil {
		return err
	}
	encoded, err := encodeArmsim(nodes)
	if err != nil {
		return fmt.Errorf("encode %s: %w", path, err)
	}
	_, err = out.Write(encoded)
	return err
}

// readPacked reads the nodes. Every reference in them resolves.
func readPacked(path string) ([]packedNode, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }() // only read
	unpacked, err := zstd.NewReader(file)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", path, err)
	}
	defer unpacked.Close()
	var nodes []packedNode
	lines := bufio.NewReader(unpacked)
	for {
		line, err := lines.ReadBytes('\n')
		if line = bytes.TrimSpace(line); len(line) > 0 {
			var n packedNode
			if err := json.Unmarshal(line, &n); err != nil {
				return nil, fmt.Errorf("read %s, line %d: %w", path, len(nodes)+1, err)
			}
			nodes = append(nodes, n)
		}
		if err == io.EOF {
			break
		}
		if err != nil {
			return nil, fmt.Errorf("read %s: %w", path, err)
		}
	}
	for i, n := range nodes {
		refs, err := n.references()
		if err != nil {
			return nil, fmt.Errorf("read %s, line %d: %w", path, i+1, err)
		}
		for _, ref := range refs {
			if ref.Ref < 0 || ref.Ref >= len(nodes) {
				return nil, fmt.Errorf("read %s, line %d: no node %d", path, i+1, ref.Ref)
			}
		}
	}
	return nodes, nil
}

// references returns the nodes that a node names.
func (n packedNode) references() ([]packedRef, error) {
	var refs []packedRef
	for _, members := range []map[string]packedProperty{n.Properties, n.Base} {
		for _, member := range members {
			refs = append(refs, member.Type)
		}
	}
	switch n.Kind {
	case "ResourceType":
		refs = append(refs, n.Body)
	case "ArrayType":
		refs = append(refs, n.Item)
	case "UnionType":
		elements, err := n.union()
		if err != nil {
			return nil, err
		}
		refs = append(refs, elements...)
	case "DiscriminatedObjectType":
		elements, err := n.variants()
		if err != nil {
			return nil, err
		}
		for _, element := range elements {
			refs = append(refs, element)
		}
	}
	if n.Additional != nil {
		refs = append(refs, *n.Additional)
	}
	return refs, nil
}

func (n packedNode) union() (elements []packedRef, err error) {
	if err = json.Unmarshal(n.Elements, &elements); err != nil {
		return nil, fmt.Errorf("read elements: %w", err)
	}
	return elements, nil
}

func (n packedNode) variants() (elements map[string]packedRef, err error) {
	if err = json.Unmarshal(n.Elements, &elements); err != nil {
		return nil, fmt.Errorf("read elements: %w", err)
	}
	return elements, nil
}
