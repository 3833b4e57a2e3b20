package e2e

import (
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/armature-io/armature/dev/internal/harness"
)

// clearField is a field in the table of docs/contributing/encryption.md.
var clearField = regexp.MustCompile("`([a-zA-Z_ -]+)`")

// compareWithPage checks that docs/contributing/encryption.md lists every field that stays clear, and
// no other one.
func compareWithPage(t *testing.T, clear map[string][]string) {
	t.Helper()
	root, err := harness.Root(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	page, err := os.ReadFile(filepath.Join(root, "docs", "contributing", "encryption.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(page), "## Fields that stay clear")
	section, _, _ = strings.Cut(section, "\n## ")
	listed := map[string]bool{}
	for line := range strings.Lines(section) {
		if cells := strings.Split(line, "|"); len(cells) == 4 {
			for _, found := range clearField.FindAllStringSubmatch(cells[2], -1) {
				listed[found[1]] = true
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(clear)) {
		if !listed[name] {
			t.Errorf("%s is clear, for example %.200q; list it in docs/contributing/encryption.md", name, clear[name][0])
		}
	}
	for _, name := range slices.Sorted(maps.Keys(listed)) {
		if len(clear[name]) == 0 {
			t.Errorf("docs/contributing/encryption.md lists %s, which the test did not find", name)
		}
	}
}
