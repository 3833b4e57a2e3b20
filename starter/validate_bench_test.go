package starter

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/armature-io/armature/manifest"
	"github.com/armature-io/armature/starter/internal/report"
	"github.com/armature-io/armature/types"
)

// Bounds of a large stack: the size that users report.
const benchManifests, benchTypes = 1000, 40

// BenchmarkValidate validates 1,000 manifests of 40 types of different providers, with
// about a dozen properties each, and prints the largest heap. The first iteration also decodes
// the published types.
func BenchmarkValidate(b *testing.B) {
	dir := b.TempDir()
	stack := benchStack()
	for i, text := range stack {
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("%03d.yaml", i)), []byte(text), 0o600); err != nil {
			b.Fatal(err)
		}
	}
	b.ResetTimer()
	var heap uint64
	for range b.N {
		r := report.Report{Report: manifest.Validate(manifest.Options{}, dir)}
		if r.Manifests != benchManifests {
			b.Fatalf("%s, want %d manifests", r.Summary(), benchManifests)
		}
		var out bytes.Buffer
		if err := r.Write(&out, report.Table); err != nil {
			b.Fatal(err)
		}
		var memory runtime.MemStats
		runtime.ReadMemStats(&memory)
		heap = max(heap, memory.HeapSys)
	}
	b.ReportMetric(float64(heap)/1e6, "MB-heap")
}

// benchStack returns a file for each type, with manifests whose bodies state what the
// type can state.
func benchStack() []string {
	var files []string
	providers := map[string]bool{}
	for _, name := range types.Names(true) {
		provider, _, _ := strings.Cut(name, "/")
		shape := types.Lookup(name, types.Newest(name))
		if len(files) == benchTypes || providers[provider] || strings.Count(name, "/") > 1 || !shape.WritableIn(types.ResourceGroupScope) {
			continue
		}
		providers[provider] = true
		var file strings.Builder
		for i := range benchManifests / benchTypes {
			fmt.Fprintf(&file, "---\ntype: %s@%s\nname: r%d\nowner: %s\nbody:\n", shape.Type, shape.Version, i, group)
			fmt.Fprintf(&file, "%s", benchBody(shape.Body, "  ", 0))
		}
		files = append(files, file.String())
	}
	return files
}

// benchBody returns the writable properties of an object as YAML, two levels deep.
func benchBody(n *types.Node, indent string, depth int) string {
	var b strings.Builder
	for _, p := range n.Properties {
		if p.Has(types.ReadOnly) || p.Name == "name" || p.Type.Sensitive {
			continue
		}
		values, _ := p.Type.Values()
		switch {
		case len(values) > 0:
			fmt.Fprintf(&b, "%s%s: %q\n", indent, p.Name, values[0])
		case p.Type.Kind == types.Text && p.Type.Bounds == nil && !strings.Contains(strings.ToLower(p.Name), "key"):
			fmt.Fprintf(&b, "%s%s: westus2\n", indent, p.Name)
		case p.Type.Kind == types.Boolean:
			fmt.Fprintf(&b, "%s%s: true\n", indent, p.Name)
		case p.Type.Kind == types.Object && depth < 3:
			if inner := benchBody(p.Type, indent+"  ", depth+1); inner != "" {
				fmt.Fprintf(&b, "%s%s:\n%s", indent, p.Name, inner)
			}
		}
	}
	if b.Len() == 0 && depth == 0 {
		return indent + "location: westus2\n"
	}
	return b.String()
}
