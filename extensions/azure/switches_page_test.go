package azure_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/armature-io/armature/drift"
	"github.com/armature-io/armature/extensions"
	"github.com/armature-io/armature/extensions/azure"
)

// TestReferenceOfSwitches compares docs/contributing/merging.md with the switches in the table of
// facts; `make docs` writes its table.
func TestReferenceOfSwitches(t *testing.T) {
	t.Parallel()
	const begin, end = "<!-- Table of all switches: written by `make docs`; a test fails when it is stale. -->\n\n", "\n<!-- End of the table. -->"
	path := filepath.Join("..", "..", "docs", "contributing", "merging.md")
	page, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, found := strings.Cut(string(page), begin)
	table, after, ended := strings.Cut("\n"+rest, end)
	if table = strings.TrimPrefix(table, "\n"); !found || !ended {
		t.Fatalf("%s has no place for the table", path)
	}
	got := switchTable()
	if os.Getenv("UPDATE_DOCS") != "" {
		if err := os.WriteFile(path, []byte(before+begin+got+end+after), 0o600); err != nil {
			t.Fatal(err)
		}
		return
	}
	if diff := cmp.Diff(table, got); diff != "" {
		t.Errorf("docs/contributing/merging.md is stale; run `make docs` (-page +facts):\n%s", diff)
	}
}

func switchTable() string {
	entries := slices.Clone(azure.Facts())
	slices.SortStableFunc(entries, func(a, b extensions.Entry) int {
		return strings.Compare(strings.ToLower(a.Type), strings.ToLower(b.Type))
	})
	kinds := map[drift.SwitchKind]string{drift.SwitchFloats: "both ways", drift.SwitchAtLeast: "up", drift.SwitchSwaps: "exchanged"}
	var table strings.Builder
	table.WriteString("| type | switch | values | they move | source |\n|---|---|---|---|---|\n")
	for _, entry := range entries {
		for _, sw := range entry.Facts.Comparison.Switches {
			fmt.Fprintf(&table, "| %s | %s | %s | %s | %s |\n",
				strings.Replace(entry.Type, "*", "any type", 1), switchText(sw), "`"+strings.Join(sw.Values, "`, `")+"`", kinds[sw.Kind], sw.Source)
		}
	}
	return table.String()
}

// switchText returns when a switch is on.
func switchText(sw drift.Switch) string {
	switch {
	case sw.Setting != "":
		return "`" + sw.Setting + "` with the resource as its target"
	case sw.Path == "":
		return "always"
	}
	on := strings.Join(sw.On, ", ")
	if on == "*" {
		on = "set"
		if len(sw.Off) > 0 {
			on += ", but not " + strings.Join(sw.Off, ", ")
		}
	}
	of := ""
	if sw.Owner {
		of = " of its owner"
	}
	return fmt.Sprintf("`%s`%s: %s", sw.Path, of, on)
}
