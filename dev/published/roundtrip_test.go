package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"

	"github.com/armature-io/armature/types"
)

// TestRoundTrip compares the shape of every published type@version, as package types
// decodes it, with the nodes of the source.
func TestRoundTrip(t *testing.T) {
	source := readSource(t)
	byName := map[string][]int{}
	actions := map[string]map[string]int{}
	for i, n := range source {
		switch n.Kind {
		case "ResourceType":
			byName[n.Name] = append(byName[n.Name], i)
		case "ResourceFunctionType":
			key := strings.ToLower(n.ResourceType + "@" + n.APIVersion)
			if actions[key] == nil {
				actions[key] = map[string]int{}
			}
			if _, twice := actions[key][n.Name]; !twice {
				actions[key][n.Name] = i
			}
		}
	}
	equal := 0
	for _, name := range slices.Sorted(maps.Keys(byName)) {
		typeName, version, _ := strings.Cut(name, "@")
		shape := types.Lookup(typeName, version)
		if shape == nil || !shape.Exact || shape.Version != version {
			t.Errorf("%s: not found", name)
			continue
		}
		// Some are published twice; one of them counts.
		var problems []string
		for _, at := range byName[name] {
			c := comparison{source: source, seen: map[pairing]bool{}}
			c.resource(shape, source[at], actions[strings.ToLower(name)])
			if problems = c.problems; len(problems) == 0 {
				break
			}
		}
		if len(problems) > 0 {
			t.Errorf("%s: %s", name, problems[0])
			continue
		}
		equal++
	}
	fmt.Printf("score types.roundtrip %d/%d\n", equal, len(byName))
}

// readSource reads the packed source, which is not part of the repository.
func readSource(t *testing.T) []typeNode {
	t.Helper()
	path := os.Getenv("AZURE_TYPES")
	if path == "" {
		path = filepath.Join("..", "..", "..", "shared", "types", "azure-types.jsonl.zst")
	}
	file, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		t.Skip("the published types are not part of the repository: set AZURE_TYPES to the packed file")
	}
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = file.Close() }()
	unpacked, err := zstd.NewReader(file)
	if err != nil {
		t.Fatal(err)
	}
	defer unpacked.Close()
	var nodes []typeNode
	lines := bufio.NewScanner(unpacked)
	lines.Buffer(nil, 16<<20)
	for lines.Scan() {
		var n typeNode
		if err := json.Unmarshal(lines.Bytes(), &n); err != nil {
			t.Fatal(err)
		}
		nodes = append(nodes, n)
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
	return nodes
}

type pairing struct {
	decoded *types.Node
	source  typeReference
}

// comparison compares decoded nodes with those of the source.
type comparison struct {
	source   []typeNode
	seen     map[pairing]bool
	problems []string
}

func (c *comparison) differ(path, format string, args ...any) {
	c.problems = append(c.problems, path+": "+fmt.Sprintf(format, args...))
}

func (c *comparison) resource(s *types.Shape, from typeNode, actions map[string]int) {
	if s.Type+"@"+s.Version != from.Name || int(s.Readable) != from.Readable || int(s.Writable) != from.Writable {
		c.differ("", "decoded %s@%s %d %d, source %s %d %d", s.Type, s.Version, s.Readable, s.Writable, from.Name, from.Readable, from.Writable)
	}
	c.node("body", s.Body, from.Body)
	if len(s.Actions) != len(actions) {
		c.differ("", "%d actions, source has %d", len(s.Actions), len(actions))
		return
	}
	for _, a := range s.Actions {
		at, found := actions[a.Name]
		if !found {
			c.differ(a.Name, "an action that the source does not have")
			continue
		}
		c.node(a.Name+".output", a.Output, c.source[at].Output)
		if (a.Input == nil) != (c.source[at].Input == nil) {
			c.differ(a.Name, "input %t", a.Input != nil)
		} else if a.Input != nil {
			c.node(a.Name+".input", a.Input, c.source[at].Input)
		}
	}
}

