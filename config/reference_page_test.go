package config

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestReferencePage holds docs/config-reference.md to the keys; `make docs`
// writes it.
func TestReferencePage(t *testing.T) {
	path := filepath.Join("..", "docs", "config-reference.md")
	got := referencePage()
	if os.Getenv("UPDATE_DOCS") != "" {
		if err := os.WriteFile(path, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("docs/config-reference.md is stale; run `make docs` (-page +keys):\n%s", diff)
	}
}

// referencePage is the page of all keys, by their first word.
func referencePage() string {
	var page strings.Builder
	page.WriteString("# The configuration of the worker\n\n" +
		"<!-- Written by `make docs` from the keys themselves; a test fails when it is stale. -->\n\n" +
		"One file (`--config` or `" + FileVariable + "`; .yaml, .toml or .json), `" + envPrefix + "*` variables and flags: a flag beats a variable, " +
		"a variable the file, the file the default. The dots of a key are sections of the file, dashes in its flag and underscores in its variable. " +
		"What is unknown or faulty is refused, all at once, before anything is served. Durations need a unit (`30s`, `1h`).\n\n" +
		"The way to Temporal is configured as for every Temporal tool: `TEMPORAL_ADDRESS`, `TEMPORAL_NAMESPACE`, `TEMPORAL_PROFILE`, `TEMPORAL_API_KEY`, `TEMPORAL_TLS_*` or the file temporal.toml.\n\n" +
		"| key | default | meaning | variable | flag |\n|---|---|---|---|---|\n")
	for _, k := range keys() {
		initial := ""
		if k.initial != "" {
			initial = "`" + k.initial + "`"
		}
		fmt.Fprintf(&page, "| `%s` | %s | %s | `%s` | `--%s` |\n", k.name, initial, strings.ReplaceAll(k.usage, "|", "\\|"), k.variable(), k.flag())
	}
	return page.String()
}
