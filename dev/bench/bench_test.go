package bench

import (
	"context"
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

	"github.com/armature-io/armature/dev/internal/harness"
)

// partVariable names the part to measure; "all" selects every part.
const partVariable = "BENCH"

// requirePart skips parts that BENCH does not name, and builds the binaries for the
// others.
func requirePart(t *testing.T, name string) harness.Binaries {
	t.Helper()
	if selected := os.Getenv(partVariable); selected != name && selected != "all" {
		t.Skipf("a benchmark: make bench %s=%s runs it", partVariable, name)
	}
	binaries, err := harness.Build(context.Background(), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return binaries
}

// figures are measured values by name.
type figures map[string]float64

// atDistance returns the figures with the distance of DISTANCE in their names, which is
// not the one that other figures of the same names were measured at.
func (f figures) atDistance() figures {
	distance := os.Getenv("DISTANCE")
	if distance == "" {
		return f
	}
	named := figures{}
	for name, value := range f {
		named["distance_"+distance+"."+name] = value
	}
	return named
}

// print writes a table, sorted by name.
func (f figures) print(t *testing.T) {
	t.Helper()
	f = f.atDistance()
	for _, name := range slices.Sorted(maps.Keys(f)) {
		fmt.Printf("%-44s %12.3f\n", name, f[name])
	}
}

// merge writes the figures into dev/bench.json and keeps the others there.
func (f figures) merge(t *testing.T) {
	t.Helper()
	root, err := harness.Root(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(root, "dev", "bench.json")
	all := figures{}
	data, err := os.ReadFile(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		t.Fatal(err)
	default:
		if err := json.Unmarshal(data, &all); err != nil {
			t.Fatalf("read %s: %v", path, err)
		}
	}
	maps.Copy(all, f.atDistance())
	data, err = json.MarshalIndent(all, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, append(data, '\n'), 0o644); err != nil {
		t.Fatal(err)
	}
}

// median returns the median of sorted values.
func median(sorted []float64) float64 {
	n := len(sorted)
	if n == 0 {
		return 0
	}
	return (sorted[(n-1)/2] + sorted[n/2]) / 2
}

// manifest returns one manifest with a JSON body.
func manifest(kind, name, owner, body string) string {
	return fmt.Sprintf("type: %s\nname: %s\nowner: %s\nbody: %s\nreconcile: {interval: 24h}\n", kind, name, owner, body)
}

// join returns one file with many manifests.
func join(documents []string) string { return strings.Join(documents, "---\n") }

// send runs MustCLI for a message to many resources. It repeats the command when a busy
// machine makes some of them time out.
func send(w *harness.World, args ...string) {
	w.T.Helper()
	for try := 1; ; try++ {
		result := w.CLI(args...)
		if result.Code == 0 {
			return
		}
		if result.Code != 3 || try == 8 {
			w.T.Fatalf("want exit code 0 of %s", result)
		}
	}
}