func (c *comparison) node(path string, n *types.Node, at *typeReference) {
	if at == nil || n == nil {
		if n != nil || at != nil {
			c.differ(path, "decoded %v, source %v", n, at)
		}
		return
	}
	key := pairing{n, *at}
	if c.seen[key] || len(c.problems) > 0 {
		return
	}
	c.seen[key] = true
	from := c.source[*at]
	kinds := map[string]types.Kind{
		"AnyType": types.Any, "BooleanType": types.Boolean, "StringType": types.Text, "StringLiteralType": types.Literal,
		"IntegerType": types.Integer, "ArrayType": types.List, "ObjectType": types.Object, "UnionType": types.Union,
		"DiscriminatedObjectType": types.Discriminated,
	}
	if kind, known := kinds[from.Kind]; !known || kind != n.Kind || n.Sensitive != from.Sensitive {
		c.differ(path, "kind %d sensitive %t, source %s %t", n.Kind, n.Sensitive, from.Kind, from.Sensitive)
		return
	}
	if n.Kind == types.Literal && n.Name != from.Value || n.Kind != types.Literal && n.Name != from.Name || n.Discriminator != from.Discriminator {
		c.differ(path, "name %q discriminator %q, source %q %q %q", n.Name, n.Discriminator, from.Name, from.Value, from.Discriminator)
	}
	c.bounds(path, n, from)
	c.node(path+"[]", n.Item, from.Item)
	c.node(path+".*", n.Additional, from.Additional)
	properties := from.Properties
	if n.Kind == types.Discriminated {
		properties = from.Base
	}
	if len(n.Properties) != len(properties) {
		c.differ(path, "%d properties, source has %d", len(n.Properties), len(properties))
		return
	}
	for i, p := range n.Properties {
		want, found := properties[p.Name]
		if !found || int(p.Flags) != want.Flags || i > 0 && n.Properties[i-1].Name >= p.Name {
			c.differ(path+"."+p.Name, "found %t, flags %d, source %d; or not sorted", found, p.Flags, want.Flags)
		}
		c.node(path+"."+p.Name, p.Type, &want.Type)
	}
	c.elements(path, n, from)
}

func (c *comparison) bounds(path string, n *types.Node, from typeNode) {
	var got types.Bounds
	if n.Bounds != nil {
		got = *n.Bounds
	}
	minimum, maximum := from.MinLength, from.MaxLength
	if n.Kind == types.Integer {
		minimum, maximum = from.MinValue, from.MaxValue
	}
	same := func(a, b *int64) bool { return (a == nil) == (b == nil) && (a == nil || *a == *b) }
	if got.Pattern != from.Pattern || !same(got.Min, minimum) || !same(got.Max, maximum) {
		c.differ(path, "other bounds than the source")
	}
}

func (c *comparison) elements(path string, n *types.Node, from typeNode) {
	switch n.Kind {
	case types.Union:
		var references []typeReference
		if err := json.Unmarshal(from.Elements, &references); err != nil || len(references) != len(n.Elements) {
			c.differ(path, "%d elements, source has %d (%v)", len(n.Elements), len(references), err)
			return
		}
		for i := range references {
			c.node(fmt.Sprintf("%s|%d", path, i), n.Elements[i], &references[i])
		}
	case types.Discriminated:
		var references map[string]typeReference
		if err := json.Unmarshal(from.Elements, &references); err != nil || len(references) != len(n.Variants) {
			c.differ(path, "%d variants, source has %d (%v)", len(n.Variants), len(references), err)
			return
		}
		for _, v := range n.Variants {
			reference, found := references[v.Value]
			if !found {
				c.differ(path, "a variant %q that the source does not have", v.Value)
				continue
			}
			c.node(path+"="+v.Value, v.Type, &reference)
		}
	}
}
