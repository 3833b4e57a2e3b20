package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"

	"github.com/armature-io/armature/armsim/published"
	"github.com/armature-io/armature/types"
)

// TestReadersAgree compares the simulator's reader of the published types with the
// product's, for every type and version that can be written: names, flags, kinds and
// allowed values.
func TestReadersAgree(t *testing.T) {
	all, err := published.All()
	if err != nil {
		t.Fatal(err)
	}
	count := 0
	for _, name := range types.Names(true) {
		for _, version := range types.Versions(name) {
			if shape := types.Lookup(name, version); shape != nil && shape.Writable != 0 {
				count++
			}
		}
	}
	if len(all) != count || count < 20_000 {
		t.Errorf("the simulator has %d types, the product %d", len(all), count)
	}
	c := readerComparison{known: map[nodePair]string{}}
	differences := 0
	for _, simulated := range all {
		shape := types.Lookup(simulated.Name, simulated.Version)
		if shape == nil || !shape.Exact {
			t.Errorf("the product has no %s@%s", simulated.Name, simulated.Version)
			continue
		}
		if difference := c.nodes(simulated.Body, shape.Body); difference != "" {
			differences++
			t.Errorf("%s@%s%s", simulated.Name, simulated.Version, difference)
		}
		if differences > 20 {
			t.Fatal("and so on")
		}
	}
	t.Logf("%d types compared, %d pairs of nodes", len(all), len(c.known))
}

type nodePair struct {
	simulated *published.Node
	product   *types.Node
}

// readerComparison remembers compared pairs, since types share nodes and contain themselves.
type readerComparison struct{ known map[nodePair]string }

// nodes returns the first difference with its path, or "".
func (c *readerComparison) nodes(simulated *published.Node, product *types.Node) string {
	key := nodePair{simulated, product}
	if difference, known := c.known[key]; known {
		return difference
	}
	c.known[key] = "" // so far
	difference := c.compare(simulated, product)
	c.known[key] = difference
	return difference
}

func (c *readerComparison) compare(simulated *published.Node, product *types.Node) string {
	kinds := map[published.Kind][]types.Kind{
		published.Any: {types.Any}, published.Text: {types.Text}, published.Integer: {types.Integer}, published.Boolean: {types.Boolean},
		published.Choice: {types.Literal, types.Union}, published.OpenChoice: {types.Union},
		published.List: {types.List}, published.Object: {types.Object}, published.Variants: {types.Discriminated},
	}
	if !slices.Contains(kinds[simulated.Kind], product.Kind) {
		return fmt.Sprintf(" is of kind %d and %d", simulated.Kind, product.Kind)
	}
	values, open := product.Values()
	if !slices.Equal(slices.Sorted(slices.Values(values)), slices.Sorted(slices.Values(simulated.Values))) || open != (simulated.Kind == published.OpenChoice) {
		return fmt.Sprintf(" has the values %v and %v (open: %v)", simulated.Values, values, open)
	}
	if (product.Kind == types.Object || product.Kind == types.Discriminated) && product.Name != simulated.Name {
		return fmt.Sprintf(" has the names %s and %s", simulated.Name, product.Name)
	}
	if difference := c.optional(simulated.Item, product.Item); difference != "" {
		return "[]" + difference
	}
	if difference := c.optional(simulated.Additional, product.Additional); difference != "" {
		return ".*" + difference
	}
	if difference := c.properties(simulated, product); difference != "" {
		return difference
	}
	if simulated.Discriminator != product.Discriminator || len(simulated.Variants) != len(product.Variants) {
		return fmt.Sprintf(" has the variants %s (%d) and %s (%d)", simulated.Discriminator, len(simulated.Variants), product.Discriminator, len(product.Variants))
	}
	for _, variant := range product.Variants {
		if difference := c.optional(simulated.Variants[variant.Value], variant.Type); difference != "" {
			return "(" + variant.Value + ")" + difference
		}
	}
	return ""
}

func (c *readerComparison) optional(simulated *published.Node, product *types.Node) string {
	switch {
	case (simulated == nil) != (product == nil):
		return " is missing in one of both"
	case simulated == nil:
		return ""
	}
	return c.nodes(simulated, product)
}

func (c *readerComparison) properties(simulated *published.Node, product *types.Node) string {
	if len(simulated.Fields) != len(product.Properties) {
		return fmt.Sprintf(" has %d and %d properties", len(simulated.Fields), len(product.Properties))
	}
	for i, p := range product.Properties {
		field := simulated.Fields[i]
		if field.Name != p.Name || field.Flags != int(p.Flags) {
			return fmt.Sprintf(" has %s (flags %d) and %s (flags %d)", field.Name, field.Flags, p.Name, p.Flags)
		}
		if difference := c.nodes(field.Type, p.Type); difference != "" {
			return "." + p.Name + difference
		}
	}
	return ""
}

// TestDataIsCurrent generates the packed file again.
func TestDataIsCurrent(t *testing.T) {
	source := os.Getenv("AZURE_TYPES")
	if source == "" {
		source = filepath.Join("..", "..", "..", "shared", "types", "azure-types.jsonl.zst")
	}
	if _, err := os.Stat(source); err != nil {
		t.Skipf("no packed descriptions; set AZURE_TYPES to the file: %v", err)
	}
	var got bytes.Buffer
	if err := run([]string{source}, &got); err != nil {
		t.Fatal(err)
	}
	want, err := os.ReadFile(filepath.Join("..", "..", "internal", "azuretypes", "azure-types.bin"))
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got.Bytes(), want) {
		t.Error("azure-types.bin is not what the generator writes; run: go run ./published SOURCE > ../internal/azuretypes/azure-types.bin")
	}
}

func TestBrokenPackedDescriptions(t *testing.T) {
	for name, c := range map[string]struct{ reason, lines, want string }{
		"not JSON":     {"the error names the line", "{\"$type\":\"AnyType\"}\nx\n", "line 2"},
		"no such node": {"the body does not exist", `{"$type":"ResourceType","name":"A.B/c@1","writableScopes":8,"body":{"$ref":7}}`, "does not resolve"},
		"unknown kind": {"the form has no such kind", "{\"$type\":\"FloatType\"}\n" + `{"$type":"ResourceType","name":"A.B/c@1","writableScopes":8,"body":{"$ref":0}}`, `kind "FloatType"`},
	} {
		t.Run(name, func(t *testing.T) {
			var packed bytes.Buffer
			writer, err := zstd.NewWriter(&packed)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := writer.Write([]byte(c.lines)); err != nil {
				t.Fatal(err)
			}
			if err := writer.Close(); err != nil {
				t.Fatal(err)
			}
			path := filepath.Join(t.TempDir(), "types.zst")
			if err := os.WriteFile(path, packed.Bytes(), 0o600); err != nil {
				t.Fatal(err)
			}
			if err := run([]string{path}, io.Discard); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%s: got %v", c.reason, err)
			}
		})
	}
	if err := run([]string{filepath.Join(t.TempDir(), "none")}, io.Discard); err == nil {
		t.Error("a missing file gives no error")
	}
}
