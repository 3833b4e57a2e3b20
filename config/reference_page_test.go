package config

import (
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestReferencePage compares docs/config-reference.md with the keys; `make docs` writes
// it.
func TestReferencePage(t *testing.T) {
	path := filepath.Join("..", "docs", "config-reference.md")
	got := referencePage(t)
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

// referencePage returns the page of all keys, with the sections about credentials and the feed.
func referencePage(t *testing.T) string {
	t.Helper()
	var page strings.Builder
	page.WriteString("# The configuration of the worker\n\n" +
		"<!-- Written by `make docs` from the keys themselves; a test fails when it is stale. -->\n\n" +
		"One file (`--config` or `" + FileVariable + "`; .yaml, .toml or .json), `" + envPrefix + "*` variables and flags: a flag beats a variable, " +
		"a variable the file, the file the default. A dot in a key is a section of the file, a dash in its flag and an underscore in its variable. " +
		"The worker reports all unknown keys and invalid values at once and does not start. Durations need a unit (`30s`, `1h`).\n\n" +
		"The connection to Temporal is configured as for every Temporal tool: `TEMPORAL_ADDRESS`, `TEMPORAL_NAMESPACE`, `TEMPORAL_PROFILE`, `TEMPORAL_API_KEY`, `TEMPORAL_TLS_*` or the file temporal.toml. Traces are configured by the variables of OpenTelemetry, `OTEL_*` ([metrics.md](metrics.md#traces)).\n\n" +
		"| key | default | meaning | variable | flag |\n|---|---|---|---|---|\n")
	for _, k := range keys() {
		initial := ""
		if k.initial != "" {
			initial = "`" + k.initial + "`"
		}
		fmt.Fprintf(&page, "| `%s` | %s | %s | `%s` | `--%s` |\n", k.name, initial, strings.ReplaceAll(k.usage, "|", "\\|"), k.variable(), k.flag())
	}
	page.WriteString("\n## Named credentials\n\n" +
		"The file may contain additional credentials, each as a section `" + credentialsKey + ".NAME` with a name of lower-case letters, digits and dashes; " +
		"`default` names the worker's own. No variable or flag sets their keys, except the variables of the Kubernetes webhook for `workload-identity`. " +
		"The [kinds](#kinds-of-credentials), and [which credential a resource uses](#several-credentials), are below the table.\n\n" +
		"| key below `" + credentialsKey + ".NAME` | default | meaning |\n|---|---|---|\n")
	for _, k := range credentialKeys() {
		initial := ""
		if k.initial != "" {
			initial = "`" + k.initial + "`"
		}
		fmt.Fprintf(&page, "| `%s` | %s | %s |\n", k.name, initial, k.usage)
	}
	for _, name := range []string{"credentials.md", "feed.md"} {
		section, err := os.ReadFile(filepath.Join("testdata", name))
		if err != nil {
			t.Fatal(err)
		}
		page.Write(section)
	}
	return page.String()
}

// Each key of the table of named credentials sets a field, and each field has a key.
func TestCredentialKeys(t *testing.T) {
	v := newViper()
	for _, k := range credentialKeys() {
		var value any = "x"
		switch {
		case k.initial == "false":
			value = true
		case strings.HasPrefix(k.usage, "list of"):
			value = []string{"x"}
		case strings.Contains(k.usage, "env:NAME"):
			value = "env:X"
		}
		v.Set(credentialsKey+".prod."+k.name, value)
	}
	loaded, found := decode(v)
	if len(found) > 0 {
		t.Fatal(found.err())
	}
	unset(t, "Credential", reflect.ValueOf(loaded.Credentials["prod"]))
}

// unset reports fields without a value.
func unset(t *testing.T, path string, value reflect.Value) {
	t.Helper()
	for i := range value.NumField() {
		field := path + "." + value.Type().Field(i).Name
		switch at := value.Field(i); {
		case at.Kind() == reflect.Struct:
			unset(t, field, at)
		case at.IsZero():
			t.Errorf("no key of credentials.NAME in the table sets %s", field)
		}
	}
}
