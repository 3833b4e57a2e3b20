package main

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/klauspost/compress/zstd"

	"github.com/armature-io/armature/types"
)

// readShapes returns the shapes of all resource types of a source: a folder as bicep-types-az
// has it, or one zstd file with a node per line, in which the number of a reference is the
// number of a line. If a type is published twice in one version, the shape with more
// properties counts.
func readShapes(from string) ([]types.Shape, error) {
	info, err := os.Stat(from)
	if err != nil {
		return nil, err
	}
	b := builder{interned: map[string]*types.Node{}, actions: map[string][]types.Action{}}
	if info.IsDir() {
		err = b.readFolder(from)
	} else {
		err = b.readLines(from)
	}
	if err != nil {
		return nil, err
	}
	return b.finish(), nil
}

// typeReference is the number of a node, written as 12 or as "#/12".
type typeReference int

func (r *typeReference) UnmarshalJSON(raw []byte) error {
	var wrapped struct {
		Ref json.RawMessage `json:"$ref"`
	}
	if err := json.Unmarshal(raw, &wrapped); err != nil {
		return err
	}
	number, err := strconv.Atoi(strings.TrimPrefix(strings.Trim(string(wrapped.Ref), `"`), "#/"))
	*r = typeReference(number)
	return err
}

type typeProperty struct {
	Type  typeReference `json:"type"`
	Flags int           `json:"flags"`
}

// typeNode is a node of the source.
type typeNode struct {
	Kind          string                  `json:"$type"`
	Name          string                  `json:"name"`
	Body          *typeReference          `json:"body"`
	Readable      int                     `json:"readableScopes"`
	Writable      int                     `json:"writableScopes"`
	Properties    map[string]typeProperty `json:"properties"`
	Base          map[string]typeProperty `json:"baseProperties"`
	Discriminator string                  `json:"discriminator"`
	Additional    *typeReference          `json:"additionalProperties"`
	Elements      json.RawMessage         `json:"elements"`
	Item          *typeReference          `json:"itemType"`
	Sensitive     bool                    `json:"sensitive"`
	MinLength     *int64                  `json:"minLength"`
	MaxLength     *int64                  `json:"maxLength"`
	MinValue      *int64                  `json:"minValue"`
	MaxValue      *int64                  `json:"maxValue"`
	Pattern       string                  `json:"pattern"`
	Value         string                  `json:"value"`
	ResourceType  string                  `json:"resourceType"`
	APIVersion    string                  `json:"apiVersion"`
	Output        *typeReference          `json:"output"`
	Input         *typeReference          `json:"input"`
}

// builder turns the nodes of a source into shapes.
type builder struct {
	shapes []types.Shape
	// actions are the actions of a type@version in lower case.
	actions map[string][]types.Action
	// interned are the nodes by their content, so that equal ones are one.
	interned map[string]*types.Node

	nodes []typeNode
	built []*types.Node
}

func (b *builder) readLines(path string) error {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer func() { _ = file.Close() }()
	decoder, err := zstd.NewReader(file)
	if err != nil {
		return err
	}
	defer decoder.Close()
	lines := bufio.NewReader(decoder)
	var nodes []typeNode
	for {
		line, err := lines.ReadBytes('\n')
		if len(bytes.TrimSpace(line)) > 0 {
			var n typeNode
			if err := json.Unmarshal(line, &n); err != nil {
				return fmt.Errorf("read %s, line %d: %w", path, len(nodes)+1, err)
			}
			nodes = append(nodes, n)
		}
		if err == io.EOF {
			return b.add(path, nodes)
		}
		if err != nil {
			return fmt.Errorf("read %s: %w", path, err)
		}
	}
}

func (b *builder) readFolder(folder string) error {
	d, err := openDescriptions(folder)
	if err != nil {
		return err
	}
	for _, name := range d.files() {
		var nodes []typeNode
		path := filepath.Join(folder, name)
		if err := readJSON(path, &nodes); err != nil {
			return err
		}
		if err := b.add(path, nodes); err != nil {
			return err
		}
	}
	return nil
}

// add builds the shapes of a file whose references resolve in it.
func (b *builder) add(path string, nodes []typeNode) error {
	b.nodes, b.built = nodes, make([]*types.Node, len(nodes))
	for _, n := range nodes {
		if err := b.addNode(n); err != nil {
			return fmt.Errorf("read %s: %s %s%s: %w", path, n.Kind, n.ResourceType, n.Name, err)
		}
	}
	return nil
}

func (b *builder) addNode(n typeNode) error {
	switch n.Kind {
	case "ResourceType":
		name, version, _ := strings.Cut(n.Name, "@")
		body, err := b.node(n.Body)
		b.shapes = append(b.shapes, types.Shape{
			Type: name, Version: version, Body: body, Readable: types.Scope(n.Readable), Writable: types.Scope(n.Writable),
		})
		return err
	case "ResourceFunctionType":
		action := types.Action{Name: n.Name}
		var err error
		if action.Output, err = b.node(n.Output); err != nil {
			return err
		}
		if n.Input != nil {
			if action.Input, err = b.node(n.Input); err != nil {
				return err
			}
		}
		key := strings.ToLower(n.ResourceType + "@" + n.APIVersion)
		b.actions[key] = append(b.actions[key], action)
	}
	return nil
}

// finish returns one shape per type@version, with its actions.
func (b *builder) finish() []types.Shape {
	best := map[string]types.Shape{}
	for _, s := range b.shapes {
		key := strings.ToLower(s.Type + "@" + s.Version)
		if other, twice := best[key]; twice && len(other.Body.Properties) >= len(s.Body.Properties) {
			continue
		}
		s.Actions = slices.SortedFunc(slices.Values(b.actions[key]), func(x, y types.Action) int { return cmp.Compare(x.Name, y.Name) })
		s.Actions = slices.CompactFunc(s.Actions, func(x, y types.Action) bool { return x.Name == y.Name })
		best[key] = s
	}
	return slices.Collect(maps.Values(best))
}
