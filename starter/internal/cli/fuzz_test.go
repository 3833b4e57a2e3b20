package cli

import (
	"bytes"
	"encoding/json"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/jedib0t/go-pretty/v6/text"
	"go.yaml.in/yaml/v3"

	safe "github.com/armature-io/armature/internal/text"
)

// FuzzWriter checks that only what an Ink marks acts on a terminal or a CI system, however
// a text is split, and that documents lose nothing.
func FuzzWriter(f *testing.F) {
	for _, seed := range []string{"a\x1b[2J\x1b]0;x\x07\u009b31m\u202e\r\n::error::x\n##vso[task.x]##[error]", ":\u200b:", " \u00a0::", "#\u202e#[", "\xff\xc2\x9b", "\x1b[ABCm\x1b[31m", "- a: |\n  ::b\n", "\ufffd\U000e0041"} {
		f.Add(seed, seed, 3)
	}
	command := regexp.MustCompile(`(?im)^[\s\p{Z}]*::|##\[|##vso\[`)
	f.Fuzz(func(t *testing.T, before, after string, at int) {
		ink := NewInk().WithColors(true)
		painted := ink.Paint(text.FgGreen, "Ready")
		whole := []byte(before + painted + after)
		at = max(0, min(at, len(whole)))
		var out, split bytes.Buffer
		one, two := NewWriter(&out, ink), NewWriter(&split, ink)
		_, _ = one.Write(whole)
		_, _ = two.Write(whole[:at])
		_, _ = two.Write(whole[at:])
		if out.String() != split.String() {
			t.Fatalf("split at %d: %q, not %q", at, &split, &out)
		}
		own := strings.NewReplacer("\x1b[32m", "", "\x1b[0m", "").Replace(out.String())
		if strings.Count(out.String(), "\x1b") != 2 || !strings.Contains(out.String(), "\x1b[32mReady\x1b[0m") {
			t.Fatalf("the own color became %q", &out)
		}
		for _, r := range own {
			if r != '\n' && r != '\t' && safe.IsUnsafe(r) {
				t.Fatalf("%q passed: %q", r, own)
			}
		}
		if found := command.FindString(own); found != "" {
			t.Fatalf("the command %q passed: %q", found, own)
		}
		if utf8.ValidString(before) {
			checkLossless(t, before)
		}
	})
}

// checkLossless checks a text in JSON and in YAML, as a name and as a value.
func checkLossless(t *testing.T, s string) {
	t.Helper()
	raw, err := json.Marshal(map[string]string{s: s})
	if err != nil {
		t.Fatal(err)
	}
	var read map[string]string
	if err := json.Unmarshal([]byte(written(t, EscapeJSON(raw))), &read); err != nil || read[s] != s {
		t.Fatalf("JSON of %q is %q: %v", s, read, err)
	}
	node := &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: s}
	if NeedsQuotes(s) {
		node.Style = yaml.DoubleQuotedStyle
	}
	raw, err = yaml.Marshal(&yaml.Node{Kind: yaml.MappingNode, Content: []*yaml.Node{node, node}})
	if err != nil {
		t.Fatal(err)
	}
	read = nil
	if err := yaml.Unmarshal([]byte(written(t, EscapeYAML(raw))), &read); err != nil || read[s] != s {
		t.Fatalf("YAML of %q is %q: %v\n%s", s, read, err, raw)
	}
}
