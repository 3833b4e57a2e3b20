package starter

import (
	"encoding/json"
	"path/filepath"
	"testing"
	"unicode/utf8"
)

// FuzzOutput checks that no text of Azure, of a manifest or of Temporal acts on a terminal
// or on a CI system, wherever a command shows it, and that documents lose nothing of it.
func FuzzOutput(f *testing.F) {
	commands := [][]string{
		{"get"}, {"get", "-o", "wide"}, {"get", "-o", "json"}, {"get", "-o", "yaml"}, {"describe", database}, {"describe", database, "-o", "wide"},
		{"why", database}, {"why", "-o", "yaml"}, {"__complete", "get", "-l", ""}, {"__complete", "describe", ""}, {"describe"},
	}
	for _, seed := range []string{hostile, "", "a", " : :", "::", ":\u00a0:", "\x1b", "\x1b[", "\x1b[0m", "##", "#\u200b#[", "\u202e", "\xff\xc2", "a,b=c", "- x: |\n  y", "null", "0x1F", "\r\n\r", "\ufffd", "😀", "\U000e0041\U000fffff", "`'\"\\"} {
		for at := range commands {
			f.Add(seed, byte(at))
		}
	}
	f.Fuzz(func(t *testing.T, s string, at byte) {
		args := commands[int(at)%len(commands)]
		if len(args) == 1 && args[0] == "describe" {
			args = []string{"describe", s} // an unknown name
		}
		w := outputWorld(t, s)
		w.terminal, w.color = len(s)%2 == 0, len(s)%2 == 0
		w.run(args...)
		checkHarmless(t, args[0]+": standard output", w.out.String(), w.terminal)
		checkHarmless(t, args[0]+": standard error", w.err.String(), false)
		if utf8.ValidString(s) { // JSON has a character in place of each byte that is none
			checkDocument(t, args[0]+"."+args[len(args)-1], w.out.Bytes(), s)
		}
	})
}

// FuzzReport checks the formats of validate with any file name and any manifest.
func FuzzReport(f *testing.F) {
	f.Add("m.yaml", "type: a\n\"a\\e[2J\\n::error::x\": 1\n")
	f.Fuzz(func(t *testing.T, name, manifest string) {
		dir := manifests(t, map[string]string{"m.yaml": manifest})
		for _, format := range []string{"table", "json", "sarif", "github", "junit"} {
			w := newWorld()
			w.run("validate", "-f", dir, "-f", filepath.Join(dir, name), "-o", format)
			if format != "github" {
				checkHarmless(t, format, w.out.String(), false)
			}
			checkHarmless(t, "standard error", w.err.String(), false)
			var document any
			if format == "json" || format == "sarif" {
				if err := json.Unmarshal(w.out.Bytes(), &document); err != nil && w.out.Len() > 0 {
					t.Fatalf("%s: %v\n%s", format, err, w.out)
				}
			}
		}
	})
}
