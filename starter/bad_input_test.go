package main

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/armature-io/armature/starter/internal/cli"
)

// faulty is one command line, with its files, that must be refused before
// anything starts. What it says stands in a golden file, where people read it.
type faulty struct {
	reason string
	// files lie in DIR, by name; make adds what is no plain file.
	files map[string]string
	make  func(t *testing.T, dir string)
	args  []string
	stdin string
	env   []string
	// code is cli.ExitBadInput where it is 0.
	code int
	// hides must not be repeated.
	hides string
}

// actions are the words by which a message says what to do.
var actions = regexp.MustCompile("(?i)\\b(write|give|name|choose|did you mean|allowed|remove|split|use|see|means|needs|run|set|leave|take|keep|check|save|look|plan again|one of|put|at least|make|state|add|close|fetch|omit|correct)\\b|`armature")

// TestBadInputManifests holds what is said of faulty manifests.
func TestBadInputManifests(t *testing.T) {
	cases := map[string]faulty{}
	for _, table := range []map[string]faulty{badFiles(), badYAML(), badFields(), badIDs(), badBodies(), badSets()} {
		maps.Copy(cases, table)
	}
	refuseAll(t, "bad-manifests.txt", 50, cases)
}

// TestBadInputCommandLines holds what is said of faulty command lines.
func TestBadInputCommandLines(t *testing.T) {
	cases := map[string]faulty{}
	for _, table := range []map[string]faulty{badFlags(), badTargets(), badPlanFiles(), badConnections()} {
		maps.Copy(cases, table)
	}
	refuseAll(t, "bad-command-lines.txt", 40, cases)
}

// refuseAll runs every case of a table, counts them, and compares all that was
// said with a golden file.
func refuseAll(t *testing.T, file string, least int, cases map[string]faulty) {
	t.Helper()
	var all strings.Builder
	for _, name := range slices.Sorted(maps.Keys(cases)) {
		tc := cases[name]
		t.Run(name, func(t *testing.T) {
			said := refuse(t, tc)
			fmt.Fprintf(&all, "== %s: %s\n%s\n", name, tc.reason, said)
		})
	}
	t.Logf("%d faulty inputs, each refused with a message of its own", len(cases))
	if len(cases) < least {
		t.Errorf("%d cases, want at least %d", len(cases), least)
	}
	golden(t, file, all.String())
}

// refuse runs one case and returns what was said.
func refuse(t *testing.T, tc faulty) string {
	t.Helper()
	dir := manifests(t, tc.files)
	if tc.make != nil {
		tc.make(t, dir)
	}
	args := tc.args
	if args == nil {
		args = []string{"apply", "-f", "DIR"}
	}
	w := shownWorld(t)
	w.temporal.manage(t, strings.Replace(database, "adx", "other", 1), readyStatus())
	w.in = strings.NewReader(tc.stdin)
	w.environment = append([]string{"TEMPORAL_CONFIG_FILE=" + filepath.Join(dir, "no.toml")}, tc.env...)
	if tc.env != nil {
		w.connect = connectTemporal
	}
	line := make([]string, len(args))
	for i, arg := range args {
		line[i] = strings.ReplaceAll(arg, "DIR", dir)
	}
	code, want := w.run(line...), tc.code
	if want == 0 {
		want = cli.ExitBadInput
	}
	said := strings.ReplaceAll(w.err.String(), dir, "DIR")
	if code != want {
		t.Errorf("%s: exit code %d, want %d", tc.reason, code, want)
	}
	if w.out.Len() > 0 {
		t.Errorf("%s: wrote %q to standard output", tc.reason, w.out)
	}
	if n := len(w.temporal.sent) + len(w.temporal.started); n > 0 {
		t.Errorf("%s: %d messages were sent", tc.reason, n)
	}
	if tc.hides != "" && strings.Contains(said, tc.hides) {
		t.Errorf("%s: the message repeats the value: %s", tc.reason, said)
	}
	if !actions.MatchString(said) {
		t.Errorf("%s: the message does not say what to do: %s", tc.reason, said)
	}
	for _, r := range said {
		if r != '\n' && r < ' ' || r == 0x7f || r == '\uFFFD' {
			t.Errorf("%s: the message holds %q, which a terminal should not see: %q", tc.reason, r, said)
			break
		}
	}
	if len(said) > 4000 {
		t.Errorf("%s: the message has %d bytes, which nobody reads", tc.reason, len(said))
	}
	return "$ armature " + strings.ReplaceAll(strings.Join(args, " "), "\n", `\n`) + "\n" + said
}

// file is a case with one manifest.
func file(reason, text string) faulty {
	return faulty{reason: reason, files: map[string]string{"m.yaml": text}}
}

// symlink makes a link in a folder.
func symlink(from, to string) func(t *testing.T, dir string) {
	return func(t *testing.T, dir string) {
		t.Helper()
		if err := os.Symlink(filepath.Join(dir, to), filepath.Join(dir, from)); err != nil {
			t.Fatal(err)
		}
	}
}
