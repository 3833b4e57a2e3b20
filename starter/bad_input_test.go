package starter

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

// badInput is one command line, with its files, that must be refused before
// anything starts. Golden files contain the messages, for review.
type badInput struct {
	reason string
	// files are in DIR, by name; make adds what is not a plain file.
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

// actions are the words with which a message names the next action.
var actions = regexp.MustCompile("(?i)\\b(write|give|name|choose|did you mean|allowed|remove|split|use|see|means|needs|run|set|leave|take|keep|check|save|look|plan again|one of|put|at least|make|state|add|close|fetch|omit|correct)\\b|`armature")

// TestBadInputManifests verifies the messages for invalid manifests.
func TestBadInputManifests(t *testing.T) {
	cases := map[string]badInput{}
	for _, table := range []map[string]badInput{badFiles(), badYAML(), badFields(), badIDs(), badBodies(), badSets()} {
		maps.Copy(cases, table)
	}
	checkAll(t, "bad-manifests.txt", 50, cases)
}

// TestBadInputCommandLines verifies the messages for invalid command lines.
func TestBadInputCommandLines(t *testing.T) {
	cases := map[string]badInput{}
	for _, table := range []map[string]badInput{badFlags(), badTargets(), badPlanFiles(), badConnections()} {
		maps.Copy(cases, table)
	}
	checkAll(t, "bad-command-lines.txt", 40, cases)
}

// checkAll runs every case of a table, counts them, and compares the
// messages with a golden file.
func checkAll(t *testing.T, file string, minCases int, cases map[string]badInput) {
	t.Helper()
	var all strings.Builder
	for _, name := range slices.Sorted(maps.Keys(cases)) {
		tc := cases[name]
		t.Run(name, func(t *testing.T) {
			message := refuse(t, tc)
			fmt.Fprintf(&all, "== %s: %s\n%s\n", name, tc.reason, message)
		})
	}
	t.Logf("%d invalid inputs, each refused with its own message", len(cases))
	if len(cases) < minCases {
		t.Errorf("%d cases, want at least %d", len(cases), minCases)
	}
	golden(t, file, all.String())
}

// refuse runs one case and returns its message.
func refuse(t *testing.T, tc badInput) string {
	t.Helper()
	dir := manifests(t, tc.files)
	if tc.make != nil {
		tc.make(t, dir)
	}
	args := tc.args
	if args == nil {
		args = []string{"apply", "-f", "DIR"}
	}
	w := sampleWorld(t)
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
	message := strings.ReplaceAll(w.err.String(), dir, "DIR")
	if code != want {
		t.Errorf("%s: exit code %d, want %d", tc.reason, code, want)
	}
	if w.out.Len() > 0 {
		t.Errorf("%s: wrote %q to standard output", tc.reason, w.out)
	}
	if n := len(w.temporal.sent) + len(w.temporal.started); n > 0 {
		t.Errorf("%s: %d messages were sent", tc.reason, n)
	}
	if tc.hides != "" && strings.Contains(message, tc.hides) {
		t.Errorf("%s: the message repeats the value: %s", tc.reason, message)
	}
	if !actions.MatchString(message) {
		t.Errorf("%s: the message names no action: %s", tc.reason, message)
	}
	for _, r := range message {
		if r != '\n' && r < ' ' || r == 0x7f || r == '\uFFFD' {
			t.Errorf("%s: the message contains %q, which a terminal would interpret: %q", tc.reason, r, message)
			break
		}
	}
	if len(message) > 4000 {
		t.Errorf("%s: the message has %d bytes, too long to read", tc.reason, len(message))
	}
	return "$ armature " + strings.ReplaceAll(strings.Join(args, " "), "\n", `\n`) + "\n" + message
}

// file is a case with one manifest.
func file(reason, text string) badInput {
	return badInput{reason: reason, files: map[string]string{"m.yaml": text}}
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
